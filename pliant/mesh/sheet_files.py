"""Sheets from files: the triangles of VTK, VTU, MSH, INP, STL, PLY and OBJ files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import MeshError, MeshFileError, unknown_name
from pliant.files import reading
from pliant.mesh.check import checked_nodes
from pliant.mesh.files import FORMATS, SURFACES, UNITS, format_of, parse
from pliant.mesh.generate.sheets import cut
from pliant.mesh.orientation import checked_triangles
from pliant.mesh.sheets import Sheet
from pliant.mesh.topology import compact, weld

SHEET_FORMATS = {**FORMATS, **SURFACES}


def read_sheet(path: str | Path, *, unit: str = "m") -> Sheet:
    """The triangles in a file as a sheet; quadrilaterals are cut in two, other cells and unused nodes left out.

    `unit` is the file's: "m", "cm", "mm", "um" or "in". Nodes at the same place become one (STL files repeat them).
    """
    if unit not in UNITS:
        raise unknown_name("unit", unit, UNITS)
    kind = format_of(path, SHEET_FORMATS, "sheet file")
    with reading(path, "sheet file", f"a complete {kind} file", error=MeshFileError) as file:
        content = parse(file, kind)
        found = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "triangle"]
        quads = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "quad"]
        found += [cut(np.zeros(0), part, "diagonal")[1] for part in quads if len(part)]
        if not sum(len(part) for part in found):
            kinds = ", ".join(f"{len(block.data)} {block.type}" for block in content.cells) or "no cells"
            raise MeshError("cells", expected="triangles or quadrilaterals", got=kinds)
        points = np.asarray(content.points, float)
        points = UNITS[unit] * np.column_stack([points, np.zeros((len(points), 3 - points.shape[1]))])
        cells = checked_triangles(np.vstack(found), len(points), allow_unused=True)
        nodes, cells, _ = compact(points, cells)
        nodes = checked_nodes(nodes)
        return Sheet.compacted(nodes, weld(nodes, 1e-9 * float(np.linalg.norm(np.ptp(nodes, axis=0))))[cells])

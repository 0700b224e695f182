"""Sheets from files: the triangles of VTK, VTU, MSH, INP, STL, PLY and OBJ files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import MeshError, unknown_name
from pliant.mesh.files import FORMATS, UNITS, parse
from pliant.mesh.generate.sheets import cut
from pliant.mesh.sheets import Sheet
from pliant.mesh.topology import weld

SHEET_FORMATS = {**FORMATS, ".stl": "stl", ".ply": "ply", ".obj": "obj"}


def read_sheet(path: str | Path, *, unit: str = "m") -> Sheet:
    """The triangles in a file as a sheet; quadrilaterals are cut in two, other cells and unused nodes left out.

    `unit` is the file's: "m", "cm", "mm", "um" or "in". Nodes at the same place become one (STL files repeat them).
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SHEET_FORMATS:
        raise MeshError(
            f"sheet file {path}", expected=f"one of {tuple(SHEET_FORMATS)}", got=suffix or "no ending"
        )
    if not path.is_file():
        raise MeshError(
            f"sheet file {path}", expected="a file", got="a folder" if path.is_dir() else "nothing there"
        )
    if unit not in UNITS:
        raise unknown_name("unit", unit, UNITS)
    content = parse(path, SHEET_FORMATS[suffix])
    found = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "triangle"]
    quads = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "quad"]
    found += [cut(np.zeros(0), part, "diagonal")[1] for part in quads if len(part)]
    if not sum(len(part) for part in found):
        kinds = ", ".join(f"{len(block.data)} {block.type}" for block in content.cells) or "no cells"
        raise MeshError(f"sheet file {path}", expected="triangles or quadrilaterals", got=kinds)
    points = np.asarray(content.points, float)
    points = UNITS[unit] * np.column_stack([points, np.zeros((len(points), 3 - points.shape[1]))])
    cells = weld(points, 1e-9 * float(np.linalg.norm(np.ptp(points, axis=0))))[np.vstack(found)]
    try:
        return Sheet.compacted(points, cells)
    except MeshError as error:
        raise MeshError(
            f"{path}: {error.what}", expected=error.expected, got=error.got, hint=error.hint
        ) from error

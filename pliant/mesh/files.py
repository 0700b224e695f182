"""Files of meshes and sheets: most formats through meshio, solids in STL and STEP files through a mesher."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError, MeshFileError, PliantWarning, unknown_name
from pliant.files import reading, shown
from pliant.mesh.announced import STL_START, check_announced, stl_bytes
from pliant.mesh.check import checked_nodes
from pliant.mesh.mesh import Mesh
from pliant.mesh.orientation import checked_triangles
from pliant.mesh.sheets import Sheet
from pliant.mesh.stl import text_triangles
from pliant.mesh.topology import compact, weld

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
FORMATS = {".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh", ".inp": "abaqus"}
SURFACES = {".stl": "stl", ".ply": "ply", ".obj": "obj"}
SOLIDS = {".step": "step", ".stp": "step"}
SUFFIXES = (*FORMATS, ".stl", *SOLIDS)
SAME_PLACE = 1e-9  # of a sheet's size: nodes that are nearer are one
# How files of each kind begin; a binary STL begins with anything, and is recognised by its length.
_BEGINNINGS = {
    b"# vtk DataFile": "vtk",
    b"<VTKFile": "vtu",
    b"<?xml": "vtu",
    b"$MeshFormat": "gmsh",
    b"$Comments": "gmsh",
    b"*": "abaqus",
    b"solid": "stl",
    b"ply": "ply",
    b"ISO-10303-21": "step",
}
_KINDS = {
    "tetra": "tet4",
    "tetra4": "tet4",
    "tetra10": "tet10",
    "hexahedron": "hex8",
    "hexahedron20": "hex20",
    "hexahedron27": "hex20",  # without the nodes on faces and inside
}
_MESHIO_TYPES = {
    "tet4": "tetra",
    "tet10": "tetra10",
    "hex8": "hexahedron",
    "hex20": "hexahedron20",
    "tri3": "triangle",
}
_REGION_DATA = ("regions", "gmsh:physical", "CellEntityIds", "medit:ref", "gmsh:geometrical")
_log = logging.getLogger(__name__)


def read(
    path: str | Path,
    *,
    unit: str | None = None,
    size: float | None = None,
    merge: bool | float | None = None,
) -> Mesh:
    """The volume mesh in a VTK, VTU, MSH or INP file, or one made of an STL surface or a STEP part.

    The content of a file says what it is, rather than its name. `unit` is the file's: "m" (the default),
    "cm", "mm", "um" or "in"; a STEP file has its own. `size` [m] is the edge length wanted where the mesh
    is made here (a twentieth of the part by default).

    merge=True, or a distance [m], welds nodes at the same place and keeps one of cells that are there
    twice; merge=False says that parts which touch are meant to be apart. Without it, cells that are there
    twice are an error, cracks a warning. Triangles, lines and points in a file are ignored; volume cells of
    a second kind and unused nodes are ignored with a warning.
    """
    kind = format_of(path, SUFFIXES, "mesh file")
    if kind == "step" and unit is not None:
        raise InputError("unit", expected="none for a STEP file, which carries its own", got=repr(unit))
    if size is not None and not 0 < size < np.inf:
        raise InputError("size", expected="a positive edge length [m]", got=size)
    if kind in FORMATS.values() and size is not None:
        raise InputError("size", expected="none for a file that is a mesh already", got=size)
    if kind in ("stl", "step") and merge is not None:
        raise InputError("merge", expected="none for a mesh that is made here", got=merge)
    scale = _scale(unit)
    with reading(path, "mesh file", f"a complete {kind} file", error=MeshFileError) as file:
        if kind == "step":
            return _mesher().mesh_step(file, size=size)
        if kind == "stl":
            return _mesher().mesh_stl(file, scale=scale, size=size)
        mesh = volume_mesh(parse(file, kind), scale, file, merge)
        if kind == "abaqus" and not file.read_bytes().endswith((b"\n", b"\r")):
            # INP announces no numbers of cells
            _warn(f"{shown(path)}: the last line has no end: is the file truncated?")
    return mesh


def read_sheet(path: str | Path, *, unit: str = "m") -> Sheet:
    """The triangles in a file as a sheet; quadrilaterals are cut in two, other cells are left out.

    It reads VTK, VTU, MSH, INP, STL, PLY and OBJ files. `unit` is the file's: "m", "cm", "mm", "um" or
    "in". Nodes at the same place become one (STL files repeat them).
    """
    from pliant.mesh.generate.sheets import cut

    scale = _scale(unit)
    kind = format_of(path, FORMATS | SURFACES, "sheet file")
    with reading(path, "sheet file", f"a complete {kind} file", error=MeshFileError) as file:
        content = parse(file, kind)
        triangles = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "triangle"]
        quads = [np.asarray(block.data, np.int64) for block in content.cells if block.type == "quad"]
        triangles += [cut(np.zeros(0), part, "diagonal")[1] for part in quads if len(part)]
        if not sum(len(part) for part in triangles):
            kinds = ", ".join(f"{len(block.data)} {block.type}" for block in content.cells) or "no cells"
            raise MeshError("cells", expected="triangles or quadrilaterals", got=kinds)
        points = np.asarray(content.points, float)
        points = scale * np.column_stack([points, np.zeros((len(points), 3 - points.shape[1]))])
        cells = checked_triangles(np.vstack(triangles), len(points), allow_unused=True)
        nodes, cells, _ = compact(points, cells)
        nodes = checked_nodes(nodes)
        distance = SAME_PLACE * float(np.linalg.norm(np.ptp(nodes, axis=0)))
        return Sheet.compacted(nodes, weld(nodes, distance)[cells])


def format_of(path: str | Path, endings: Collection[str], what: str) -> str:
    """The kind of a file by how it begins, or else by its ending, which must be one of those expected.

    Names mislead: SOFA writes XML files with the ending .vtk.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in endings:
        got = suffix or "no ending"
        raise MeshFileError(f"{what} {shown(path)}", expected=f"one of {tuple(endings)}", got=got)
    with reading(path, what, "a file that can be read", error=MeshFileError) as file:
        with file.open("rb") as content:
            head = content.read(1024)
        if len(head) >= STL_START and file.stat().st_size == stl_bytes(head):
            return "stl"
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        kinds = (kind for begin, kind in _BEGINNINGS.items() if text.startswith(begin))
        return next(kinds, (FORMATS | SURFACES | SOLIDS)[suffix])


def write(
    mesh: Mesh,
    path: str | Path,
    *,
    point_data: Mapping[str, Any] | None = None,
    positions: np.ndarray | None = None,
    unit: str | None = None,
    binary: bool = True,
) -> Path:
    """Save a mesh as VTK, VTU, MSH or INP, by the ending of the path, with its regions; returns the path.

    `positions` (k, 3) [m] puts the nodes elsewhere, in a deformed state for example, even where cells are
    inverted. `point_data` maps names to arrays with a row per node (displacements, stresses …), kept by all
    formats but INP. INP is always text; regions are kept by the others.
    """
    import meshio

    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"mesh file {path}", expected=f"one of {list(FORMATS)}", got=path.suffix or "no ending"
        )
    kind = FORMATS[path.suffix.lower()]
    nodes = mesh.nodes if positions is None else np.asarray(positions, float)
    if nodes.shape != mesh.nodes.shape:
        raise InputError("positions", expected=f"shape {mesh.nodes.shape}", got=nodes.shape)
    content = meshio.Mesh(
        nodes / _scale(unit),
        [(_MESHIO_TYPES[mesh.kind], mesh.cells)],
        point_data=_rows(point_data or {}, len(mesh.nodes), kind),
        cell_data=_region_data(mesh, kind),
    )
    options: dict[str, Any] = {} if kind == "abaqus" else {"binary": binary}
    variant = {"vtk": "vtk42", "gmsh": "gmsh22"}.get(kind, kind)  # the versions that most programs read
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # meshio advises against text files
            meshio.write(path, content, file_format=variant, **options)
    except (OSError, meshio.WriteError) as error:
        raise MeshError(f"mesh file {path}", expected="to write it", got=str(error)) from error
    return path


def _rows(point_data: Mapping[str, Any], k: int, kind: str) -> dict[str, Any]:
    """Point data as arrays (k,) or (k, components)."""
    if kind == "abaqus" and point_data:
        raise InputError("point data", expected="none in an INP file", got=sorted(point_data))
    rows = {}
    for name, value in point_data.items():
        array = np.asarray(value, float)
        if array.ndim == 0 or len(array) != k:
            raise InputError(f"point data {name!r}", expected=f"{k} rows", got=array.shape)
        array = array if array.ndim == 1 else array.reshape(k, -1)
        # meshio writes the repr of gmsh data, which of a NumPy number is no number
        rows[name] = array.astype(object) if kind == "gmsh" else array
    return rows


def _region_data(mesh: Mesh, kind: str) -> dict[str, Any]:
    regions = mesh.regions.astype(np.int32)  # what gmsh and older readers take
    if kind == "gmsh":
        return {"gmsh:physical": [regions], "gmsh:geometrical": [regions + 1]}
    return {} if kind == "abaqus" else {"regions": [regions]}


def parse(path: Path, kind: str) -> Any:
    """The content of a file as meshio sees it. Whatever goes wrong in the parser becomes a MeshFileError."""
    import meshio

    hint = "Is it truncated, or of another format?"
    with reading(path, "mesh file", f"a complete {kind} file", hint=hint, error=MeshFileError) as file:
        check_announced(file, kind)
        # meshio prints its complaints
        with contextlib.redirect_stderr(io.StringIO()), np.errstate(all="ignore"):
            if kind == "stl" and file.stat().st_size != stl_bytes(file.read_bytes()[:STL_START]):
                points, triangles = text_triangles(file.read_bytes())
                content = meshio.Mesh(points, [("triangle", triangles)])
            else:
                content = getattr(meshio, kind).read(file)
        count = sum(len(block.data) for block in content.cells)
        announced = _announced_cells(file) if kind == "vtk" else None
        if announced not in (None, count):
            raise MeshError("cells", expected=str(announced), got=count, hint=hint)
    return content


def _announced_cells(path: Path) -> int | None:
    """How many cells a legacy VTK file announces; meshio reads what is there, and does not count."""
    announced = re.search(rb"\nCELLS +(\d+) +\d+\s+(OFFSETS)?", path.read_bytes())
    if announced is None:
        return None
    return int(announced[1]) - (announced[2] is not None)  # offsets number one more


def volume_mesh(content: Any, scale: float, path: Path, merge: bool | float | None = None) -> Mesh:
    """The mesh of the most frequent kind of volume cells that meshio read.

    `scale` [m] is the unit of the file, `merge` as in `read`.
    """
    counts = Counter()
    for block in content.cells:
        counts[_KINDS.get(block.type, block.type)] += len(block.data)
    kinds = [kind for kind in counts if kind in _MESHIO_TYPES and counts[kind]]
    if not kinds:
        got = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no cells"
        raise MeshError(f"mesh file {path}", expected="tetrahedra or hexahedra", got=got)
    kind = max(kinds, key=lambda k: counts[k])
    chosen = [i for i, block in enumerate(content.cells) if _KINDS.get(block.type) == kind]
    _report_ignored(path, counts, kind)
    width = int(kind[3:])
    cells = np.vstack([np.asarray(content.cells[i].data)[:, :width] for i in chosen])
    points = np.asarray(content.points, float) * scale
    mesh = Mesh.compacted(points, cells, kind, _regions(content, chosen), merge=merge)
    unused = len(points) - len(np.unique(cells))
    if unused:
        _warn(f"{path}: {unused} nodes that no {kind} uses are dropped, the others renumbered")
    return mesh


def _regions(content: Any, chosen: list[int]) -> np.ndarray | None:
    for name in _REGION_DATA:
        if name in content.cell_data:
            return np.concatenate([np.asarray(content.cell_data[name][i]).ravel() for i in chosen])
    return None


def _report_ignored(path: Path, counts: Counter, kind: str) -> None:
    flat = ("vertex", "line", "triangle", "quad", "polygon")
    others = {other: n for other, n in counts.items() if other != kind and n}
    lost = {other: n for other, n in others.items() if not other.startswith(flat)}
    if lost:
        listed = ", ".join(f"{n} {other}" for other, n in lost.items())
        _warn(f"{path}: keeps {counts[kind]} {kind}, ignores {listed}")
    if others:
        _log.info("%s: keeps %d %s, ignores %s", path, counts[kind], kind, others)


def _mesher() -> Any:
    from pliant.mesh import convert

    return convert


def _scale(unit: str | None) -> float:
    unit = "m" if unit is None else unit
    if unit not in UNITS:
        raise unknown_name("unit", unit, UNITS)
    return UNITS[unit]


def _warn(message: str) -> None:
    warnings.warn(message, PliantWarning, stacklevel=4)

"""Mesh files: VTK, VTU, MSH and INP through meshio; STL and STEP through a mesher."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError, PliantWarning, unknown_name
from pliant.mesh.mesh import Mesh

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
FORMATS = {".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh", ".inp": "abaqus"}
_STEP = (".step", ".stp")
SUFFIXES = (*FORMATS, ".stl", *_STEP)
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


def read(path: str | Path, *, unit: str | None = None, size: float | None = None) -> Mesh:
    """The volume mesh in a VTK, VTU, MSH or INP file, or one made of an STL surface or a STEP part.

    `unit` is the file's: "m" (the default), "cm", "mm", "um" or "in"; a STEP file carries its own. `size`
    [m] is the edge length wanted where the mesh is made here (a twentieth of the part by default).
    Triangles, lines and points in a file are ignored; a warning tells when volume cells of a second kind or
    unused nodes are.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MeshError(f"mesh file {path}", expected=f"one of {SUFFIXES}", got=suffix or "no ending")
    if not path.is_file():
        raise MeshError(
            f"mesh file {path}", expected="a file", got="a folder" if path.is_dir() else "nothing there"
        )
    if suffix in _STEP and unit is not None:
        raise InputError("unit", expected="none for a STEP file, which carries its own", got=repr(unit))
    if suffix in FORMATS and size is not None:
        raise InputError("size", expected="none for a file that is a mesh already", got=size)
    if size is not None and not 0 < size < np.inf:
        raise InputError("size", expected="a positive edge length [m]", got=size)
    scale = _scale(unit)
    try:
        if suffix in _STEP:
            return _mesher().mesh_step(path, size=size)
        if suffix == ".stl":
            return _mesher().mesh_stl(path, scale=scale, size=size)
        mesh = volume_mesh(parse(path, FORMATS[suffix]), scale, path)
    except MeshError as error:
        if str(path) in str(error):
            raise
        raise MeshError(
            f"{path}: {error.what}", expected=error.expected, got=error.got, hint=error.hint
        ) from error
    if suffix == ".inp" and not path.read_bytes().endswith((b"\n", b"\r")):
        _warn(
            f"{path}: the last line has no end: is the file truncated?"
        )  # INP announces no numbers of cells
    return mesh


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


def parse(path: Path, file_format: str) -> Any:
    """The content of a file as meshio sees it. Whatever goes wrong in the parser becomes a MeshError."""
    import meshio

    said = io.StringIO()
    try:
        # meshio prints its complaints, and leaves the interpreter when no reader accepts the file
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), np.errstate(all="ignore"):
            content = meshio.read(path, file_format=file_format)
    except (Exception, SystemExit) as error:
        reason = str(error) if isinstance(error, Exception) else ""
        reason = " ".join((reason or said.getvalue()).split())[:300]
        raise _incomplete(path, file_format, f"{type(error).__name__}: {reason}") from error
    if file_format == "vtk":
        _count_vtk_cells(path, content)
    return content


def _count_vtk_cells(path: Path, content: Any) -> None:
    """MeshError if meshio found fewer cells than a legacy VTK file announces: it reads what is there."""
    raw = path.read_bytes()
    announced = re.search(rb"\nCELLS +(\d+) +\d+\s+(OFFSETS)?", raw)
    if announced is None:
        return
    expected = int(announced[1]) - (announced[2] is not None)  # offsets number one more
    found = sum(len(block.data) for block in content.cells)
    if found != expected:
        raise _incomplete(path, "vtk", f"{found} of {expected} cells")


def _incomplete(path: Path, file_format: str, got: str) -> MeshError:
    hint = "Is it truncated, or of another format?"
    return MeshError(f"mesh file {path}", expected=f"a complete {file_format} file", got=got, hint=hint)


def volume_mesh(content: Any, scale: float, path: Path) -> Mesh:
    """The cells of the most frequent volume kind in what meshio read, with `scale` [m] as the unit."""
    counts = Counter()
    for block in content.cells:
        counts[_KINDS.get(block.type, block.type)] += len(block.data)
    kinds = [kind for kind in counts if kind in _MESHIO_TYPES and counts[kind]]
    found = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no cells"
    if not kinds:
        raise MeshError(f"mesh file {path}", expected="tetrahedra or hexahedra", got=found)
    kind = max(kinds, key=lambda k: counts[k])
    chosen = [i for i, block in enumerate(content.cells) if _KINDS.get(block.type) == kind]
    _report_ignored(path, counts, kind)
    width = int(kind[3:])
    cells = np.vstack([np.asarray(content.cells[i].data)[:, :width] for i in chosen])
    points = np.asarray(content.points, float) * scale
    mesh = Mesh.compacted(points, cells.astype(np.int64), kind, _regions(content, chosen))
    if len(mesh.nodes) < len(points):
        unused = len(points) - len(mesh.nodes)
        _warn(f"{path}: {unused} nodes that no {kind} uses are dropped, the others renumbered")
    return mesh


def _regions(content: Any, chosen: list[int]) -> np.ndarray | None:
    for name in _REGION_DATA:
        if name in content.cell_data:
            values = np.concatenate([np.asarray(content.cell_data[name][i]).ravel() for i in chosen])
            return values.astype(np.int64)
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

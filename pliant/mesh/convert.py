"""Tetrahedra for the solid inside an STL surface or a STEP part, by a mesher that the user has installed.

Each mesher runs in a process of its own: a bad part may abort it, and must not take the caller along.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from pliant.errors import MeshError, MissingExtraError, PliantWarning
from pliant.files import shown
from pliant.mesh.check import checked_nodes
from pliant.mesh.files import parse, volume_mesh
from pliant.mesh.mesh import Mesh
from pliant.mesh.stl import lidded
from pliant.mesh.surface import Surface

_WORKERS = Path(__file__).parent / "workers"


def mesh_stl(path: Path, *, scale: float, size: float | None = None) -> Mesh:
    """Tetrahedra inside a closed STL surface, edges about `size` [m]; `scale` is the file's unit [m]."""
    largest = 0.0 if size is None else size / scale
    surface = _stl_surface(path)
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        if importlib.util.find_spec("pytetwild"):
            source, target = Path(folder) / "surface.npz", Path(folder) / "mesh.npz"
            np.savez(source, points=surface.nodes, triangles=surface.facets)
            _run(
                [sys.executable, _WORKERS / "tetwild_stl.py", source, target, f"{largest:.17g}"], path, target
            )
            return _load(target, path, scale)
        # gmsh would fill the inner surfaces of a hollow part, and cannot close gaps
        if shutil.which("gmsh") and surface.closed and len(surface.components()) == 1:
            script = Path(folder) / "solid.geo"
            script.write_text(
                f'Merge "{path.resolve()}";\nSurface Loop(1) = Surface{{:}};\nVolume(1) = {{1}};\n'
            )
            return _gmsh(script, Path(folder) / "mesh.msh", path, scale, largest)
    raise MissingExtraError(f"Meshing the STL file {path}", "stl")


def mesh_step(path: Path, *, size: float | None = None) -> Mesh:
    """Tetrahedra of the solids in a STEP file, edges at most `size` [m]. The file carries its own unit."""
    millimetre = 1e-3  # both meshers convert to it
    largest = 0.0 if size is None else size / millimetre
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        target = Path(folder) / "mesh.npz"
        if importlib.util.find_spec("netgen"):
            _run(
                [sys.executable, _WORKERS / "netgen_step.py", path.resolve(), target, f"{largest:.17g}"],
                path,
                target,
            )
            return _load(target, path, millimetre)
        if shutil.which("gmsh"):
            return _gmsh(path.resolve(), Path(folder) / "mesh.msh", path, millimetre, largest)
    raise MissingExtraError(f"Meshing the STEP file {path}", "step")


def _stl_surface(path: Path) -> Surface:
    content = parse(path, "stl")
    blocks = [block.data for block in content.cells if block.type == "triangle"]
    if not blocks or not sum(map(len, blocks)):
        raise MeshError(f"STL file {path}", expected="triangles", got="none")
    triangles = np.vstack(blocks)
    surface = Surface(checked_nodes(content.points), triangles, np.zeros(len(triangles)))
    for doubt in doubts(surface):
        warnings.warn(f"{shown(path)}: {doubt}", PliantWarning, stacklevel=5)
    nodes, triangles, _ = lidded(surface.nodes, surface.triangles)
    return Surface(nodes, triangles, np.zeros(len(triangles)))


def doubts(surface: Surface) -> list[str]:
    """What may be meant otherwise in a surface that a mesher fills, in sentences."""
    sides = np.sort(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    single = int((np.unique(sides, axis=0, return_counts=True)[1] == 1).sum())
    if single:
        *_, lids = lidded(surface.nodes, surface.triangles)
        closed = (
            f"{lids} hole{'s' * (lids > 1)} closed by flat lids" if lids else "gaps are closed by a guess"
        )
        return [
            f"its surface is open: {single} edges belong to one triangle only. It is taken for a solid, with "
            f"{closed}: look at the shape, or close it in CAD."
        ]
    parts = surface.components()
    boxes = [(part.nodes[part.vertices].min(axis=0), part.nodes[part.vertices].max(axis=0)) for part in parts]
    inside = lambda a, b: (boxes[a][0] > boxes[b][0]).all() and (boxes[a][1] < boxes[b][1]).all()
    filled = [
        k
        for k in range(len(parts))
        if any(inside(k, n) and parts[k].volume * parts[n].volume > 0 for n in range(len(parts)))
    ]
    if not filled:
        return []
    one = f"{len(filled)} of its {len(parts)} shells lie inside another, with normals to the same side"
    return [f"{one}: they are filled. Turn their normals round to make them chambers."]


def _gmsh(source: Path, target: Path, named: Path, scale: float, largest: float) -> Mesh:
    limit = ["-clmax", f"{largest:.17g}"] if largest else []
    command = [shutil.which("gmsh"), source, "-3", "-nt", "1", "-format", "msh22", *limit, "-o", target]
    _run(command, named, target)
    return volume_mesh(parse(target, "gmsh"), scale, named)


def _run(command: list, named: Path, target: Path) -> None:
    """Run a mesher; MeshError with the end of what it said when it fails."""
    finished = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        cwd=target.parent,  # meshers leave files of their own where they run
    )
    if finished.returncode or not target.exists():
        said = " ".join((finished.stdout + finished.stderr).split())[-400:]
        raise MeshError(
            f"meshing {named}",
            expected="a closed solid that the mesher accepts",
            got=f"exit code {finished.returncode}: …{said}",
        )


def _load(target: Path, named: Path, scale: float) -> Mesh:
    with np.load(target) as data:
        points, tets = data["points"] * scale, data["tets"].astype(np.int64)
    if tets.ndim != 2 or len(tets) == 0:
        raise MeshError(f"meshing {named}", expected="tetrahedra", got="none", hint="Is the surface closed?")
    return Mesh.compacted(points, tets, "tet4")

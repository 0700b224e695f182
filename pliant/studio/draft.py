"""Edits of a robot of one's own: functions from the document of a project file to the next one.

A document is what `tomllib` reads from a project file, and what `pliant.project` makes a robot of. Every
function takes one that it may change, with the project that was made of the last one, and changes it in
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.materials import library
from pliant.mesh import Mesh, cavity_surfaces
from pliant.project import Project
from pliant.project.schema import GROUPS

Document = dict[str, Any]
FLAT = 4e-3  # of the size: how far the nodes of a face may lie from its plane, as a mesher leaves them
AROUND = 0.1  # of the size: nodes of a place that is not flat which are held together
STRAIN = 0.2  # that a cable at its largest tension gives the body
STROKE = 0.2  # of the size: how far a cable may be pulled in
AIR = 0.1  # of Young's modulus: the largest pressure of a chamber
POISSON = 0.48
SHOWN = 300  # held nodes on the page


def clamp(document: Document, project: Project, at: Sequence[float], normal: Sequence[float]) -> None:
    """Hold the flat face that has a point and a normal; where it is not flat, what is near the point."""
    mesh = mesh_of(project)
    n = np.array(normal) / (np.linalg.norm(normal) or 1.0)
    near = np.abs((mesh.nodes - np.array(at)) @ n) < FLAT * mesh.size
    face = mesh.nodes[near]
    flat = len(face) > 3 and np.linalg.matrix_rank(face - face[0], FLAT * mesh.size) >= 2
    plane = {"point": list(at), "normal": n.tolist(), "tolerance": FLAT * mesh.size}
    ball = {"centre": list(at), "radius": AROUND * mesh.size}
    document["bodies"][0]["fixed"] = [{"plane": plane} if flat else {"sphere": ball}]


def cable(document: Document, project: Project, name: str, through: Sequence[Sequence[float]]) -> None:
    """A cable along places of the undeformed body; a name that is there moves that cable."""
    _check_near(project, through)
    cables = document.setdefault("cables", {})
    if name not in cables:
        name = name or _free("cable", document)
        cables[name] = _pull(document, project)
    for other in ("along", "through"):
        cables[name].pop(other, None)
    cables[name] |= {"through": [list(place) for place in through], "outside": "nearest"}


def _pull(document: Document, project: Project) -> dict[str, Any]:
    """The limits of a new cable: those of another, or a tension that strains the body by a fifth."""
    for other in document.get("cables", {}).values():
        return {key: other[key] for key in ("effort", "tension", "displacement", "length") if key in other}
    mesh = mesh_of(project)
    extent = float(np.ptp(mesh.nodes, axis=0).max())
    tension = _rounded(STRAIN * _young(document) * mesh.volume / extent)
    stroke = _rounded(STROKE * extent)
    return {"effort": [0.0, tension], "displacement": [-stroke, stroke]}


def chamber(document: Document, project: Project, number: int, on: bool) -> None:
    """The number-th inner surface of the body becomes a chamber under pressure, or none any more."""
    count = len(cavity_surfaces(mesh_of(project)))
    if not 1 <= number <= count:
        expected = f"an inner surface, 1 to {count}" if count else "none: the body is not hollow"
        raise InputError("chamber", expected=expected, got=number)
    cavities = document.setdefault("cavities", {})
    mine = [name for name, said in cavities.items() if said.get("inner") == number]
    if on and not mine:
        cavities[f"chamber {number}"] = {"inner": number, "effort": [0.0, _rounded(AIR * _young(document))]}
    for name in () if on else mine:
        forget(document, project, name)


def effector(document: Document, project: Project, name: str, at: Sequence[float]) -> None:
    """A point of the undeformed body that gets a target; a name that is there moves that effector."""
    _check_near(project, [at])
    effectors = document.setdefault("effectors", {})
    name = name or _free("tip", document)
    effectors[name] = {"points": [list(at)], "outside": "nearest"}


def material(document: Document, project: Project, name: str) -> None:
    """A silicone of the library."""
    if name not in library:
        raise unknown_name("material", name, list(library))
    document["bodies"][0]["materials"] = [{"library": name, "poisson": POISSON}]


def gravity(document: Document, project: Project, value: Sequence[float]) -> None:
    """Gravity (3,) [m/s²]."""
    document["gravity"] = list(value)


def limit(document: Document, project: Project, name: str, value: float) -> None:
    """The largest effort of an actuator, in its unit."""
    said = _group(document, name)[name]
    known = {**project.spec.cables, **project.spec.cavities}
    if name not in known:
        raise unknown_name("cable or chamber", name, known)
    low = known[name].limits("effort")[0]
    for word in ("tension", "pressure", "force", "torque"):
        said.pop(word, None)
    said["effort"] = [low, value]


def forget(document: Document, project: Project, name: str) -> None:
    """A row goes, and what the demonstration says of it."""
    del _group(document, name)[name]
    shown = document.get("demonstration", {})
    shown.get("commands", {}).pop(name, None)
    if shown.get("effector") == name:
        del shown["effector"]


def mesh_of(project: Project) -> Mesh:
    """The mesh of its first body."""
    return project.robot.bodies[0].mesh


def facts(project: Project, document: Document) -> dict[str, Any]:
    """What the page shows of a document: rows with their places, material, gravity, the mesh in numbers."""
    mesh, spec = mesh_of(project), project.spec
    stuff = document["bodies"][0]["materials"][0]
    inner = {said.get("inner") for said in document.get("cavities", {}).values()}
    return {
        "name": document["name"],
        "nodes": len(mesh.nodes),
        "coordinates": project.robot.ndof,
        "held": _held(project),
        "material": stuff.get("library", ""),
        "gravity": list(spec.gravity),
        "cables": {name: said.through for name, said in spec.cables.items() if said.through},
        "effectors": {name: said.points for name, said in spec.effectors.items() if said.points},
        "chambers": [n + 1 in inner for n in range(len(cavity_surfaces(mesh)))],
        "limits": {
            name: said.limits("effort")[1]
            for group in (spec.cables, spec.cavities)
            for name, said in group.items()
            if np.isfinite(said.limits("effort")[1])
        },
    }


def _held(project: Project) -> list[list[float]]:
    """Places (n, 3) [m] of nodes that do not move, at most `SHOWN` of them."""
    mesh, body = mesh_of(project), project.robot.bodies[0]
    mask = getattr(body, "fixed", None)
    if mask is None:
        return []
    still = mesh.nodes[np.asarray(mask)[: len(mesh.nodes)].all(axis=1)]
    return np.round(still[:: max(1, -(-len(still) // SHOWN))], 6).tolist()


def _check_near(project: Project, places: Sequence[Sequence[float]]) -> None:
    """Refuse places that are not on the body, nor beside it."""
    mesh = mesh_of(project)
    (low, high), room = mesh.bounds, AROUND * mesh.size
    for place in np.array(places):
        if (place < low - room).any() or (place > high + room).any():
            got = np.round(place, 4).tolist()
            raise InputError("place", expected="one on the body", got=f"{got} [m]")


def _young(document: Document) -> float:
    """Young's modulus [Pa] of the material, or that of a soft silicone where a law says it otherwise."""
    stuff = document["bodies"][0]["materials"][0]
    if "library" in stuff:
        return library[stuff["library"]].young
    young = stuff.get("young")
    return float(young) if isinstance(young, (int, float)) else library["dragon skin 30"].young


def _group(document: Document, name: str) -> dict[str, Any]:
    for group in GROUPS:
        if name in document.get(group, {}):
            return document[group]
    raise unknown_name("row", name, [n for group in GROUPS for n in document.get(group, {})])


def _free(word: str, document: Document) -> str:
    """The first of "cable 1", "cable 2" … (for an effector "tip", "tip 2" …) that no row has."""
    taken = {name for group in GROUPS for name in document.get(group, {})}
    first = [word] if word == "tip" else []
    return next(n for n in (*first, *(f"{word} {k}" for k in range(1 + len(first), 1000))) if n not in taken)


def _rounded(value: float) -> float:
    """To two digits: it is a guess."""
    return float(f"{value:.1e}")

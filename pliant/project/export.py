"""A robot as a project file: the TOML, and its meshes next to it, to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bodies import Beam, Solid
from pliant.bodies.fibres import Fibres
from pliant.errors import InputError
from pliant.laws import Known
from pliant.materials import Mullins
from pliant.materials.material import Material
from pliant.mesh import near_plane, write
from pliant.project.build import LAWS, write_lines
from pliant.project.export_contact import contact_data, obstacle_data
from pliant.project.export_rows import rows_data
from pliant.project.schema import FORMAT
from pliant.project.toml import dumps
from pliant.robot import Robot


def save(
    robot: Robot,
    path: str | Path,
    *,
    summary: str = "",
    laws: Mapping[str, Known] | None = None,
    view: tuple[float, float] | None = None,
) -> Path:
    """Write a robot as a project file, its meshes next to it; `load(path).robot` gives the same results.

    `laws` and `view` become the demonstration of `pliant run`. Solids and beams can be written, with
    materials of one law per region; what cannot is an InputError.
    """
    path = Path(path)
    if path.suffix != ".toml":
        raise InputError("project file", expected="a name that ends in .toml", got=path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ["body"] if len(robot.bodies) == 1 else [f"body {n + 1}" for n in range(len(robot.bodies))]
    data: dict[str, Any] = {"format": FORMAT, "name": robot.name}
    if summary:
        data["summary"] = summary
    data["gravity"] = robot.gravity.tolist()
    data["bodies"] = [
        _body(body, name, path.with_name(f"{path.stem}{'' if len(names) == 1 else f'-{n + 1}'}"))
        for n, (body, name) in enumerate(zip(robot.bodies, names, strict=True))
    ]
    data |= rows_data(robot, names)
    data |= obstacle_data(robot)
    contact = contact_data(robot, names)
    if contact:
        data["contact"] = contact
    show = _demonstration(laws or {}, view)
    if show:
        data["demonstration"] = show
    path.write_text(dumps(data), encoding="utf-8")
    return path


def _body(body: Any, name: str, stem: Path) -> dict[str, Any]:
    data: dict[str, Any] = {} if name == "body" else {"name": name}
    if isinstance(body, Solid):
        file = write(body.input_mesh, stem.with_suffix(".vtu"))
        data |= {"mesh": file.name, "unit": "m"}
        if body.input_mesh.kind == "tet4" and body.mesh is body.input_mesh:
            data["order"] = 1
        if body.input_mesh.kind == "hex8" and not body.support_layers:
            data["support_layers"] = False
        masks = body.fixed[: len(body.input_mesh.nodes)]
        data |= _fixed(masks, body.input_mesh)
        data |= {"materials": _materials(body.material, _density(body))}
        data |= {"fibres": [_fibres(group.fibres) for group in body.fibres]} if body.fibres else {}
        regions = _rigid(body, body.node_region[: len(body.input_mesh.nodes)])
    elif isinstance(body, Beam):
        write_lines(stem.with_suffix(".npz"), body)
        if not _own_skin(body):
            data |= {"mesh": write(body.mesh, stem.with_suffix(".vtu")).name, "unit": "m"}
        data |= {"lines": stem.with_suffix(".npz").name}
        data |= {"model": body.model} if body.model != "reissner" else {}
        data |= _fixed(_clamped(body), body.lines)
        data |= {
            "materials": _materials(
                body.material, {None: None if body.density is None else float(body.density[0])}
            )
        }
        regions = _rigid(body, body.numbering.node_region)
    else:
        raise InputError(f"body {name!r}", expected="a Solid or a Beam", got=type(body).__name__)
    return data | ({"rigid": regions} if regions else {})


def _fixed(mask: np.ndarray, mesh: Any) -> dict[str, Any]:
    """Fixed components (k, 3) as selections: a plane where that says the same, otherwise numbers of nodes."""
    out = []
    patterns, which = np.unique(mask, axis=0, return_inverse=True)
    for n, pattern in enumerate(patterns):
        if pattern.any():
            chosen = which.ravel() == n
            axes = "".join(a for a, fixed in zip("xyz", pattern, strict=True) if fixed)
            out.append(_selection(chosen, mesh) | ({} if axes == "xyz" else {"axes": axes}))
    return {"fixed": out} if out else {}


def _selection(chosen: np.ndarray, mesh: Any) -> dict[str, Any]:
    for axis in range(3):
        for end in (mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)):
            normal = np.eye(3)[axis].tolist()
            point = (end * normal + 0.0).tolist()
            if np.array_equal(near_plane(mesh.nodes, point, normal), chosen):
                return {"plane": {"point": point, "normal": normal}}
    return {"nodes": np.flatnonzero(chosen).tolist()}


def _materials(material: Any, density: Mapping[int | None, float | None]) -> list[dict[str, Any]]:
    laws: Mapping[int | None, Material] = material if isinstance(material, Mapping) else {None: material}
    out = []
    for region, wrapped in laws.items():
        softens = isinstance(wrapped, Mullins)
        law: Material = wrapped.law if softens else wrapped
        name = type(law).__name__
        if name not in LAWS:
            raise InputError("material", expected=f"one of {sorted(LAWS)}", got=name)
        data: dict[str, Any] = {} if region is None else {"region": int(region)}
        data["law"] = name
        for field in fields(law):  # type: ignore[arg-type]
            value = getattr(law, field.name)
            if value is not None and not (isinstance(value, bool) and value is field.default):
                data[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
        if softens:
            data["softening"] = {name: getattr(wrapped, name) for name in ("r", "m", "beta")}
        weight = density.get(region, density.get(None))
        out.append(data | ({} if weight is None else {"density": weight}))
    return out


def _density(body: Solid) -> dict[int | None, float | None]:
    """By region, and None for all where it is the same everywhere."""
    known = body.density
    if known is None:
        if body.weighs:
            raise InputError("mass of the body", expected="a density", got="nodal masses")
        return {None: None}
    by_region = {int(r): float(known[body.mesh.regions == r][0]) for r in np.unique(body.mesh.regions)}
    return {None: next(iter(by_region.values())), **by_region}


def _fibres(fibres: Fibres) -> dict[str, Any]:
    """Threads by their points, whatever they were wound by."""
    data: dict[str, Any] = {"stiffness": fibres.stiffness}
    data |= {} if fibres.prestretch == 1.0 else {"prestretch": fibres.prestretch}
    data |= {} if fibres.tension_only else {"tension_only": False}
    return data | {"paths": [path.tolist() for path in fibres.paths]}


def _clamped(body: Beam) -> np.ndarray:
    """Nodes of the lines that neither move nor turn, as a mask (k, 3)."""
    free = np.asarray(body.free).reshape(-1, 6)[(body.region_block // 2)]
    clamped = ~free[body.numbering.node_region].any(axis=1)
    if (~free[body.numbering.node_region].all(axis=1) & ~clamped & ~_in_region(body)).any():
        raise InputError("fixed nodes of a Beam", expected="clamped ones", got="some that may still turn")
    return np.repeat((clamped & ~_in_region(body))[:, None], 3, axis=1)


def _own_skin(body: Beam) -> bool:
    """Whether its skin is what rods of these sections get by themselves."""
    mesh, plain = body.mesh, Beam(body.lines, list(body.sections), body.material).mesh
    return np.array_equal(mesh.nodes, plain.nodes) and np.array_equal(mesh.cells, plain.cells)


def _in_region(body: Beam) -> np.ndarray:
    named = [not name.startswith("node ") for name in body.coordinates.region_names]
    return np.array(named)[body.numbering.node_region]


def _rigid(body: Any, region: np.ndarray) -> list[dict[str, Any]]:
    """Rigid regions with their joints, told from their axes and free coordinates."""
    out, c = [], body.coordinates
    for r, name in enumerate(c.region_names):
        if isinstance(body, Beam) and name.startswith("node "):
            continue
        free = tuple(bool(f) for f in np.asarray(c.free)[3 * c.region_block[r] :][:6])
        if any(part.region == r for part in body.region_masses.every):
            expected = "no mass of its own, which project files cannot say yet"
            raise InputError(f"rigid region {name!r}", expected=expected, got="one with mass=")
        axis, centre = c.region_frame[r][:, 2].tolist(), c.region_centre[r].tolist()
        data = {"name": name, "where": [_nodes(np.flatnonzero(region == r), body)]}
        if free == (False,) * 5 + (True,):
            data["hinge"] = {"axis": axis, "centre": centre}
        elif free == (False, False, True, False, False, False):
            data |= {"slide": axis, "centre": centre}
        elif free == (False,) * 3 + (True,) * 3:
            data["ball"] = centre
        elif all(free):
            data["centre"] = centre
        else:
            raise InputError(f"rigid region {name!r}", expected="a hinge, a slide or a ball", got=str(free))
        out.append(data)
    return out


def _nodes(chosen: np.ndarray, body: Any) -> dict[str, Any]:
    """Nodes of a solid as those of a region of its mesh, where they are; otherwise by number."""
    mesh = body.input_mesh
    if mesh is None:
        return {"nodes": chosen.tolist()}
    for region in np.unique(mesh.regions):
        if np.array_equal(np.unique(mesh.cells[mesh.regions == region]), chosen):
            return {"region": int(region)}
    return {"nodes": chosen.tolist()}


def _demonstration(laws: Mapping[str, Known], view: tuple[float, float] | None) -> dict[str, Any]:
    def said(law: Known) -> dict[str, Any]:
        kind = "effort" if law.effort is not None else "displacement"
        value = np.asarray(getattr(law, kind), float)
        return {kind: value.tolist()}

    data: dict[str, Any] = {} if view is None else {"view": list(view)}
    return data | ({"commands": {name: said(law) for name, law in laws.items()}} if laws else {})

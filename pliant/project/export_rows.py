"""Rows of a robot as tables of a project file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.interactions import Cable, Cavity, CentreOfMass, Combined, Motor, PointForce, Position, Slider
from pliant.laws import Bounded, Measured, Observed, Target, Unknown
from pliant.mesh import cavity_surfaces
from pliant.pneumatics import Gas, Line
from pliant.pneumatics.fluid import ATMOSPHERE
from pliant.points import Points
from pliant.project.along import along_data
from pliant.robot import Robot, Row

INF = float("inf")
_LOSSES = "friction", "sheath", "housing", "slack"  # of a cable, zero if not said


def rows_data(robot: Robot, names: Sequence[str]) -> dict[str, Any]:
    """All rows by group, in the robot's order within each."""
    out: dict[str, Any] = {}
    for name, row in robot.rows.items():
        group, data = _row(robot, name, row, names)
        out.setdefault(group, {})[name] = data
    return out


def _row(robot: Robot, name: str, row: Row, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    action = row.interaction
    inner: Any = action.inner if isinstance(action, Combined) else action
    if len(inner.points) != 1:
        raise InputError(f"row {name!r}", expected="points of one body", got=f"{len(inner.points)} groups")
    body = inner.points[0].owner
    data = {} if len(names) == 1 else {"body": names[_number(robot, body)]}
    data |= _action(name, action, inner, body)
    reads = isinstance(inner, (Position, CentreOfMass))
    if reads:
        return _reading(name, row, data)
    group = {Cable: "cables", Cavity: "cavities", Motor: "motors", Slider: "sliders", PointForce: "forces"}
    return group[type(inner)], data | _limits(name, row, inner)


def _number(robot: Robot, body: Any) -> int:
    return next(n for n, mine in enumerate(robot.bodies) if mine is body)


def _action(name: str, action: Any, inner: Any, body: Any) -> dict[str, Any]:
    data: dict[str, Any] = {}
    match inner:
        case Cable():
            data |= along_data(body, inner.points[0]) or (
                {"through": inner.rest.tolist()} | _outside(body, inner.points[0])
            )
            data |= {} if inner.anchor is None else {"anchor": inner.anchor.tolist()}
            data |= {} if inner.end is None else {"end": inner.end.tolist()}
            data |= {name: getattr(inner, name) for name in _LOSSES if getattr(inner, name)}
            data |= {} if inner.pulled == "first" else {"pulled": inner.pulled}
            data |= {"stiffness": inner.stiffness} if inner.compliance else {}
            data |= _drive(inner)
        case Cavity():
            data |= _cavity(name, inner, body)
        case Motor():
            data |= {"region": _region(name, body, inner.points[0]), "axis": inner.axis.tolist()}
            data |= ({"middle": inner.middle} if inner.middle else {}) | _drive(inner)
        case Slider():
            data |= _points(body, inner.points[0], centre=True) | {"direction": inner.direction.tolist()}
            data |= _drive(inner)
        case PointForce():
            data |= _points(body, inner.points[0])
            if inner.size == len(inner.points[0]):
                data["direction"] = inner.gradient(inner.rest)[0].tolist()
        case Position():
            data |= _points(body, inner.points[0])
            data |= _directions(name, inner.directions)
        case CentreOfMass():
            data["kind"] = "centre of mass"
        case _:
            raise InputError(
                f"row {name!r}", expected="one that a project file knows", got=type(inner).__name__
            )
    return data | (_combined(name, action, inner) if action is not inner else {})


def _combined(name: str, action: Combined, inner: Any) -> dict[str, Any]:
    """A shared force, or some axes of a centre of mass."""
    basis = np.asarray(action.basis)
    if isinstance(inner, PointForce):
        count = len(inner.points[0])
        axes = inner.size // count
        if np.allclose(basis, np.tile(np.eye(axes), (count, 1)) / count, rtol=1e-15):
            return {"shared": True}
    if isinstance(inner, CentreOfMass):
        return _directions(name, basis.T)
    raise InputError(f"row {name!r}", expected="a force shared by points", got="another combination")


def _directions(name: str, directions: np.ndarray) -> dict[str, Any]:
    axes = ["xyz"[int(np.argmax(d))] for d in directions]
    if not np.array_equal(directions, np.eye(3)[["xyz".index(a) for a in axes]]):
        raise InputError(f"row {name!r}", expected="directions along axes", got=directions.tolist())
    return {} if axes == ["x", "y", "z"] else {"directions": "".join(axes)}


def _reading(name: str, row: Row, data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    match row.law:
        case Target(value=value, weight=weight):
            if value is not None:
                data["target"] = np.atleast_1d(np.asarray(value, float)).tolist()
            return "effectors", data | ({} if weight == 1.0 else {"weight": weight})
        case Measured(weight=weight):
            return "sensors", data | {"measured": True} | ({} if weight == 1.0 else {"weight": weight})
        case Observed():
            return "sensors", data
    raise InputError(f"law of {name!r}", expected="Target, Measured or Observed", got=type(row.law).__name__)


def _limits(name: str, row: Row, action: Any) -> dict[str, Any]:
    match row.law:
        case Bounded() as law:
            known: dict[str, Any] = {}
            if law.effort != action.effort_range:
                known["effort"] = list(law.effort)
            if law.displacement != (-INF, INF):
                known["displacement"] = list(law.displacement)
            return known | ({"speed": law.speed} if law.speed < INF else {})
        case Observed():
            return {"role": "observed"}
        case Unknown() as law:
            return {"role": "unknown", "effort": list(law.effort)}
    raise InputError(f"law of {name!r}", expected="Bounded, Unknown or Observed", got=type(row.law).__name__)


def _points(body: Any, points: Points, *, centre: bool = False) -> dict[str, Any]:
    """As the frame of a rigid region, as nodes, or by where they are at rest."""
    one = len(points.node_index) == len(points) and np.all(points.node_weight == 1.0)
    if one:
        region = _frame(body, points, 1 if centre else 4)
        if region is not None:
            return {"region": region}
        if points.node_index.max() < len(body.mesh.nodes):
            return {"nodes": points.node_index.tolist()}
    return along_data(body, points) or ({"points": points.rest.tolist()} | _outside(body, points))


def _outside(body: Any, points: Points) -> dict[str, Any]:
    """Whether some of the points were given outside of the body."""
    try:
        body.points(points.rest)
    except InputError:
        return {"outside": "nearest"}
    return {}


def _frame(body: Any, points: Points, size: int) -> str | None:
    """The rigid region whose frame the points are, or its centre."""
    for name in body.coordinates.region_names:
        own = body.region_points(name)[:size]
        if len(own) == len(points) and np.array_equal(own.node_index, points.node_index):
            return name
    return None


def _region(name: str, body: Any, points: Points) -> str:
    region = _frame(body, points, 4)
    if region is None:
        raise InputError(f"row {name!r}", expected="the frame of a rigid region", got="other points")
    return region


def _drive(action: Any) -> dict[str, Any]:
    """What a drive does with its commands, where that is more than to obey."""
    drive = action.drive
    known = {} if drive is None else asdict(drive)
    return {"drive": {key: value for key, value in known.items() if 0.0 < value < INF}} if known else {}


def _line(name: str, line: Line) -> dict[str, Any]:
    """What a chamber is filled through; an error where a file has no words for it."""
    fluid = line.fluid
    data = {"exponent": fluid.exponent} if isinstance(fluid, Gas) else {"bulk": fluid.bulk}
    for key in ("volume", "lag", "delay", "syringe"):
        data |= {key: getattr(line, key)} if getattr(line, key) else {}
    data |= {"supply": line.supply} if line.supply < INF else {}
    keys = {"conductance": line.orifice, "exhaust": line.exhaust, "leak": line.leak}
    ways = {key: way for key, way in keys.items() if way is not None}
    critical = {way.critical for way in ways.values()}
    if len(critical) > 1 or fluid.atmosphere != ATMOSPHERE:
        expected = "one critical ratio of all orifices, and the atmosphere of the sea"
        raise InputError(f"line of row {name!r}", expected=expected, got="others")
    data |= {key: way.conductance for key, way in ways.items()}
    return data | ({"critical": critical.pop()} if critical else {})


def _cavity(name: str, cavity: Cavity, body: Any) -> dict[str, Any]:
    """Which inner surface it is, or which facets."""
    nodes = cavity.points[0].node_index
    data: dict[str, Any] = {} if cavity._volume._form is not None else {"curved": False}
    if cavity.cap is not None:
        data["cap"] = cavity.cap
    if cavity.liquid_density:
        data |= {"liquid_density": cavity.liquid_density, "level": cavity.level.tolist()}
    if cavity.line is not None:
        data["line"] = _line(name, cavity.line)
    mine = {tuple(sorted(t)) for t in nodes[cavity.triangles].tolist()}
    for n, surface in enumerate(cavity_surfaces(body.mesh)):
        if {tuple(sorted(t)) for t in surface.triangles.tolist()} == mine:
            return {"inner": n + 1} | data
    surface = body.mesh.surface
    each = surface.triangles.reshape(len(surface.facets), -1, 3)
    chosen = [f for f, ts in enumerate(each.tolist()) if all(tuple(sorted(t)) in mine for t in ts)]
    if sum(len(each[f]) for f in chosen) != len(mine):
        raise InputError(f"row {name!r}", expected="a surface of facets of the body", got="other triangles")
    return {"facets": chosen} | data

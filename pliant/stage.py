"""A stage: what of a robot does not change while it moves, as plain data.

What a viewer and a recording begin with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.interactions import Cable, Cavity, Position
from pliant.robot import Robot

INF = float("inf")


@dataclass(frozen=True)
class RowFacts:
    """A row as a viewer needs it: its kind, role, units and limits, with ±inf where there are none.

    `drive` is what a forward command imposes: "displacement" where its range is known, otherwise "effort".
    """

    name: str
    kind: str
    role: str
    size: int
    unit: str
    effort_unit: str
    effort: tuple[float, float] = (-INF, INF)
    displacement: tuple[float, float] = (-INF, INF)
    drive: str = "effort"

    @classmethod
    def of(cls, robot: Robot, name: str) -> RowFacts:
        """The facts of a named row."""
        row = robot.rows[name]
        action, law = row.interaction, row.law
        choice, (low, high) = law.inverse(action.size, action.effort_range, name), action.effort_range
        effort, displacement = (max(low, choice.effort[0]), min(high, choice.effort[1])), choice.displacement
        drive = "displacement" if np.isfinite(displacement).all() else "effort"
        kind, units = type(action).__name__, (action.unit, action.effort_unit)
        return cls(name, kind, law.role, action.size, *units, effort, displacement, drive)

    def limits(self, drive: str) -> tuple[float, float]:
        """Lowest and highest value of a forward command, "effort" or "displacement"."""
        return self.effort if drive == "effort" else self.displacement


@dataclass(frozen=True, eq=False)
class Stage:
    """The skin of a robot and its rows.

    vertices (v,): which nodes (of `Frame.positions`) the skin is made of; rest (v, 3) [m] where they are
    undeformed; triangles (t, 3) of vertices; region (v,) number of the material there. cables: name and
    number of points of each polyline in `Frame.lines`; cavities: name and triangles (t, 3) of vertices. up
    (3,): against gravity.
    """

    robot: str
    summary: str
    length: float
    up: np.ndarray
    rest: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    region: np.ndarray
    rows: tuple[RowFacts, ...]
    cables: tuple[tuple[str, int], ...]
    cavities: tuple[tuple[str, np.ndarray], ...]
    fields: tuple[str, ...] = ("displacement",)

    @classmethod
    def of(cls, robot: Robot, *, summary: str = "", hidden: Sequence[str] = ()) -> Stage:
        """The stage of a robot, without its `hidden` rows."""
        positions = robot.positions(robot.rest.q)
        triangles, region = _skin(robot)
        vertices, local = np.unique(triangles, return_inverse=True)
        rest = positions[vertices]
        rows = [name for name in robot.rows if name not in hidden]
        shown = {name: robot.rows[name].interaction for name in rows}
        cables = [(name, _polyline_size(c)) for name, c in shown.items() if isinstance(c, Cable)]
        cavities = [(name, _on_skin(c, rest)) for name, c in shown.items() if isinstance(c, Cavity)]
        stress = all({"stress", "strain"} <= set(body.node_fields) for body in robot.bodies)
        gravity = float(np.linalg.norm(robot.gravity))
        return cls(
            robot=robot.name,
            summary=summary,
            length=robot.length,
            up=-robot.gravity / gravity if gravity else np.array([0.0, 0.0, 1.0]),
            rest=rest,
            vertices=vertices,
            triangles=local.reshape(-1, 3),
            region=region[vertices],
            rows=tuple(RowFacts.of(robot, name) for name in rows),
            cables=tuple(cables),
            cavities=tuple((name, t) for name, t in cavities if t is not None),
            fields=("displacement", "strain", "stress") if stress else ("displacement",),
        )

    def by_role(self, role: str) -> list[RowFacts]:
        """The rows of a role: "actuator", "effector" …"""
        return [row for row in self.rows if row.role == role]


def polylines(robot: Robot, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Points of the named cables, fixed ends included, one after another, (p, 3) [m]."""
    p, parts = robot.bundle.positions(q), [np.zeros((0, 3))]
    number = {name: k for k, name in enumerate(robot.rows)}
    for name in names:
        cable, k = robot.rows[name].interaction, number[name]
        own = p[robot.bundle.point_start[k] : robot.bundle.point_start[k + 1]]
        parts += [end[None] for end in (cable.anchor,) if end is not None]  # type: ignore[attr-defined]
        parts.append(own)
        parts += [end[None] for end in (cable.end,) if end is not None]  # type: ignore[attr-defined]
    return np.concatenate(parts)


def movable_target(robot: Robot, name: str) -> bool:
    """Whether a row's target is one position in space that can be dragged."""
    action = robot.rows[name].interaction
    return isinstance(action, Position) and action.size == 3


def _skin(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Surface triangles (t, 3), numbered as `robot.positions`, and the material region of each node."""
    triangles, region, offset = [], [], 0
    for body in robot.bodies:
        mesh = body.mesh
        triangles.append(mesh.surface.triangles + offset)
        number = np.zeros(len(mesh.nodes), int)
        if getattr(mesh, "regions", None) is not None:
            number[mesh.cells] = np.asarray(mesh.regions, int)[:, None]
        region.append(number)
        offset += len(mesh.nodes)
    return np.concatenate(triangles), np.concatenate(region)


def _polyline_size(cable: Cable) -> int:
    return cable.point_count + (cable.anchor is not None) + (cable.end is not None)


def _on_skin(cavity: Cavity, rest: np.ndarray) -> np.ndarray | None:
    """The cavity's triangles as triangles of skin vertices, or None if its points are not all among them."""
    from scipy.spatial import KDTree

    gap, nearest = KDTree(rest).query(cavity.rest)
    if gap.max(initial=0.0) > 1e-6 * np.ptp(rest, axis=0).max():
        return None
    return np.asarray(nearest)[cavity.triangles]

"""What the parts of this study share: the setting, and one robot of each kind to try interactions on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import pliant as pl
from pliant.bodies import Beam, Circle, Rigid, Shell, Solid
from pliant.interactions import Specimen
from pliant.interactions.surfaces import on_nodes
from pliant.mesh.lines import line
from pliant.points import Points
from pliant.studies.setup import Setup

TIGHT = pl.Tolerance(residual=1e-10, length=1e-12)
SIZE = 0.1  # [m] length of the specimens
RUBBER = pl.Hooke(young=3e5, poisson=0.4)


@dataclass(frozen=True)
class Setting:
    """How fine the models of this study are.

    `bodies` are kinds of bodies that every interaction is tried on, `effectors` those on which it is a
    target. `fine` is the refinement of meshes against closed forms, `steps` the number of time steps in a
    period or a time constant.
    """

    bodies: tuple[str, ...]
    effectors: tuple[str, ...]
    fine: int
    steps: int


KINDS = ("solid", "beam", "shell")
FULL = Setting(bodies=(*KINDS, "tetrahedra"), effectors=KINDS, fine=2, steps=100)
QUICK = Setting(bodies=KINDS, effectors=("beam",), fine=1, steps=40)


@dataclass(frozen=True)
class Subject:
    """A body fixed at one end, what interactions attach to, and three points that serve as effector."""

    body: Any
    specimen: Specimen
    effector: Points


class Lab:
    """The setting; subjects are made when first asked for."""

    def __init__(self, setting: Setting, setup: Setup | None = None) -> None:
        self.setting, self.setup = setting, setup or Setup()

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        """By kind of body."""
        return {kind: SUBJECTS[kind]() for kind in self.setting.bodies}


def _helix(radius: float, count: int = 9) -> np.ndarray:
    """(count, 3) points round the x axis through (0, 0.02, 0.02), from 5 to 95 % of the length."""
    s = np.linspace(0.0, 1.0, count)
    return np.column_stack(
        [SIZE * (0.05 + 0.9 * s), 0.02 + radius * np.cos(5 * s), 0.02 + radius * np.sin(5 * s)]
    )


def _skin(body: Any) -> tuple[Points, np.ndarray]:
    """Corners and triangles of the whole boundary; the first corner is on top, in the middle."""
    points, triangles = on_nodes(body, body.mesh.surface)
    first = int(np.linalg.norm(points.rest - [SIZE / 2, 0.02, 0.04], axis=1).argmin())
    order = np.concatenate([[first], np.delete(np.arange(len(points)), first)])
    return points[order], np.argsort(order)[triangles]


def _solid(kind: str) -> Subject:
    mesh = pl.mesh.box((SIZE, 0.04, 0.04), cells=(4, 2, 2), kind=kind)
    plate = Rigid(lambda x: x[:, 0] > SIZE - 1e-9, name="plate")
    body = Solid(mesh, RUBBER, density=1100, fixed=lambda x: x[:, 0] < 1e-9, rigid=plate)
    tip = body.points([[SIZE, 0.02, 0.02], [SIZE, 0.0, 0.02], [SIZE / 2, 0.02, 0.04]])
    return Subject(body, Specimen(body.points(_helix(0.01)), body.region_points("plate"), *_skin(body)), tip)


def _beam() -> Subject:
    rod = line((0.0, 0.02, 0.02), (SIZE, 0.02, 0.02), elements=5)
    body = Beam(rod, Circle(0.01), RUBBER, density=1100, fixed=0)
    tip = body.points([[SIZE, 0.02, 0.02], [SIZE, 0.01, 0.02], [SIZE / 2, 0.02, 0.03]])
    return Subject(body, Specimen(body.points(_helix(0.01)), body.region_points(5), *_skin(body)), tip)


def _shell() -> Subject:
    """A closed tube."""
    tube = pl.mesh.tube_sheet(0.02, SIZE, around=8, along=5, caps=True)
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # from along z to along x
    tube = tube.transformed(rotation=turn)
    tube = tube.transformed(translation=(-tube.nodes[:, 0].min(), 0.02, 0.02))
    plate = Rigid(lambda x: x[:, 0] > SIZE - 1e-9, name="plate")
    body = Shell(tube, RUBBER, 0.002, density=1100, fixed=lambda x: x[:, 0] < 1e-9, rigid=plate)
    tip = body.node_points(
        _nearest(tube.nodes, [[SIZE, 0.02, 0.02], [SIZE, 0.0, 0.02], [SIZE / 2, 0.02, 0.04]])
    )
    along = body.node_points(_nearest(tube.nodes, _helix(0.02)))
    return Subject(body, Specimen(along, body.region_points("plate"), *_skin(body)), tip)


def _nearest(nodes: np.ndarray, places: Any) -> np.ndarray:
    """Indices of the nodes nearest to places (n, 3), each once."""
    nearest = [int(np.linalg.norm(nodes - place, axis=1).argmin()) for place in np.asarray(places, float)]
    return np.array(list(dict.fromkeys(nearest)))


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "solid": lambda: _solid("hex"),
    "tetrahedra": lambda: _solid("tet"),
    "beam": _beam,
    "shell": _shell,
}

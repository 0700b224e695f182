"""Small robots that the core's tests share, and what makes them usable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Rectangle
from pliant.interactions import Specimen
from pliant.interactions.surfaces import on_nodes
from pliant.mesh.lines import curve
from pliant.points import Points

SOFT = pl.Hooke(young=3e5, poisson=0.4)
DOWN = (0.0, 0.0, -9.81)
SIZE = (0.1, 0.02, 0.02)  # of the bar [m]


def plane(mesh: pl.mesh.Mesh, axis: int, at: float) -> np.ndarray:
    """Nodes with one coordinate at a value."""
    return np.abs(mesh.nodes[:, axis] - at) < 1e-9


def bar(
    *,
    kind: str = "hex",
    order: int = 1,
    cells: Sequence[int] = (4, 1, 1),
    material: Any = SOFT,
    fixed: Any = "face",
    **options: Any,
) -> pl.Solid:
    """A bar along x, 100 × 20 × 20 mm, held at x = 0."""
    mesh = pl.mesh.box(SIZE, cells=cells, kind=kind, order=order)
    held = plane(mesh, 0, 0.0) if isinstance(fixed, str) else fixed
    return pl.Solid(mesh, material, **{"density": 1000.0, "fixed": held, "order": order, **options})


def along(height: float, *, points: int = 5) -> list[list[float]]:
    """The path of a cable along the bar."""
    return [[x, 0.01, height] for x in np.linspace(0.0, 0.1, points)]


def cables(body: pl.Solid | None = None, *, gravity: Any = (0.0, 0.0, 0.0), **options: Any) -> pl.Robot:
    """The bar with a cable near its top and one near its bottom, and the position of its tip."""
    body = bar(**options) if body is None else body
    rows = {
        "top": pl.Row(pl.Cable(body.points(along(0.018))), pl.Bounded(effort=(0, 40))),
        "bottom": pl.Row(pl.Cable(body.points(along(0.002))), pl.Bounded(effort=(0, 40))),
        "tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target()),
    }
    return pl.Robot(body, rows, gravity=gravity, name="bar")


def linear_bar(*, gravity: Any = (0.0, 0.0, 0.0), law: Any = None, rows: Any = None) -> pl.Robot:
    """A bar whose response is exactly linear, with forces along z and x on its end plate, E A/L = 40 N/m
    along x.
    """
    material = pl.Hooke(young=1e4, poisson=0.0, small_strain=True)
    mesh = pl.mesh.box(SIZE, cells=(4, 1, 1), kind="hex")
    body = pl.Solid(mesh, material, density=1000.0, fixed=plane(mesh, 0, 0.0))
    end = body.node_points(np.flatnonzero(plane(mesh, 0, 0.1)))
    both = {
        "push": pl.Row(pl.Slider(end, (1, 0, 0)), pl.Observed() if law is None else law),
        "load": pl.Row(pl.Slider(end, (1, 0, 0))),
        "lift": pl.Row(pl.Slider(end, (0, 0, 1))),
    }
    return pl.Robot(body, {**both, **(rows or {})}, gravity=gravity)


def balloon(material: Any, *, inner: float = 0.01, outer: float = 0.011) -> pl.Robot:
    """A hollow sphere of eight-node cells, held against turning and drifting only."""
    mesh = pl.mesh.hollow_sphere(inner, outer, around=8, across=1, kind="hex")
    fixed = np.zeros((len(mesh.nodes), 3), bool)
    for axis in range(3):
        others = [i for i in range(3) if i != axis]
        on_axis = (np.abs(mesh.nodes[:, others]) < 1e-9).all(axis=1)
        fixed[np.ix_(on_axis, others)] = True
    body = pl.Solid(mesh, material, fixed=fixed)
    return pl.Robot(
        body, {"air": pl.Row(pl.Cavity.on(body, pl.mesh.cavity_surfaces(mesh)[0]))}, name="balloon"
    )


class Parts:
    """Points of several bodies, where an interaction takes points of one."""

    def __init__(self, *parts: Points) -> None:
        self.parts, self.rest = parts, np.concatenate([p.rest for p in parts])

    def __iter__(self) -> Iterator[Points]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.rest)


def block(kind: str, order: int, *, x: float = 0.0, joint: Any = None) -> pl.Solid:
    """A soft block from x to x + 90 mm: one face clamped, a side on rollers, a rigid plate at the end."""
    mesh = pl.mesh.box((0.09, 0.04, 0.04), cells=(3, 2, 2), kind=kind, order=order, origin=(x, 0.0, 0.0))
    plate = plane(mesh, 0, x + 0.09)
    fixed = np.zeros((len(mesh.nodes), 3), bool)
    fixed[plane(mesh, 0, x)] = True
    fixed[plane(mesh, 1, 0.0) & ~plate, 1] = True
    return pl.Solid(
        mesh,
        pl.Hooke(young=2e3, poisson=0.3),
        density=500.0,
        fixed=fixed,
        order=order,
        rigid=pl.Rigid(plate, name="plate", joint=joint),
    )


def specimen(body: pl.Solid, *, x: float = 0.0) -> Specimen:
    """A helix through the block, the frame of its plate, and its skin."""
    s = np.linspace(0, 1, 7)
    helix = [x + 0.002 + 0.086 * s, 0.02 + 0.01 * np.cos(5 * s), 0.02 + 0.01 * np.sin(5 * s)]
    skin, triangles = on_nodes(body, body.mesh.surface)
    return Specimen(body.points(np.column_stack(helix)), body.region_points("plate"), skin, triangles)


def joined(a: Specimen, b: Specimen) -> Specimen:
    """One specimen of two bodies: every interaction on it touches both."""
    return Specimen(
        line=Parts(a.line[:4], b.line[3:]),  # type: ignore[arg-type]
        frame=Parts(a.frame[:2], b.frame[2:]),  # type: ignore[arg-type]
        skin=Parts(a.skin, b.skin),  # type: ignore[arg-type]
        triangles=np.concatenate([a.triangles, b.triangles + len(a.skin)]),
    )


def one(kind: str, order: int, joint: Any = None) -> tuple[tuple[pl.Solid, ...], Specimen]:
    body = block(kind, order, joint=joint)
    return (body,), specimen(body)


def two() -> tuple[tuple[pl.Solid, ...], Specimen]:
    first = block("tet", 1)
    second = block("hex", 1, x=0.1, joint=pl.Hinge(axis=(2, -1, 3), centre=(0.19, 0.01, 0.0)))
    return (first, second), joined(specimen(first), specimen(second, x=0.1))


def rod() -> tuple[tuple[Any, ...], Specimen]:
    """A curved rod of the size of the block, clamped at one end, and a specimen on its skin and round it."""
    s = np.linspace(0, 1, 7)
    path = np.column_stack([0.09 * s, 0.02 + 0.01 * np.sin(3 * s), 0.02 + 0.01 * s**2])
    material = pl.Hooke(young=2e3, poisson=0.3)
    body = Beam(curve(path), Rectangle(0.012, 0.009), material, density=500.0, fixed=0)
    helix = path + 0.004 * np.column_stack([0 * s, np.cos(3 * s), np.sin(3 * s)])
    skin, triangles = on_nodes(body, body.mesh.surface)
    return (body,), Specimen(body.points(helix), body.region_points(6), skin, triangles)


TRIALS = {
    "tet4": lambda: one("tet", 1),
    "tet10": lambda: one("tet", 2),
    "hex8": lambda: one("hex", 1),
    "hinged": lambda: one("hex", 1, pl.Hinge(axis=(2, -1, 3), centre=(0.08, 0.0, 0.03))),
    "two bodies": two,
    "rod": rod,
}


@pytest.fixture(scope="session", params=list(TRIALS))
def trial(request: Any) -> tuple[tuple[pl.Solid, ...], Specimen]:
    return TRIALS[request.param]()


def test_every_body_is_held(trial: Any) -> None:
    bodies, _ = trial
    assert [body.rigid_modes() for body in bodies] == [0] * len(bodies)
    assert all((~body.free).any() for body in bodies), "rollers lock some coordinates"


@pytest.mark.parametrize("robot", [cables(), linear_bar(), balloon(SOFT)], ids=lambda r: r.name)
def test_every_robot_is_held(robot: pl.Robot) -> None:
    assert robot.rigid_modes() == 0
    assert robot.length > 0 and robot.bundle.rows == sum(r.interaction.size for r in robot.rows.values())

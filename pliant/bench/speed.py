"""How long a step takes: linear tetrahedra of two sizes with 61 rows."""

from __future__ import annotations

import numpy as np

from pliant.bench.golden import one_step
from pliant.bodies import Solid
from pliant.interactions import Cable, PointForce
from pliant.io.table import Table
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import box, near_plane
from pliant.robot import Robot, Row
from pliant.timing import paired

LENGTH, RADIUS = 0.2, 0.008


def arm(cells: tuple[int, int, int], contacts: int = 55, cables: int = 6) -> Robot:
    """A clamped bar with cables along it and forces on its surface: 61 rows."""
    mesh = box((LENGTH, 0.02, 0.02), cells=cells, kind="tet")
    mesh = mesh.transformed(translation=-mesh.nodes.min(0) - np.array([0.0, 0.01, 0.01]))
    body = Solid(
        mesh,
        Hooke(young=3e5, poisson=0.45),
        density=1100,
        fixed=near_plane(mesh, (0, 0, 0), (1, 0, 0)),
        order=1,
    )
    along = np.linspace(0.01, 0.19, 13)
    rows = {}
    for k in range(cables):
        angle = 2 * np.pi * k / cables
        path = np.stack([along, np.full(13, RADIUS * np.cos(angle)), np.full(13, RADIUS * np.sin(angle))], 1)
        rows[f"cable {k}"] = Row(Cable(body.points(path)), Bounded(effort=(0, 40)))
    free = np.unique(mesh.surface.triangles)
    free = free[mesh.nodes[free, 0] > 1e-6]
    chosen = np.random.default_rng(0).choice(free, contacts, replace=False)
    rows["forces"] = Row(PointForce(body.node_points(chosen), direction=(0, 0, 1)))
    return Robot(body, rows, gravity=(0, 0, -9.81), name="arm")


def speed() -> list[Table]:
    """The 61-row step on about 570 and 2000 nodes."""
    columns = ("what", "nodes", "rows", "ms", "÷ dgemm(1500)", "asked", "check")
    table = Table("One step with a 61-row W, linear tetrahedra, one thread", columns)
    for cells, limit in (((22, 4, 4), 0.018), ((40, 6, 6), 0.15)):
        robot = arm(cells)
        ms, ratio = paired(one_step(robot))
        nodes = len(robot.body.mesh.nodes)
        table.add(
            what="step",
            nodes=nodes,
            rows=robot.bundle.rows,
            ms=ms,
            asked=limit,
            check=ratio <= limit,
            **{"÷ dgemm(1500)": ratio},
        )
    return [table]

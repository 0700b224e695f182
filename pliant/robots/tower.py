"""A tower of four sections that inflate one by one, and push each other away."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.interactions import Combined, Position
from pliant.laws import Unilateral
from pliant.materials import library
from pliant.mesh import Mesh, cavity_surfaces, near_plane
from pliant.mesh import tower as tower_mesh
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, cavity, pressure_row, tip


def tower(
    *,
    sections: int = 4,
    width: float = 0.04,
    chamber: float = 0.008,
    wall: float = 0.0025,
    slit: float = 0.001,
    depth: float = 0.75,
    base: float = 0.006,
    size: float = 0.009,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pressure: float = 25e3,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A square silicone tower along z; each section has a pressure chamber on one side, +x, +y, −x and −y in turn.

    After the tower of Coevoet et al., 'Optimization-based inverse model of soft robots with contact handling', RA-L 2017:
    below each chamber a slit parts it from the section beneath. An inflated chamber bulges through the slit, pushes
    itself off, and the tower bends to the other side. Rows: "chamber 1" (at the base) to "chamber 4", between half of
    `pressure` [Pa] of suction and the whole of it; "slit 1" to "slit 4", the gaps between facing nodes, which cannot be
    negative; "tip", the middle of the top.

    The gaps are measured along z: right for sections that tilt by up to about 30°. Nothing slides with friction.
    """
    mesh = tower_mesh(
        sections, width=width, chamber=chamber, wall=wall, slit=slit, depth=depth, base=base, size=size
    )
    stuff = library[material]
    foot = near_plane(mesh, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    body = Solid(mesh, stuff.material(poisson), density=stuff.density, fixed=foot)
    rows = {
        f"chamber {n + 1}": pressure_row(cavity(body, inside), pressure, suction=0.5 * pressure)
        for n, inside in enumerate(cavity_surfaces(body.mesh))
    }
    rows["tip"] = tip(body, (0.0, 0.0, float(mesh.nodes[:, 2].max())))
    for n in range(sections):
        floor = base + n * (slit + 2 * wall + chamber)
        rows[f"slit {n + 1}"] = Row(_gaps(body, _facing(mesh, floor, floor + slit)), Unilateral())
    return Robot(body, rows, gravity=gravity, name="tower")


def _facing(mesh: Mesh, below: float, above: float) -> np.ndarray:
    """Pairs of nodes (n, 2) on either side of a slit between two heights [m], the lower one first."""
    filled = (mesh.centres[:, 2] > below) & (mesh.centres[:, 2] < above)
    joined = np.zeros(len(mesh.nodes), bool)
    joined[mesh.cells[filled]] = True  # where the level is solid there is no slit
    sides = []
    for z in (below, above):
        nodes = np.flatnonzero(near_plane(mesh, (0.0, 0.0, z), (0.0, 0.0, 1.0)) & ~joined)
        plan = np.round(mesh.nodes[nodes, :2] / (1e-6 * mesh.size))
        sides.append(nodes[np.lexsort(plan.T)])
    return np.column_stack(sides)


def _gaps(body: Solid, pairs: np.ndarray) -> Combined:
    """Height of the upper node of each pair above the lower one."""
    heights = Position(body.node_points(pairs.ravel()), directions="z")
    return Combined(heights, np.kron(np.eye(len(pairs)), [[-1.0], [1.0]]))

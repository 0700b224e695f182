"""Hertz: a dome pressed on a block of the same stuff, both thin, against two solutions that are not ours.

The dome is a paraboloid of radius R, block and dome are H high, bonded to plates and 2H wide; the plates
approach by d. Under small strain and small slopes the force is, after Dimitriadis et al. (Biophys. J. 82,
2002) for a rigid paraboloid of radius 2R that goes d/2 into one such layer without end,

    F = 4/3 E/(2(1 − ν²)) √R d^(3/2) · (1 + c₁χ + c₂χ² + c₃χ³ + c₄χ⁴)        χ = √(R d)/H

The layers here have an end: the force is about 1 % less, by a quarter model of 27-node bricks under small
strain with matching nodes (`REFERENCE`), which shares no code with the package. Two of its meshes differ by
0.6 %, so that the reference is known to about half a percent.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import numpy as np

from pliant.bodies import Solid
from pliant.materials import Hooke
from pliant.mesh import box
from pliant.robot import Robot
from pliant.static import static

YOUNG, POISSON = 3e5, 0.3  # [Pa]
HEIGHT, RADIUS, APPROACH = 0.012, 0.05, 2e-4  # [m]
REFERENCE = 0.1772  # [N]: 0.17856 and 0.17746 with six and ten facets across, read off by eye beyond them
CONTACT = 0.0034  # [m]: radius of the contact there


class Pressed(NamedTuple):
    """Force [N], facets of the block across the contact, unknowns, iterations and CPU time [s]."""

    force: float
    across: float
    unknowns: int
    iterations: int
    seconds: float


def layered() -> float:
    """The force [N] between layers without end, in closed form."""
    nu, chi = POISSON, np.sqrt(RADIUS * APPROACH) / HEIGHT
    a = -(1.2876 - 1.4678 * nu + 1.3442 * nu**2) / (1 - nu) / np.pi
    b = (0.6387 - 1.0277 * nu + 1.5164 * nu**2) / (1 - nu) / np.pi
    hertz = 4 / 3 * YOUNG / (2 * (1 - nu**2)) * np.sqrt(RADIUS) * APPROACH**1.5
    third, fourth = -8 * (a**3 + 4 / 15 * b), 16 * a * (a**3 + 3 / 5 * b)
    return float(hertz * (1 - 2 * a * chi + 4 * (a * chi) ** 2 + third * chi**3 + fourth * chi**4))


def pressed(kind: str, order: int, cells: int, layers: int) -> Pressed:
    """The force of a mesh with `cells` on each side of the block, one more on the dome's."""
    block, dome = (_solid(kind, order, n, layers, domed) for n, domed in ((cells, False), (cells + 1, True)))
    robot = Robot([block, dome])
    q, above = robot.rest.q.copy(), robot.q_spans[1]
    q[above] = dome.move_supports(q[above], translation=(0, 0, -APPROACH))
    begin = process_time()
    result = static(robot, state=robot.rest.with_(q=q))
    seconds = process_time() - begin
    force = block.reactions(result.q[robot.q_spans[0]])[block.fixed.any(axis=1), 2].sum()
    middle = np.abs(block.mesh.nodes[:, :2]).max(axis=1) < CONTACT
    top = block.mesh.surface.facets[:, : block.mesh.surface.element.corners]
    edges = np.linalg.norm(np.diff(block.mesh.nodes[top], axis=1), axis=2)
    edge = np.median(edges.min(axis=1)[middle[top].all(axis=1)])
    return Pressed(float(force), 2 * CONTACT / edge, robot.ndof, result.certificate.iterations, seconds)


def _solid(kind: str, order: int, cells: int, layers: int, domed: bool) -> Solid:
    """The block below z = 0, or the dome above."""
    low, fine = (0.0 if domed else -HEIGHT), (0.3, 0.3)
    size, corner = (2 * HEIGHT, 2 * HEIGHT, HEIGHT), (-HEIGHT, -HEIGHT, low)
    mesh = box(
        size, cells=(cells, cells, layers), origin=corner, kind=kind, order=order, grade=(fine, fine, 1.0)
    )
    x = mesh.nodes.copy()
    if domed:
        x[:, 2] += (x[:, :2] ** 2).sum(axis=1) / (2 * RADIUS) * (1 - x[:, 2] / HEIGHT)
    held = np.abs(x[:, 2] - (HEIGHT if domed else low)) < 1e-9
    material = Hooke(YOUNG, POISSON, small_strain=True)
    return Solid(mesh.with_nodes(x), material, order=order, fixed=held)

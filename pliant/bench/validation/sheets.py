"""Shells against published values and closed forms: the obstacle course, large rotations, thick plates.

pinched cylinder    1.8248e-5             between diaphragms; Flügge's series (Belytschko et al. 1985)
hemisphere          0.0940                with a hole of 18° (MacNeal and Harder 1985)
twisted beam        0.005424, 0.001754    h = 0.32: tip along y, z (MacNeal and Harder 1985)
                    0.005256, 0.001294    h = 0.0032 (Belytschko, Wong and Stolarski 1989)
hemisphere, far     4.067, 8.178          under forces of 400 (Sze, Liu and Lo 2004)
slit annulus        13.891, 17.528        inner, outer corner under 0.8 per length (Sze, Liu and Lo 2004)
round plate         w = c pR⁴/64D + pR²/4S,  c = 1 (clamped), (5 + ν)/(1 + ν) (supported),  S = 5/6 G h
square plate        w = 0.00406235 pa⁴/D + 0.0736713 pa²/S, supported; edges do not turn along themselves
                    w = 0.001505, 0.002172 pa⁴/D, clamped, h/a = 0.1, 0.2 (Zienkiewicz et al. 1993)

The sources' lengths are taken as millimetres and their forces as newtons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies import Shell
from pliant.compliance import compliance
from pliant.interactions import PointForce, Position, SurfaceForce
from pliant.laws import Known
from pliant.materials import Hooke
from pliant.mesh import Sheet, disc_sheet, mapped_sheet, sheet
from pliant.robot import Robot, Row
from pliant.static import static

MM = 1e-3  # [m]
MPA = 1e6  # [Pa], N/mm²
MIRROR = {  # what a plane of symmetry across an axis fixes: displacement along it, rotations about the others
    "x": np.array([1, 0, 0, 0, 1, 1], bool),
    "y": np.array([0, 1, 0, 1, 0, 1], bool),
    "z": np.array([0, 0, 1, 1, 1, 0], bool),
}
TWISTED = {0.32: (5.424e-3, 1.754e-3, 1.0), 0.0032: (5.256e-3, 1.294e-3, 1e-6)}  # across y, z; force [N]
PULLED = {100.0: (2.596, 3.833), 200.0: (3.406, 5.902), 300.0: (3.816, 7.234), 400.0: (4.067, 8.178)}
CLAMPED = {0.001: 0.00126532, 0.1: 0.001505, 0.2: 0.002172}  # w D/pa⁴ of the square plate
LIFTED = (13.891, 17.528)  # inner and outer corner


@dataclass(frozen=True)
class Answer:
    """How far off: relative errors of what was measured, and what it cost."""

    errors: tuple[float, ...]
    coordinates: int
    iterations: int = 1  # of Newton's method; 1 for K u = f

    @property
    def worst(self) -> float:
        """The error of the greatest size."""
        return max(self.errors, key=abs)


def _point(body: Shell, node: int, direction: Any) -> Row:
    return Row(PointForce(body.node_points([node]), direction=direction))


def pinched_cylinder(cells: int, **options: Any) -> Answer:
    """An eighth of a cylinder of radius 300, length 600, thickness 3 on diaphragms, pinched by two forces."""
    R, L = 300.0, 600.0
    surface = mapped_sheet(
        lambda u, v: MM * np.column_stack([R * np.sin(np.pi / 2 * u), L / 2 * v, R * np.cos(np.pi / 2 * u)]),
        cells=(cells, cells),
    )
    x, y, z = surface.nodes.T / MM
    fixed = np.zeros((len(x), 6), bool)
    fixed[y < 1e-6] |= np.array([1, 0, 1, 0, 0, 0], bool)
    for axis, on in (("y", y > L / 2 - 1e-6), ("x", x < 1e-6), ("z", z < 1e-6)):
        fixed[on] |= MIRROR[axis]
    body = Shell(surface, Hooke(3e6 * MPA, 0.3), 3.0 * MM, fixed=fixed, **options)
    W = compliance(Robot(body, {"pinch": _point(body, int(np.argmax(z + y)), (0, 0, -1))})).matrix
    return Answer((float(0.25 * W[0, 0] / MM) / 1.8248e-5 - 1.0,), body.ndof)


def hemisphere(cells: int, **options: Any) -> Robot:
    """A quarter of a hemisphere of radius 10, thickness 0.04 with a hole of 18°, pulled out and pushed in."""

    def surface(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        around, up = np.pi / 2 * u, np.radians(72) * v
        ring = np.column_stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
        return 10.0 * MM * ring

    quarter = mapped_sheet(surface, cells=(cells, cells))
    x, y, _ = quarter.nodes.T / MM
    fixed = np.zeros((len(x), 6), bool)
    fixed[y < 1e-6] |= MIRROR["y"]
    fixed[x < 1e-6] |= MIRROR["x"]
    fixed[np.argmax(x), 2] = True
    body = Shell(quarter, Hooke(6.825e7 * MPA, 0.3), 0.04 * MM, fixed=fixed, **options)
    rows = {
        "out": _point(body, int(np.argmax(x)), (1, 0, 0)),
        "in": _point(body, int(np.argmax(y)), (0, -1, 0)),
    }
    return Robot(body, rows)


def pinched_hemisphere(cells: int, **options: Any) -> Answer:
    """Deflection under forces of 2, linear."""
    robot = hemisphere(cells, **options)
    return Answer((float(compliance(robot).matrix[0].sum() / MM) / 0.0940 - 1.0,), robot.body.ndof)


def pulled_hemisphere(cells: int, **options: Any) -> Answer:
    """Deflections under forces of 100 to 400, of a radius of 10."""
    robot = hemisphere(cells, **options)
    errors, iterations, state = [], 0, None
    for force, exact in PULLED.items():
        law = Known(effort=force / 2)
        result = static(robot, {"out": law, "in": law}, state=state)
        state, iterations = result.state, iterations + result.certificate.iterations
        for name, value in zip(("out", "in"), exact, strict=True):
            errors.append(float(result.displacement[name][0] / MM) / value - 1.0)
    return Answer(tuple(errors), robot.body.ndof, iterations)


def twisted_beam(cells: tuple[int, int], thickness: float, **options: Any) -> Answer:
    """A strip of 12 × 1.1 that turns by 90° along its length: tip deflection along y and z, linear."""
    L, width = 12.0, 1.1

    def surface(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        turn, off = np.pi / 2 * u, width * (v - 0.5)
        return MM * np.column_stack([L * u, off * np.sin(turn), off * np.cos(turn)])

    strip = mapped_sheet(surface, cells=cells)
    x = strip.nodes / MM
    body = Shell(strip, Hooke(29e6 * MPA, 0.22), thickness * MM, fixed=x[:, 0] < 1e-6, **options)
    tip = int(np.argmin(np.linalg.norm(x - [L, 0, 0], axis=1)))
    W = compliance(Robot(body, {"tip": Row(PointForce(body.node_points([tip])))})).matrix
    *exact, force = TWISTED[thickness]
    errors = (float(W[axis, axis] / MM) * force / value - 1.0 for axis, value in zip((1, 2), exact))
    return Answer(tuple(errors), body.ndof)


def slit_annulus(cells: tuple[int, int], **options: Any) -> Answer:
    """A flat ring from 6 to 10, 0.03 thick, cut along a radius; one lip is clamped, the other lifted."""
    inner, outer, load = 6.0, 10.0, 0.8
    flat = sheet((1.0, 1.0), cells=cells)
    r, angle = inner + (outer - inner) * flat.nodes[:, 0], 2 * np.pi * flat.nodes[:, 1]
    ring = flat.with_nodes(MM * np.column_stack([r * np.cos(angle), r * np.sin(angle), 0 * r]))
    body = Shell(ring, Hooke(21e6 * MPA, 0.0), 0.03 * MM, fixed=flat.nodes[:, 1] < 1e-9, **options)
    lip = np.flatnonzero(flat.nodes[:, 1] > 1 - 1e-9)
    lip = lip[np.argsort(r[lip])]
    share = np.full(len(lip), load * (outer - inner) / (len(lip) - 1))
    share[[0, -1]] /= 2
    robot = Robot(body, {"lip": Row(PointForce(body.node_points(lip), direction=(0, 0, 1)))})
    result = static(robot, {"lip": Known(effort=share)})
    moved = result.displacement["lip"][[0, -1]] / MM
    errors = tuple(float(e) for e in moved / LIFTED - 1.0)
    return Answer(errors, body.ndof, result.certificate.iterations)


def plate(shape: str, support: str, cells: int, slenderness: float, **options: Any) -> Answer:
    """Deflection in the middle of a plate under pressure, linear; thickness over width is `slenderness`.

    shape "round" or "square", support "clamped" or "supported"; a clamped square is known for h/a in CLAMPED.
    """
    side, material = 0.1, Hooke(1e6, 0.3)
    h, R = slenderness * side, side / 2
    middle = [0.0, 0.0, 0.0] if shape == "round" else [R, R, 0.0]
    surface = (
        disc_sheet(R, around=8 * cells, rings=cells)
        if shape == "round"
        else sheet((side, side), cells=(cells, cells))
    )
    body = Shell(surface, material, h, fixed=_edge(surface, shape, support, side), **options)
    rows = {
        "load": Row(SurfaceForce.on(body, surface.surface)),
        "middle": Row(Position(body.points([middle]), directions="z")),
    }
    sag = float(compliance(Robot(body, rows))["middle", "load"][0, 0]) * surface.area
    nu = material.poisson
    D, S = material.young * h**3 / 12 / (1 - nu**2), 5 / 6 * material.shear_modulus * h
    if shape == "square" and support == "clamped":
        exact = CLAMPED[slenderness] * side**4 / D
    elif shape == "square":
        exact = 0.00406235 * side**4 / D + 0.0736713 * side**2 / S
    else:
        exact = R**4 / 64 / D * (1.0 if support == "clamped" else (5 + nu) / (1 + nu)) + R**2 / 4 / S
    return Answer((sag / exact - 1.0,), body.ndof)


def _edge(surface: Sheet, shape: str, support: str, side: float) -> np.ndarray:
    """Mask (k, 6): deflections and motions in the plane of the edge, and what its kind of support adds."""
    fixed, edge = np.zeros((len(surface.nodes), 6), bool), np.unique(surface.rim)
    fixed[edge, :3] = True
    if support == "clamped":
        fixed[edge] = True
    elif shape == "square":
        x, y, _ = surface.nodes.T
        fixed[(x < 1e-9) | (x > side - 1e-9), 3] = True
        fixed[(y < 1e-9) | (y > side - 1e-9), 4] = True
    return fixed

"""Thick spheres and cylinders under internal pressure, with their closed forms.

Lamé (linear)            δV/V of the void per pressure
neo-Hookean rubber       p(λ), λ the stretch of the inner wall; volume is kept, so that in the sphere
                         (λ_b³ − 1) B³ = (λ³ − 1) A³ and in the long cylinder (λ_b² − 1) B² = (λ² − 1) A²
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.interactions import Cavity
from pliant.laws import Known
from pliant.materials import Material
from pliant.mesh import Surface, cavity_surfaces, hollow_sphere, tube
from pliant.mesh.elements import shape
from pliant.mesh.topology import weld
from pliant.points import Points
from pliant.result import Result
from pliant.robot import Robot, Row
from pliant.static import static

THIN_PEAK = 7 ** (1 / 6)  # stretch of a thin neo-Hookean balloon at its greatest pressure
SLICE = 0.5  # length of the cylinder in units of its inner radius


def curved_cavity(body: Solid, surface: Surface, cuts: int, **options: Any) -> Cavity:
    """An open cavity of six-node facets, each cut into cuts² flat triangles between material points.

    Two cuts are what `Cavity.on` makes of an open surface. Flat triangles between nodes press on the corners
    of a quadratic facet, where its consistent load has none, and see less than the true volume: both errors
    fade with 1/cuts².
    """
    grid = [(i, j) for j in range(cuts + 1) for i in range(cuts + 1 - j)]
    number = {place: k for k, place in enumerate(grid)}
    upright = [[number[i, j], number[i + 1, j], number[i, j + 1]] for i, j in grid if i + j < cuts]
    turned = [[number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]] for i, j in grid if i + j < cuts - 1]
    N = shape("tri6", np.array(grid) / cuts)
    N[np.abs(N) < 1e-14] = 0.0
    rest = np.einsum("qa,fai->fqi", N, surface.nodes[surface.facets]).reshape(-1, 3)
    shared = weld(rest, 1e-9 * float(np.ptp(rest, axis=0).max()))
    first, corner = np.unique(shared, return_inverse=True)
    triangles = corner.reshape(len(surface.facets), -1)[:, upright + turned].reshape(-1, 3)
    facet, local = np.divmod(first, len(grid))
    used = N[local] != 0
    ptr = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    points = Points(body, rest[first], ptr, surface.facets[facet][used], N[local][used])
    return Cavity(points, triangles, **options)


def sphere(material: Material, inner: float, outer: float, *, around: int = 12, across: int = 2) -> Robot:
    """A hollow sphere of quadratic tetrahedra, fixed only against rigid motion; its void is the row "air"."""
    mesh = hollow_sphere(inner, outer, around=around, across=across, order=2)
    on_axis = np.abs(mesh.nodes) < 1e-9 * outer  # a node on an axis keeps to it
    fixed = on_axis & (on_axis.sum(axis=1) == 2)[:, None]
    body = Solid(mesh, material, fixed=fixed)
    return Robot(body, {"air": Row(Cavity.on(body, cavity_surfaces(mesh)[0]))}, name="sphere")


def cylinder(
    material: Material, inner: float, outer: float, *, around: int = 16, across: int = 2, cuts: int = 4
) -> Robot:
    """A slice of a long tube in plane strain, fixed against rigid motion; its bore is the row "air"."""
    length = SLICE * inner
    mesh = tube(inner, outer, length, around=around, across=across, along=1, order=2)
    x, y, z = mesh.nodes.T
    near = 1e-9 * outer
    fixed = np.stack([np.abs(x) < near, np.abs(y) < near, (z < near) | (z > length - near)], axis=1)
    body = Solid(mesh, material, fixed=fixed)
    bore = mesh.surface.patch(lambda c: np.hypot(c[:, 0], c[:, 1]) < inner + 0.1 * (outer - inner) / across)
    return Robot(body, {"air": Row(curved_cavity(body, bore, cuts, cap="flat"))}, name="cylinder")


def inflate(robot: Robot, stretches: Iterable[float]) -> Iterator[Result]:
    """Equilibria along imposed volumes V₀ λ³ of a sphere, V₀ λ² of a cylinder, each from the last."""
    chamber, state = robot.rows["air"].interaction, None
    assert isinstance(chamber, Cavity)
    power = 3 if robot.name == "sphere" else 2
    for stretch in stretches:
        law = Known(displacement=chamber.rest_volume * (stretch**power - 1.0))
        result = static(robot, {"air": law}, state=state)
        state = result.state
        yield result


def lame_sphere(young: float, poisson: float, inner: float, outer: float) -> float:
    """δV/p of the void [m³/Pa] at small strain."""
    wall = young * (outer**3 - inner**3)
    u = inner**4 / wall * ((1 - 2 * poisson) + (1 + poisson) * outer**3 / (2 * inner**3))
    return 4 * np.pi * inner**2 * u


def lame_cylinder(young: float, poisson: float, inner: float, outer: float) -> float:
    """δV/p of the slice's bore [m³/Pa] at small strain, in plane strain."""
    wall = young * (outer**2 - inner**2)
    u = inner**3 * (1 + poisson) / wall * ((1 - 2 * poisson) + outer**2 / inner**2)
    return 2 * np.pi * inner * u * SLICE * inner


def rubber_sphere(stretch: Any, shear: float, inner: float, outer: float) -> Any:
    """p = μ [2/λ_b + 1/(2λ_b⁴) − 2/λ − 1/(2λ⁴)] [Pa]."""
    outside = (1 + (stretch**3 - 1) * (inner / outer) ** 3) ** (1 / 3)
    return shear * (2 / outside + 0.5 / outside**4 - 2 / stretch - 0.5 / stretch**4)


def rubber_cylinder(stretch: Any, shear: float, inner: float, outer: float) -> Any:
    """p = μ [ln(λ/λ_b) + (1/λ_b² − 1/λ²)/2] [Pa]."""
    outside = (1 + (stretch**2 - 1) * (inner / outer) ** 2) ** 0.5
    return shear * (np.log(stretch / outside) + 0.5 / outside**2 - 0.5 / stretch**2)


def peak(stretch: np.ndarray, pressure: np.ndarray) -> float:
    """The stretch at which a cubic through the curve (n,) has its maximum."""
    slope = np.polyder(np.polyfit(stretch, pressure, 3))
    tops = [
        float(r.real)
        for r in np.roots(slope)
        if abs(r.imag) < 1e-12 and np.polyval(np.polyder(slope), r.real) < 0
    ]
    return tops[0] if tops else float("nan")

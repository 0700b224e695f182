"""Solid elements against values from outside: bending, near incompressibility, vibration, with their costs.

clamped bar     100 × 20 × 20 mm, 300 kPa, 1100 kg/m³, neo-Hookean, under its own weight. Tip deflections of
                FElupe 11.3 (triquadratic hexahedra with pressure and volume as fields of their own, 10×6×6
                cells that narrow towards the clamp and the surfaces; 8×4×4 cells differ by 0.1 %)
bent bar        the same bar, free to contract: an end moment gives κ = M/EI at small strain
Cook            the membrane of 48 × 44 / 16 mm in plane strain, μ = 80.1938 MPa, K = 400 889.806 MPa (ν =
                0.4999), 100 N per mm of thickness, as in Simo and Armero 1992. FElupe (biquadratic, the same
                fields) gives 6.876, 6.906, 6.920 mm with 8², 16², 32² cells, which tends to 6.93 mm; de Souza
                Neto et al. 1996 (doi 10.1016/0020-7683(95)00259-6) have 6.9 mm
vibration       the bar, simply supported: the lowest bending frequency of Timoshenko's beam, with Cowper's
                shear coefficient 10(1 + ν)/(12 + 11ν)
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pliant.algebra import analyse, factorise
from pliant.bench.cantilever import newton_step
from pliant.bodies import Solid
from pliant.errors import PliantWarning
from pliant.interactions import PointForce, Position
from pliant.io.table import Table
from pliant.laws import Known
from pliant.materials import Hooke, Material, NeoHookean, Yeoh
from pliant.materials.material import Isotropic
from pliant.mesh import Mesh, box
from pliant.result import Result
from pliant.robot import Robot, Row
from pliant.static import static
from pliant.timing import Yardstick, milliseconds

LENGTH, SIDE = 0.1, 0.02  # [m] of the bar
YOUNG, DENSITY, GRAVITY = 3e5, 1100.0, 9.81
# [m] by Poisson's ratio
CLAMPED = {0.3: -13.6305e-3, 0.45: -13.3779e-3, 0.49: -13.2769e-3, 0.4999: -13.2488e-3}
COOK_SHEAR, COOK_BULK, COOK_FORCE = 80.1938e6, 400889.806e6, 1e5  # [Pa], [Pa], [N/m]
COOK_TIP = 6.93e-3  # [m]
NEAR = 1e-9  # [m]


def solid_elements() -> Table:
    """Every problem above on coarse and finer meshes, for the default elements and those they replace."""
    columns = ("what", "element", "cells", "nodes", "error", "allowed", "÷ dgemm(1500)", "check")
    table = Table("Solid elements: errors against outside values, and the cost of one Newton step", columns)

    def add(what: str, element: str, cells: str, error: float, allowed: float | None, **more: Any) -> None:
        check = None if allowed is None else bool(abs(error) <= allowed)
        row = {"what": what, "element": element, "cells": cells, "error": f"{error:+.2%}"}
        table.add(**row, allowed=allowed, check=check, **more)

    yardstick = Yardstick.measure()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)  # some of these meshes are meant to be poor
        _add_clamped(add, yardstick)
        _add_bent(add)
        _add_cook(add, yardstick)
        _add_vibrations(add, yardstick)
    _add_compressed(table)
    table.notes.append(
        "A clamp that keeps the section from contracting has a singular edge: from ν = 0.35 on, bodies of "
        "hexahedra get a thin layer behind it."
    )
    return table


def _cost(robot: Robot, q: np.ndarray, yardstick: Yardstick) -> dict[str, Any]:
    """Cells of the table: nodes, and the cost of a Newton step at q."""
    ms = milliseconds(newton_step(robot, q), budget=0.3)
    return {"nodes": len(robot.body.mesh.nodes), "÷ dgemm(1500)": yardstick.ratio(ms)}


def _add_clamped(add: Any, yardstick: Yardstick) -> None:
    for poisson, exact in CLAMPED.items():
        what, law = f"clamped bar, neo-Hookean, ν = {poisson}", NeoHookean(YOUNG, poisson)
        cases = (
            ("hex8", "hex", 10.0, 0.02, {}),
            ("hex8, even mesh", "hex", 1.0, 0.02, {}),
            ("hex8, even mesh, no layer", "hex", 1.0, None, {"support_layers": False}),
            ("hex8, mean dilatation", "hex", 1.0, None, {"incompatible_modes": False}),
            ("tet10, even mesh", "tet", 1.0, 0.02, {}),
        )
        for element, kind, grade, allowed, options in cases:
            robot = clamped_bar(kind, (10, 3, 3), law, grade=grade, **options)
            tip, result = sag(robot)
            add(what, element, "10×3×3", tip / exact - 1.0, allowed, **_cost(robot, result.q, yardstick))
        if poisson > 0.3:
            tip = sag(clamped_bar("hex", (6, 2, 2), law))[0]
            add(what, "hex8, even mesh", "6×2×2", tip / exact - 1.0, 0.01)


def _add_bent(add: Any) -> None:
    for poisson in (0.3, 0.4999):
        what = f"end moment, free to contract, ν = {poisson}"
        for cells in ((6, 1, 2), (6, 1, 1)):
            label = f"{cells[0]}×{2 * cells[1]}×{cells[2]}"
            add(what, "hex8, Hooke", label, bent_bar("hex", cells, Hooke(YOUNG, poisson)), 0.001)
            add(what, "hex8, neo-Hookean", label, bent_bar("hex", cells, NeoHookean(YOUNG, poisson)), 0.001)
            wide = 0.02 if cells[2] > 1 else None
            add(what, "tet10, neo-Hookean", label, bent_bar("tet", cells, NeoHookean(YOUNG, poisson)), wide)


def _add_cook(add: Any, yardstick: Yardstick) -> None:
    for kind, element, meshes in (("hex", "hex8", (8, 16, 32)), ("tet", "tet10", (8, 16))):
        for cells in meshes:
            robot, law = cook(kind, cells)
            result = static(robot, {"load": law})
            error = (float(result.displacement["tip"][1]) - 0.06) / COOK_TIP - 1.0
            allowed = {8: None, 16: 0.03, 32: 0.01}[cells]
            add(
                "Cook's membrane, ν = 0.4999",
                element,
                f"{cells}×{cells}×1",
                error,
                allowed,
                **_cost(robot, result.q, yardstick),
            )


def _add_vibrations(add: Any, yardstick: Yardstick) -> None:
    """Their cost is that of the whole: matrices of a quarter of the bar, and the lowest eigenvalue."""
    for poisson in (0.3, 0.45, 0.4999):
        what, exact = f"lowest frequency, ν = {poisson}", timoshenko(poisson)
        for kind, element in (("hex", "hex8"), ("tet", "tet10")):
            material = NeoHookean(YOUNG, poisson)
            error = frequency(kind, (5, 1, 2), material) / exact - 1.0
            ms = milliseconds(lambda kind=kind, law=material: frequency(kind, (5, 1, 2), law), budget=0.3)
            cost = {"÷ dgemm(1500)": yardstick.ratio(ms)}
            add(what, element, "10×2×2", error, 0.01, **cost)


def _add_compressed(table: Table) -> None:
    for law in (NeoHookean(YOUNG, 0.3), NeoHookean(YOUNG, 0.4999), Yeoh(c1=5e4, bulk=5e6)):
        for stretch in (0.6, 0.4):
            lowest = compressed("hex", law, stretch)
            what = f"{type(law).__name__}, ν = {law.poisson_ratio:.4g}, squeezed to {stretch}: stable"
            table.add(what=what, element="hex8", cells="3×3×3", check=lowest > 0.0)


def clamped_bar(
    kind: str,
    cells: tuple[int, int, int],
    material: Material,
    *,
    grade: float = 1.0,
    distortion: float = 0.0,
    **options: Any,
) -> Robot:
    """The bar fixed at x = 0 under its weight; "tip" is the centre of its end.

    `distortion` moves inner nodes at random by that share of the cells, alike in every run.
    """
    size = np.array([LENGTH, SIDE, SIDE])
    mesh = box(tuple(size), cells=cells, kind=kind, grade=(grade, 1.0, 1.0))
    X = mesh.nodes
    noise = np.random.default_rng(0).uniform(-distortion, distortion, X.shape) * size / cells
    mesh = mesh.with_nodes(X + np.where((X < NEAR) | (size - NEAR < X), 0.0, noise))
    body = Solid(mesh, material, density=DENSITY, fixed=mesh.nodes[:, 0] < NEAR, **options)
    tip = Row(Position(body.points([[LENGTH, SIDE / 2, SIDE / 2]])))
    return Robot(body, {"tip": tip}, gravity=(0.0, 0.0, -GRAVITY), name="clamped bar")


def sag(robot: Robot) -> tuple[float, Result]:
    """How far [m] the tip is moved along z, and the equilibrium."""
    result = static(robot)
    return float(result.displacement["tip"][2]) - SIDE / 2, result


def face_forces(mesh: Mesh, face: np.ndarray) -> np.ndarray:
    """Shares (n,) of a uniform traction on the nodes `face` of a flat face across x; their sum is one."""
    q = (mesh.nodes * [1.0 + 1e-6, 1.0, 1.0]).ravel()
    body = Solid(mesh, Hooke(1.0, 0.0, small_strain=True), order=mesh.element.order)
    forces = body.reactions(q)[face, 0]
    return forces / forces.sum()


def bent_bar(kind: str, cells: tuple[int, int, int], material: Isotropic, **options: Any) -> float:
    """Relative error of the deflection κL²/2 under an end moment, at small strain, of a bar free to contract.

    Half of the bar, y ≥ 0: x = 0 keeps its plane. The moment is that of a bar of ν = 0 bent by the curvature
    1e-6/m, which has the same traction on its end.
    """
    mesh = box((LENGTH, SIDE / 2, SIDE), cells=cells, kind=kind, origin=(0.0, 0.0, -SIDE / 2))
    mesh = mesh.quadratic() if kind == "tet" else mesh
    x, y, z = mesh.nodes.T
    one = np.arange(len(x)) == np.argmin(np.hypot(x, np.hypot(y, z)))  # keeps its height
    body = Solid(mesh, material, fixed=np.stack([x < NEAR, y < NEAR, one], axis=1), **options)
    bend = 1e-6 * np.stack([x * z, 0.0 * y, -0.5 * x * x], axis=1)
    plain = Solid(mesh, Hooke(YOUNG, 0.0, small_strain=True), order=mesh.element.order)
    load, end = np.zeros(body.ndof), x > LENGTH - NEAR
    load.reshape(-1, 3)[body.node_block[end], 0] = plain.reactions((mesh.nodes + bend).ravel())[end, 0]
    K = body.linearise(body.q0, np.zeros(3))[2]
    assert K is not None
    q = body.retract(body.q0, factorise(analyse(body.pattern, body.block_position), K).solve(load))
    ends = body.points([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]])
    drop = -float(np.diff(ends.position(q)[:, 2])[0])
    return drop / (0.5e-6 * LENGTH**2 * YOUNG / material.young_modulus) - 1.0


def cook(kind: str, cells: int, **options: Any) -> tuple[Robot, Known]:
    """Cook's membrane of cells × cells × 1, in plane strain, and the law of its "load"; "tip": corner."""
    thickness = 1e-3 / cells
    mesh = box((1.0, 1.0, thickness), cells=(cells, cells, 1), kind=kind)
    mesh = mesh.quadratic() if kind == "tet" else mesh
    x, y, z = mesh.nodes.T
    mesh = mesh.with_nodes(np.stack([0.048 * x, 0.044 * (x + y) - 0.028 * x * y, z], axis=1))
    fixed = np.zeros(mesh.nodes.shape, bool)
    fixed[:, 2] = (z < NEAR) | (z > thickness - NEAR)
    fixed[x < NEAR] = True
    body = Solid(mesh, Yeoh(c1=COOK_SHEAR / 2, bulk=COOK_BULK), fixed=fixed, **options)
    end = np.flatnonzero(x > 1.0 - NEAR)
    corner = np.argmin(np.linalg.norm(mesh.nodes - [0.048, 0.06, 0.0], axis=1))
    rows = {
        "load": Row(PointForce(body.node_points(end), direction=(0.0, 1.0, 0.0))),
        "tip": Row(Position(body.node_points([corner]))),
    }
    law = Known(effort=COOK_FORCE * thickness * face_forces(mesh, end))
    return Robot(body, rows, name="Cook's membrane"), law


def cook_tip(kind: str, cells: int, **options: Any) -> tuple[float, Result]:
    """How far [m] the corner of the membrane rises, and the equilibrium."""
    robot, law = cook(kind, cells, **options)
    result = static(robot, {"load": law})
    return float(result.displacement["tip"][1]) - 0.06, result


def frequency(kind: str, cells: tuple[int, int, int], material: Material, **options: Any) -> float:
    """Lowest bending frequency [Hz] of the bar, simply supported; `cells` of a quarter of it."""
    from scipy.linalg import eigh

    mesh = box((LENGTH / 2, SIDE / 2, SIDE), cells=cells, kind=kind)
    mesh = mesh.quadratic() if kind == "tet" else mesh
    x, y, _ = mesh.nodes.T
    fixed = np.stack([x > LENGTH / 2 - NEAR, y < NEAR, x < NEAR], axis=1)  # symmetry twice, and the support
    body = Solid(mesh, material, density=DENSITY, fixed=fixed, **options)
    K = body.linearise(body.q0, np.zeros(3))[2]
    assert K is not None
    free = np.ix_(body.free, body.free)
    K, M = (body.pattern.to_csr(values).toarray()[free] for values in (K, body.mass()))
    return float(np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=[0, 0])[0]) / (2 * np.pi))


def timoshenko(poisson: float) -> float:
    """The same [Hz] of Timoshenko's beam: EI k⁴ − (ρA + ρI k²(1 + E/κG)) ω² + ρ²I/κG ω⁴ = 0, k = π/L."""
    shear, k = YOUNG / (2 * (1 + poisson)), np.pi / LENGTH
    stiffness = 10 * (1 + poisson) / (12 + 11 * poisson) * shear
    area, inertia = SIDE**2, SIDE**4 / 12
    a = DENSITY**2 * inertia / stiffness
    b = DENSITY * area + DENSITY * inertia * k**2 * (1 + YOUNG / stiffness)
    c = YOUNG * inertia * k**4
    return float(np.sqrt((b - np.sqrt(b * b - 4 * a * c)) / (2 * a)) / (2 * np.pi))


def compressed(kind: str, material: Isotropic, stretch: float, cells: int = 3, **options: Any) -> float:
    """Lowest eigenvalue of K over μ·length for a block between smooth plates at a stretch, at equilibrium."""
    from scipy.optimize import brentq

    mesh = box((SIDE,) * 3, cells=(cells,) * 3, kind=kind)
    X = mesh.nodes
    fixed = np.stack([X[:, 0] < NEAR, X[:, 1] < NEAR, (X[:, 2] < NEAR) | (X[:, 2] > SIDE - NEAR)], axis=1)
    body = Solid(mesh, material, fixed=fixed, **options)
    side = lambda t: float(material.stress(np.diag([t, t, stretch]))[0, 0])
    t = brentq(side, 0.3, 3.0, xtol=1e-14)
    _, r, K = body.linearise((body.mesh.nodes * [t, t, stretch]).ravel(), np.zeros(3))
    assert r is not None and K is not None
    dense = body.pattern.to_csr(K).toarray()[np.ix_(body.free, body.free)]
    return float(np.linalg.eigvalsh(dense)[0]) / (material.shear_modulus * SIDE)

"""Part 8: strain and stress measures, and every constitutive law of the registry, at points and in bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant as pl
from pliant.bodies import Solid
from pliant.materials import Isotropic, Material, measures, registry
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.study import Findings

ANGLE, AXIS = 0.7, np.array([2.0, -1.0, 2.0]) / 3.0
STRETCHES = np.array([1.3, 0.95, 0.8])
STRETCH = 1.15  # of the bar that is pulled


def constitutive(lab: Lab) -> Findings:
    """Measures against a known rotation and stretch; laws against their energy."""
    return Findings("Strain, stress, constitutive laws", TEXT, [_measures().table, _laws().table])


def known() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A rotation R (Rodrigues), a stretch U about axes that are not those of space, and F = R U."""
    X = np.array([[0, -AXIS[2], AXIS[1]], [AXIS[2], 0, -AXIS[0]], [-AXIS[1], AXIS[0], 0]])
    R = np.eye(3) + np.sin(ANGLE) * X + (1 - np.cos(ANGLE)) * X @ X
    Q = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [2.0, 0.3, 1.0]]))[0]
    return R, Q * STRETCHES @ Q.T, Q


def _measures() -> Compared:
    table = Compared("Strain and stress measures of F = R U with R and U known")
    R, U, Q = known()
    F, one = R @ U, np.eye(3)
    body = Solid(pl.mesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), pl.NeoHookean(young=1e5, poisson=0.3))
    q, each = (body.mesh.nodes @ F.T).ravel(), (len(body.mesh.cells), 1, 1)
    rows = {
        "rotation R (polar)": (R, measures.rotation(F)),
        "right stretch U": (U, measures.right_stretch(F)),
        "right Cauchy–Green C = U²": (U @ U, measures.right_cauchy_green(F)),
        "Green–Lagrange E = ½(U² − I)": (0.5 * (U @ U - one), measures.green_lagrange(F)),
        "Biot U − I (corotational)": (U - one, measures.biot(F)),
        "Hencky ln U": (Q * np.log(STRETCHES) @ Q.T, measures.hencky(F)),
        "principal stretches": (np.sort(STRETCHES)[::-1], measures.principal_stretches(F)),
        "small strain of a small stretch": (1e-3 * (U - one), measures.small_strain(one + 1e-3 * (U - one))),
        "Green–Lagrange, in a body": (np.tile(0.5 * (U @ U - one), each), body.strain(q, "green")),
        "Hencky, in a body": (np.tile(Q * np.log(STRETCHES) @ Q.T, each), body.strain(q, "hencky")),
    }
    for name, (expected, measured) in rows.items():
        table.add(name, "of a known F", expected, measured, unit="1", allowed=1e-10)
    P = body.material.stress(F)  # pyright: ignore[reportAttributeAccessIssue]
    sigma = measures.cauchy(F, P)
    back = np.linalg.inv(F)
    table.add(
        "second Piola–Kirchhoff",
        "J F⁻¹ σ F⁻ᵀ (10)",
        np.linalg.det(F) * back @ sigma @ back.T,
        measures.second_piola_kirchhoff(F, P),
        unit="Pa",
        allowed=1e-10,
    )
    table.add(
        "Cauchy, in a body",
        "of the law at F",
        np.tile(sigma, each),
        body.stress(q, "cauchy"),
        unit="Pa",
        allowed=1e-8,
    )
    return table


def _laws() -> Compared:
    table = Compared("Every constitutive law of the registry")
    for material in registry:
        name = _name(material)
        _, U, _ = known()
        F = U / np.cbrt(np.linalg.det(U)) if material.incompressible else U
        numeric, mean = derivative(material, F), block_stress(material, F)
        numeric, mean = (_without_pressure(F, P) if material.incompressible else P for P in (numeric, mean))
        table.add(name, "P = ∂W/∂F of a block, W differentiated", numeric, mean, unit="Pa", allowed=1e-6)
        if isinstance(material, Isotropic) or material.incompressible:
            pull, expected = tension(material), float(material.uniaxial(STRETCH))
            table.add(name, f"bar pulled to {STRETCH}", expected, pull, unit="Pa", allowed=1e-5)
    return table


def _name(material: Material) -> str:
    inner = getattr(material, "law", None) or getattr(material, "material", None)
    small = ", small strain" if getattr(material, "small_strain", False) else ""
    return type(material).__name__ + small + (f" {type(inner).__name__}" if inner is not None else "")


def derivative(material: Material, F: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """∂ψ/∂F (3, 3) [Pa] by differences of the stored energy."""
    P = np.empty((3, 3))
    for i, j in np.ndindex(3, 3):
        d = np.zeros((3, 3))
        d[i, j] = step
        P[i, j] = (material.energy(F + d) - material.energy(F - d)) / (2 * step)
    return P


def block_stress(material: Material, F: np.ndarray) -> np.ndarray:
    """Mean nominal stress (3, 3) [Pa] of a block whose nodes go with F: Σ f ⊗ X / V over its nodes."""
    mesh = pl.mesh.box((0.1, 0.08, 0.06), cells=(2, 1, 1))
    body = Solid(mesh, material)
    X = body.mesh.nodes
    return body.reactions((X @ F.T).ravel()).T @ X / mesh.volume


def _without_pressure(F: np.ndarray, P: np.ndarray) -> np.ndarray:
    """What an incompressible law determines: P less the multiple of F⁻ᵀ that makes σ traceless."""
    return P - np.trace(P @ F.T) / 3.0 * np.linalg.inv(F).T


def tension(material: Material) -> float:
    """Nominal stress [Pa] of a bar whose ends are drawn apart, by the force of its supports over its area."""
    size = (0.1, 0.04, 0.04)
    mesh = pl.mesh.box(size, cells=(2, 1, 1))
    fixed = np.column_stack([mesh.nodes[:, k] < 1e-9 for k in range(3)])
    end = mesh.nodes[:, 0] > size[0] - 1e-9
    fixed[end, 0] = True
    body = Solid(mesh, material, fixed=fixed)
    robot = pl.Robot(body)
    drawn = body.move_supports(body.q0, translation=((STRETCH - 1) * size[0], 0, 0), nodes=end)
    result = pl.static(robot, state=replace(robot.rest, q=drawn), tolerance=TIGHT)
    force = body.reactions(result.q, z=result.state.internal)[body.mesh.nodes[:, 0] > size[0] - 1e-9, 0].sum()
    return float(force) / (size[1] * size[2])


TEXT = (
    "Measures of strain are compared for a rotation and a stretch that are known beforehand. Each law is "
    "put into a block of finite elements that is deformed as a whole: the mean of its forces must be the "
    "derivative of the stored energy. Isotropic laws are also pulled: the equilibrium of the bar against "
    "the law's own tension curve. (The report's E = C − I and E = ½(U − I) lack their ½ and square.)"
)

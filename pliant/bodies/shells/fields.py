"""Stress of shells and membranes in their triangles or at their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bodies.shells.bending import CENTRE, curvature_of_rotations
from pliant.bodies.shells.shear import shear_of_rotations
from pliant.errors import InputError, unknown_name

if TYPE_CHECKING:
    from pliant.bodies.shells.assembly import Posture
    from pliant.bodies.shells.shell import Shell
    from pliant.mesh.sheets import Sheet

SIDES = {"front": 0.5, "middle": 0.0, "back": -0.5}
MIDDLE_SHEAR = 1.5  # shear stress in the middle of a wall over its mean
MEASURES = ("cauchy", "von_mises")


def resultants(body: Shell, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces (ne, 3) [N/m] and moments (ne, 3) [N] per width, as (11, 22, 12)."""
    at = _posture(body, q)
    P = np.empty_like(at.eps)
    for law, chosen in body.assembly.laws:
        P[chosen] = law.stress(at.eps[chosen])
    h = body.thickness[:, None]
    return h * P, body.bending * h**3 / 12.0 * np.einsum("eij,ej->ei", body.moduli, curvatures(body, at.phi))


def shear_forces(body: Shell, q: np.ndarray) -> np.ndarray:
    """Q (ne, 2) [N/m] per width in the middles of triangles, as (13, 23)."""
    if body.theory != "thick":
        raise InputError(
            "shear forces",
            expected='a shell with theory="thick"',
            got=f'theory="{body.theory}", where normals stay normal',
            hint="The forces of a thin one follow from the slope of its moments.",
        )
    B = shear_of_rotations(body.triangles, body.softness, CENTRE)[:, 0]
    return np.einsum("eij,ejk,ek->ei", body.shear_rigidity, B, _turns(body, _posture(body, q).phi))


def curvatures(body: Shell, phi: np.ndarray) -> np.ndarray:
    """κ (ne, 3) [1/m] in the middles of triangles, for turns φ (ne, 3, 3) of corners in ascending order."""
    B = curvature_of_rotations(body.triangles, body.softness, CENTRE)[:, 0]
    return np.einsum("eik,ek->ei", B, _turns(body, phi))


def _turns(body: Shell, phi: np.ndarray) -> np.ndarray:
    """(θx₁, θy₁, θx₂, θy₂, θx₃, θy₃) (ne, 6) of turns φ of corners in ascending order."""
    rank = np.argsort(np.argsort(body.triangles.cells, axis=1), axis=1)
    return np.take_along_axis(phi, rank[:, :, None], axis=1)[:, :, :2].reshape(len(phi), 6)


def _posture(body: Shell, q: np.ndarray) -> Posture:
    at = body.assembly.posture(q)
    if at is None:
        raise InputError("q", expected="triangles that have not collapsed", got="a collapsed one")
    return at


def stress(body: Shell, q: np.ndarray, measure: str, at: str, side: str | None) -> np.ndarray:
    """See `Shell.stress`."""
    _check(measure, at)
    if side is not None and side not in SIDES:
        raise unknown_name("side", side, SIDES)
    forces, moments = resultants(body, q)
    posture = _posture(body, q)
    across = np.empty(len(forces))
    for law, chosen in body.assembly.laws:
        across[chosen] = law.across(posture.eps[chosen])
    h = body.thickness[:, None]
    faces = [side] if side else ["middle"] if measure == "cauchy" else ["front", "back"]
    values = []
    for face in faces:
        plane = forces / h + SIDES[face] * 12.0 / h**2 * moments
        sheared = body.theory == "thick" and face == "middle"
        shear = MIDDLE_SHEAR * shear_forces(body, q) / h if sheared else None
        stresses = measured(plane, posture.U, posture.T, across, measure, shear)
        values.append(placed(body.mesh, stresses, at))
    return np.max(values, axis=0)


def measured(
    P: np.ndarray,
    U: np.ndarray,
    T: np.ndarray,
    across: np.ndarray,
    measure: str,
    shear: np.ndarray | None = None,
) -> np.ndarray:
    """Cauchy stress (ne, 3, 3) of P (ne, 3) in frames T, or its von Mises norm (ne,); λ₃ = `across`.

    shear (ne, 2) [Pa]: σ₁₃ and σ₂₃, if any.
    """
    full = lambda s: np.stack([np.stack([s[:, 0], s[:, 2]], -1), np.stack([s[:, 2], s[:, 1]], -1)], -2)
    stretch = full(U)
    plane = full(P) @ stretch / (np.linalg.det(stretch) * across)[:, None, None]
    sigma = np.zeros((len(P), 3, 3))
    sigma[:, :2, :2] = 0.5 * (plane + np.swapaxes(plane, 1, 2))
    if shear is not None:
        sigma[:, :2, 2] = sigma[:, 2, :2] = shear
    if measure == "von_mises":
        x, y = sigma[:, 0, 0], sigma[:, 1, 1]
        shears = sigma[:, 0, 1] ** 2 + sigma[:, 0, 2] ** 2 + sigma[:, 1, 2] ** 2
        return np.sqrt(x * x - x * y + y * y + 3.0 * shears)
    return T @ sigma @ np.swapaxes(T, 1, 2)


def placed(sheet: Sheet, values: np.ndarray, at: str) -> np.ndarray:
    """Values of the triangles (ne, …) as they are, or averaged at the nodes (k, …) by area."""
    if at == "cells":
        return values
    total, weight = np.zeros((len(sheet.nodes), *values.shape[1:])), np.zeros(len(sheet.nodes))
    share = sheet.areas.reshape(-1, *[1] * (values.ndim - 1)) * values
    for corner in range(3):
        np.add.at(total, sheet.cells[:, corner], share)
        np.add.at(weight, sheet.cells[:, corner], sheet.areas)
    return total / weight.reshape(-1, *[1] * (values.ndim - 1))


def _check(measure: str, at: str) -> None:
    if measure not in MEASURES:
        raise unknown_name("stress measure", measure, MEASURES)
    if at not in ("cells", "nodes"):
        raise unknown_name("place", at, ("cells", "nodes"))

"""Stress of shells and membranes in their triangles or at their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bodies.shells.bending import CENTRE, curvature_of_rotations
from pliant.errors import InputError, unknown_name

if TYPE_CHECKING:
    from pliant.bodies.shells.shell import Shell
    from pliant.mesh.sheets import Sheet

SIDES = {"front": 0.5, "middle": 0.0, "back": -0.5}
MEASURES = ("cauchy", "von_mises")


def resultants(body: Shell, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces (ne, 3) [N/m] and moments (ne, 3) [N] per width, as (11, 22, 12)."""
    at = body.assembly.posture(q)
    if at is None:
        raise InputError("q", expected="triangles that have not collapsed", got="a collapsed one")
    P = np.empty_like(at.eps)
    for law, chosen in body.assembly.laws:
        P[chosen] = law.stress(at.eps[chosen])
    h = body.thickness[:, None]
    return h * P, body.bending * h**3 / 12.0 * np.einsum("eij,ej->ei", body.moduli, curvatures(body, at.phi))


def curvatures(body: Shell, phi: np.ndarray) -> np.ndarray:
    """κ (ne, 3) [1/m] in the middles of triangles, for turns φ (ne, 3, 3) of corners in ascending order."""
    rank = np.argsort(np.argsort(body.triangles.cells, axis=1), axis=1)
    turns = np.take_along_axis(phi, rank[:, :, None], axis=1)[:, :, :2].reshape(len(phi), 6)
    return np.einsum("eik,ek->ei", curvature_of_rotations(body.triangles, CENTRE)[:, 0], turns)


def stress(body: Shell, q: np.ndarray, measure: str, at: str, side: str | None) -> np.ndarray:
    """See `Shell.stress`."""
    _check(measure, at)
    if side is not None and side not in SIDES:
        raise unknown_name("side", side, SIDES)
    forces, moments = resultants(body, q)
    posture = body.assembly.posture(q)
    assert posture is not None
    across = np.empty(len(forces))
    for law, chosen in body.assembly.laws:
        across[chosen] = law.across(posture.eps[chosen])
    h = body.thickness[:, None]
    faces = [side] if side else ["middle"] if measure == "cauchy" else ["front", "back"]
    values = []
    for face in faces:
        plane = forces / h + SIDES[face] * 12.0 / h**2 * moments
        values.append(placed(body.mesh, measured(plane, posture.U, posture.T, across, measure), at))
    return np.max(values, axis=0)


def measured(P: np.ndarray, U: np.ndarray, T: np.ndarray, across: np.ndarray, measure: str) -> np.ndarray:
    """Cauchy stress (ne, 3, 3) of P (ne, 3) in frames T, or its von Mises norm (ne,); λ₃ = `across`."""
    full = lambda s: np.stack([np.stack([s[:, 0], s[:, 2]], -1), np.stack([s[:, 2], s[:, 1]], -1)], -2)
    stretch = full(U)
    sigma = full(P) @ stretch / (np.linalg.det(stretch) * across)[:, None, None]
    sigma = 0.5 * (sigma + np.swapaxes(sigma, 1, 2))
    if measure == "von_mises":
        x, y, s = sigma[:, 0, 0], sigma[:, 1, 1], sigma[:, 0, 1]
        return np.sqrt(x * x - x * y + y * y + 3.0 * s * s)
    return T[:, :, :2] @ sigma @ np.swapaxes(T[:, :, :2], 1, 2)


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

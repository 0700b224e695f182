"""Transverse shear of thick sheets: the discrete Kirchhoff–Mindlin triangle (DKMT) of I. Katili (1993).

A side of length ℓ is a Timoshenko beam under constant shear force: of the turn ½(β_i + β_j) of the normal
against it, the share ρ/(1 + ρ) is shear and the rest bends it,

    γ_s = ρ/(1 + ρ) s·½(β_i + β_j),        ρ = 12 D_s/(G_s ℓ²)

with the stiffness D_s of bending and G_s of shear along the side. Between the sides γ is linear, with values
at the corners that agree with both sides there. Thin sheets (ρ → 0) have no shear and cannot lock: the
triangle is then that of Kirchhoff, see `bending`.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.shells.bending import MIDDLES, mean_turns
from pliant.bodies.shells.triangle import Triangles

SHEAR_CORRECTION = 5.0 / 6.0  # of a homogeneous wall, whose shear stress is a parabola across it


def shear_softness(triangles: Triangles, D: np.ndarray, G: np.ndarray) -> np.ndarray:
    """ρ (ne, 3) of the sides, for stiffness D (ne, 3, 3) [N·m] of bending and G (ne, 2, 2) [N/m] of shear."""
    square = (triangles.sides**2).sum(axis=2)
    s = triangles.sides / np.sqrt(square)[..., None]
    curvature = np.stack([s[..., 0] ** 2, s[..., 1] ** 2, 2.0 * s[..., 0] * s[..., 1]], axis=2)
    bending = np.einsum("eki,eij,ekj->ek", curvature, D, curvature)
    return 12.0 * bending / (np.einsum("eki,eij,ekj->ek", s, G, s) * square)


def shear_of_rotations(triangles: Triangles, softness: np.ndarray, at: np.ndarray) -> np.ndarray:
    """B (ne, n, 2, 6) with (γ₁₃, γ₂₃) = B (θx₁, θy₁, θx₂, θy₂, θx₃, θy₃) at area coordinates `at` (n, 3)."""
    s = triangles.sides / np.linalg.norm(triangles.sides, axis=2, keepdims=True)
    side = (
        np.einsum("eki,ekij->ekj", s, mean_turns(len(triangles))) * (softness / (1.0 + softness))[..., None]
    )
    meeting = np.stack([s, np.roll(s, 1, axis=1)], axis=2)  # (ne, corner, side, 2)
    corner = np.linalg.solve(meeting, np.stack([side, np.roll(side, 1, axis=1)], axis=2))
    return np.einsum("na,eaij->enij", at, corner)


def shear_stiffness(triangles: Triangles, G: np.ndarray, softness: np.ndarray) -> np.ndarray:
    """(ne, 6, 6) [N·m] of the corner rotations, for shear stiffness G (ne, 2, 2) [N/m] per width."""
    B = shear_of_rotations(triangles, softness, MIDDLES)
    weight = triangles.area[:, None, None] / 3.0
    return np.einsum("enak,eab,enbl->ekl", B, weight * G, B, optimize=True)

"""Bending stiffness of triangles: discrete Kirchhoff (DKT) and Kirchhoff–Mindlin (DKMT) ones.

In the frame of the deformed triangle all corners lie in its plane, so that corner rotations alone bend it.
The normal turns by β = (θ_y, −θ_x), quadratic over the triangle; in the middle of a side with direction s

    β = (I − 3/(2(1 + ρ)) s sᵀ) ½(β_i + β_j),    κ = (∂β_x/∂x, ∂β_y/∂y, ∂β_x/∂y + ∂β_y/∂x)

with ρ how much softer the side is in shear than in bending, see `shear`; ρ = 0 is Kirchhoff's hypothesis for
a cubic deflection along the side. κ is linear over the triangle, and constant curvature is exact for any ρ.
(J.-L. Batoz, K.-J. Bathe, L.-W. Ho, 1980; I. Katili, 1993.)
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.shells.triangle import Triangles

# Area coordinates of the middles of the sides, which integrate κᵀDκ exactly, and of the centre.
MIDDLES = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
CENTRE = np.full((1, 3), 1.0 / 3.0)


def curvature_of_rotations(triangles: Triangles, softness: np.ndarray, at: np.ndarray) -> np.ndarray:
    """B (ne, n, 3, 6) [1/m] with κ = B (θx₁, θy₁, θx₂, θy₂, θx₃, θy₃) at area coordinates `at` (n, 3).

    softness (ne, 3): ρ of the sides.
    """
    beta = _nodal_turns(triangles, softness)
    g = triangles.gradient
    corner = (4.0 * at[:, :, None] - 1.0) * g[:, None]  # (ne, n, 3, 2)
    following = np.roll(at, -1, axis=1)
    side = 4.0 * (at[:, :, None] * np.roll(g, -1, axis=1)[:, None] + following[:, :, None] * g[:, None])
    slope = np.einsum("enad,eaik->endik", np.concatenate([corner, side], axis=2), beta)  # ∂β_i/∂x_d
    rows = [slope[:, :, 0, 0], slope[:, :, 1, 1], slope[:, :, 1, 0] + slope[:, :, 0, 1]]
    return np.stack(rows, axis=2)


def bending_stiffness(triangles: Triangles, D: np.ndarray, softness: np.ndarray) -> np.ndarray:
    """(ne, 6, 6) [N·m] of the corner rotations, for bending stiffness D (ne, 3, 3) [N·m] per width."""
    B = curvature_of_rotations(triangles, softness, MIDDLES)
    weight = triangles.area[:, None, None] / 3.0
    return np.einsum("enak,eab,enbl->ekl", B, weight * D, B, optimize=True)


def corner_turns(count: int) -> np.ndarray:
    """β (count, 3, 2, 6) at the corners, of the six corner rotations."""
    beta = np.zeros((count, 3, 2, 6))
    for a in range(3):
        beta[:, a, 0, 2 * a + 1] = 1.0
        beta[:, a, 1, 2 * a] = -1.0
    return beta


def mean_turns(count: int) -> np.ndarray:
    """½(β_i + β_j) (count, 3, 2, 6) of the ends of the sides, of the six corner rotations."""
    beta = corner_turns(count)
    return 0.5 * (beta + np.roll(beta, -1, axis=1))


def _nodal_turns(triangles: Triangles, softness: np.ndarray) -> np.ndarray:
    """β (ne, 6, 2, 6) at the corners and the middles of the sides, of the six corner rotations."""
    s = triangles.sides / np.linalg.norm(triangles.sides, axis=2, keepdims=True)
    along = s[..., :, None] * s[..., None, :]
    share = np.eye(2) - 1.5 * along / (1.0 + softness)[..., None, None]
    middle = np.einsum("eaij,eajk->eaik", share, mean_turns(len(triangles)))
    return np.concatenate([corner_turns(len(triangles)), middle], axis=1)

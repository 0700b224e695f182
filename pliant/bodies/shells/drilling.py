"""In-plane stiffness of triangles whose corners also turn in their plane: Felippa's optimal triangle (OPT).

The strain ε of the corners' positions and the corner rotations ϑ (3,) relative to the mean rotation give

    ε_b = ε + L ϑ,        E = h A ψ(ε_b) + ½ ϑᵀ K_h ϑ

The first part is the force-lumping triangle of Bergan and Felippa with α = 3/2; K_h, proportional to β₀,
keeps the rotations in place. With β₀ = ½(1 − 4ν²) rectangles of two triangles bend in their plane as they
should, whatever their aspect ratio. (C. A. Felippa, A study of optimal membrane triangles with drilling
freedoms, 2003.)

Two things that do not matter to a flat plate are taken care of here.

Curved sheets: a rotation about the normal of one facet bends its neighbour, so that K_h locks facets that
rise above each other by more than their thickness. There β₀ is divided by 1 + 30 (rise/h)², rise² = 2A
sin²γ, γ the angle between the facet and the sheet at its corners; what is left of K_h is never much softer
than bending, so that it keeps the rotations in place. L locks facets of saddles, such as twisted strips, but
not those of cylinders and spheres: where the Gaussian curvature K is negative, α is divided by
1 + (40 A²|K|/h²)². Both come back as the mesh is refined.

Stretched sheets: the moments of L ϑ, which cancel between flat neighbours, do not when these tilt against
each other. Where a sheet is thin they overcome its bending stiffness at a strain of about 2h/αℓ, ℓ the
length of a side; so α is lowered on slender sides, to 2h/ℓ over the largest strain to be expected. Any α
that neighbours agree on passes the patch test.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.shells.triangle import Triangles
from pliant.mesh.topology import group_rows

LARGEST_ALPHA = 1.5  # α of the optimal triangle
LEAST_BETA = 0.01  # β₀ of flat sheets that still keeps rotations in place
ALPHA_RELIEF = 40.0  # how fast α falls with A²|K|/h² where K < 0
BETA_RELIEF = 30.0  # how fast β₀ falls with (rise/h)²

# Natural strains (along sides 12, 23, 31) of the corner rotations, at the three corners.
_NATURAL = np.array(
    [
        [[1, 2, 1], [0, 1, -1], [-1, -1, -2]],
        [[-2, -1, -1], [1, 1, 2], [-1, 0, 1]],
        [[1, -1, 0], [-1, -2, -1], [2, 1, 1]],
    ],
    float,
)


def strain_of_rotations(triangles: Triangles, alpha: np.ndarray) -> np.ndarray:
    """L (ne, 3, 3): what the corner rotations ϑ add to (ε₁₁, ε₂₂, 2ε₁₂); α (ne, 3) of the sides.

    The normal force on a side, ℓσ_nn, acts on its ends with moments ±α ℓ²σ_nn/12; the neighbour's cancel them
    under uniform stress.
    """
    x, y = triangles.sides[..., 0], triangles.sides[..., 1]
    normal = alpha[:, None, :] * np.stack([y * y, x * x, -2.0 * x * y], axis=1)
    return (np.roll(normal, 1, axis=2) - normal) / (12.0 * triangles.area[:, None, None])


def facet_rise(triangles: Triangles, normals: np.ndarray, thickness: np.ndarray) -> np.ndarray:
    """(rise/h)² (ne,): how far facets rise above each other; normals (k, 3) of the sheet at its nodes."""
    facet = triangles.frame[:, :, 2]
    sine = 1.0 - np.einsum("ei,eai->ea", facet, normals[triangles.cells]) ** 2
    return 2.0 * triangles.area * sine.mean(axis=1) / thickness**2


def saddle_rise(triangles: Triangles, normals: np.ndarray, thickness: np.ndarray) -> np.ndarray:
    """A²|K|/h² (ne,) where the Gaussian curvature K, of how the normals (k, 3) turn, is negative; else 0."""
    gauss = np.linalg.det(triangles.curvature(normals))
    return triangles.area**2 * np.maximum(-gauss, 0.0) / thickness**2


def lumping_factor(
    triangles: Triangles, thickness: np.ndarray, strain: float, saddle: np.ndarray
) -> np.ndarray:
    """α (ne, 3) of the sides, shared by neighbours: 3/2/(1 + (40 A²|K|/h²)²), and at most 2h/ℓ over `strain`.

    thickness (ne,) [m]; saddle (ne,): A²|K|/h².
    """
    length = np.linalg.norm(triangles.sides, axis=2)
    ends = np.stack([triangles.cells, np.roll(triangles.cells, -1, axis=1)], axis=2).reshape(-1, 2)
    _, number = group_rows(np.sort(ends, axis=1))
    both = lambda of_cell: (np.bincount(number, np.repeat(of_cell, 3)) / np.bincount(number))[number]
    bound = 2.0 * both(thickness).reshape(-1, 3) / length / strain
    return np.minimum(bound, LARGEST_ALPHA / (1.0 + (ALPHA_RELIEF * both(saddle).reshape(-1, 3)) ** 2))


def rotation_stiffness(triangles: Triangles, C: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """K_h (ne, 3, 3) [N·m] of the corner rotations, for the stiffness C (ne, 3, 3) [N/m] of stretch."""
    side, area = triangles.sides, triangles.area[:, None, None]
    square = (side**2).sum(axis=2)
    natural = (2.0 / 3.0) * area[..., None] * _NATURAL / square[:, None, :, None]
    middle = 0.5 * (natural + np.roll(natural, -1, axis=1))  # (ne, 3, 3, 3) at the middles of the sides
    E = _to_natural(side, square, triangles.area)
    E = np.einsum("eia,eij,ejb->eab", E, C, E, optimize=True)
    K = np.einsum("emai,eab,embj->eij", middle, E, middle, optimize=True)
    return 0.75 * beta[:, None, None] * area * K


def drilling_factor(rise: np.ndarray, poisson: np.ndarray) -> np.ndarray:
    """β₀ (ne,) = ½(1 − 4ν²)/(1 + 30 (rise/h)²), for (rise/h)² and ν (ne,)."""
    return np.maximum(0.5 * (1.0 - 4.0 * poisson**2), LEAST_BETA) / (1.0 + BETA_RELIEF * rise)


def _to_natural(side: np.ndarray, square: np.ndarray, area: np.ndarray) -> np.ndarray:
    """T (ne, 3, 3) with (ε₁₁, ε₂₂, 2ε₁₂) = T ε_n, ε_n the strains along the sides.

    ε_n = (x² ε₁₁ + y² ε₂₂ + xy 2ε₁₂)/l² for a side (x, y) of length l.
    """
    after, before = np.roll(side, -1, axis=1), np.roll(side, 1, axis=1)
    rows = [
        after[..., 1] * before[..., 1],
        after[..., 0] * before[..., 0],
        -(after[..., 0] * before[..., 1] + after[..., 1] * before[..., 0]),
    ]
    return -np.stack(rows, axis=1) * square[:, None, :] / (4.0 * area[:, None, None] ** 2)

"""Geometric stiffness of contact between deformable bodies: a push turns with the facet it acts on.

With s (2,) the motion of a sample along its facet and ω (2,) the slope that the facet gains under it,

    δ²gap = −2 s·ω,      ∂(λ ∂gap/∂q)/∂q = −λ (SᵀR + RᵀS),      s = S dq,  ω = R dq

so that K gains UᵀCU with U = [S; R] and C = [0 λ; λ 0]: of low rank, and between bodies that K's pattern does not couple.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra import SparseRows
from pliant.contact.contacts import Contacts
from pliant.contact.keeping import over_facets

FAINT = 1e-6  # of the largest force: pushes that turn nothing


def turning(contacts: Contacts, force: np.ndarray, q: np.ndarray) -> tuple[SparseRows, np.ndarray] | None:
    """U (4k, ndof) and C⁻¹ (4k, 4k) of the k contacts over facets that push with `force` (n,) [N]; None if there are none."""
    chosen = np.flatnonzero(over_facets(contacts) & (force > FAINT * force.max(initial=0.0)))
    if not len(chosen):
        return None
    mine = contacts.chosen(chosen)
    k, points = len(chosen), mine.stencil.point.reshape(-1, 4)
    slopes = _slopes(mine.points.positions(q)[points[:, 1:]], mine.normal, mine.tangents)
    S = mine.tangent_rows(q)
    R = [mine.rows(q, np.column_stack([np.zeros(k), slopes[:, a]]).ravel()) for a in (0, 1)]
    along = np.repeat(1.0 / force[chosen], 2)
    twice = np.arange(2 * k)
    C_inverse = np.zeros((4 * k, 4 * k))
    across = 2 * k + np.where(twice % 2 == 0, twice // 2, k + twice // 2)  # S by contact, R by tangent
    C_inverse[twice, across] = C_inverse[across, twice] = along
    return S.above(R[0]).above(R[1]), C_inverse


def _slopes(corners: np.ndarray, normal: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """∂wⱼ/∂(tangent a) (k, 2, 3) [1/m] of the barycentric weights of facets with corners (k, 3, 3)."""
    opposite = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)  # edge facing each corner
    inward = np.cross(normal[:, None], opposite)
    height = np.einsum("kji,kji->kj", inward, corners - np.roll(corners, -1, axis=1))
    return np.einsum("kji,kai->kaj", inward / height[..., None], tangents)

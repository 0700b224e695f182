"""Pushing contacts between bodies keep their facet while the sample stays over it, or a little beside it.

The nearest facet changes at every edge, and the normal jumps there: a sample that rests on an edge would go
to and fro between two facets for ever. Kept ones are measured from the plane of their facet, which turns
smoothly with its corners.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.stiffness import over_facets
from pliant.contact.surface_contacts import SurfaceContacts

OVERHANG = 0.1  # barycentric weight by which a sample may leave its facet
SAME_SIDE = 0.5  # cosine between the normals of a facet and of the one nearest now


def kept(
    fresh: Contacts, before: Contacts, force: np.ndarray, q: np.ndarray, overhang: float = OVERHANG
) -> Contacts:
    """`fresh` as detected at q, with the facets of earlier contacts that pushed (`force` (m,) [N])."""
    place = fresh.matched(before)
    pushed = (force > 0.0) & over_facets(before)
    mine = np.flatnonzero((place >= 0) & pushed[place] & (np.diff(fresh.stencil.ptr) == 4) & ~fresh.rigid)
    if not len(mine):
        return fresh
    at = fresh.stencil.ptr[mine, None] + np.arange(4)
    old = before.stencil.point[before.stencil.ptr[place[mine], None] + np.arange(4)]
    changed = (fresh.stencil.point[at] != old).any(axis=1) | ~over_facets(fresh)[mine]
    mine, at, old = mine[changed], at[changed], old[changed]
    if not len(mine):
        return fresh
    p = fresh.points.positions(q)
    normal, weights = _planes(p[old], before.normal[place[mine]])
    near = np.einsum("ke,kei->ki", fresh.stencil.weight[at], p[fresh.stencil.point[at]])
    offset = np.einsum("ki,ki->k", fresh.normal[mine], near) - fresh.gap[mine]  # radii and margins
    fits = (weights.min(axis=1) > -overhang) & (np.einsum("ki,ki->k", normal, fresh.normal[mine]) > SAME_SIDE)
    gap = np.einsum("ki,ki->k", normal, p[old[:, 0]] - p[old[:, 1]]) - offset
    return _overwritten(fresh, mine[fits], at[fits], old[fits], normal[fits], weights[fits], gap[fits])


def _planes(corners: np.ndarray, earlier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (k, 3) on the side of the earlier ones, and barycentric weights (k, 3) of the samples.

    corners (k, 4, 3): the sample, then the corners of its facet.
    """
    sample, a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    twice = np.einsum("ki,ki->k", across, across)
    part = lambda x, y: np.einsum("ki,ki->k", np.cross(x - sample, y - sample), across) / twice
    weights = np.column_stack([part(b, c), part(c, a), part(a, b)])
    side = np.sign(np.einsum("ki,ki->k", across, earlier)) / np.sqrt(twice)
    return across * side[:, None], weights


def _overwritten(fresh: Contacts, mine, at, points, normal, weights, gap) -> Contacts:
    """`fresh` with another facet for contacts `mine`; tangents go along."""
    if not len(mine):
        return fresh
    new = {name: getattr(fresh, name).copy() for name in ("gap", "normal", "tangents")}
    point, weight = fresh.stencil.point.copy(), fresh.stencil.weight.copy()
    first = new["tangents"][mine, 0]
    first = first - np.einsum("ki,ki->k", first, normal)[:, None] * normal
    first /= np.linalg.norm(first, axis=1)[:, None]
    new["gap"][mine], new["normal"][mine] = gap, normal
    new["tangents"][mine] = np.stack([first, np.cross(normal, first)], axis=1)
    point[at], weight[at] = points, np.column_stack([np.ones(len(mine)), -weights])
    if isinstance(fresh, SurfaceContacts):
        new["pull"] = fresh.pull.copy()
        new["pull"][at] = weight[at][..., None] * normal[:, None]
    return replace(fresh, **new, stencil=Stencil(fresh.stencil.ptr, point, weight))

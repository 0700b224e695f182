"""Contact stiffness: what K gains because pushes turn, and weights of sums change, as the robot moves.

It is −∂(Hᵀλ)/∂q at constant λ ≥ 0, of four parts:

    levers      −Σ f·∂²p/∂dq²           a push f turns the rigid region or section of a rod that it acts on
    obstacles   −λ JᵀCJ                 C = ∂²gap/∂p², for a sphere (I − nnᵀ)/(R + gap)
    facets      λ (SᵀR + RᵀS)           the push turns with the facet of another body that it acts on
    weights     β/ℓ Hᵀ(diag s − ssᵀ)H   the shares of a mode's contacts change, see `modes`

Bodies that touch are coupled by facets and weights in ways that K's pattern does not know, so that these are
a change UᵀCU of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.surface_contacts import SurfaceContacts

Change = tuple[SparseRows, np.ndarray]  # U (k, ndof) and C⁻¹, (k, k) or (k,) if it is diagonal, of UᵀCU
ROUND = 0.02  # of the robot's length: radius of an obstacle from which on points between samples are as these
SHARPEST_EDGE = 2e-3  # of the robot's length: the radius that edges of obstacles count as
NEGLIGIBLE_PUSH = 1e-6  # of the largest: pushes below it turn no facet …
NEGLIGIBLE_SHARE = 3e-3  # … and those of contacts of a mode below this
ON_EDGE = 1e-6  # |barycentric weight| below which what is touched is an edge or a corner, not a facet


def contact_stiffness(
    K: np.ndarray,
    robot: Any,
    contacts: Contacts,
    force: np.ndarray,
    q: np.ndarray,
    obstacles: dict[int, Obstacle],
    *,
    exact: bool = False,
) -> tuple[np.ndarray, Change | None]:
    """K with the contact stiffness under `force` (n,) [N] on its pattern, and the change of low rank or None.

    obstacles: by opponent number. exact: also facets under modes, and small shares of modes.
    """
    if not force.any():
        return K, None
    samples, push = contacts.on_samples(force)
    if obstacles or samples.points.turns:
        K = K.copy()
        add_levers(K, robot, samples, push, q)
        add_obstacles(K, robot, samples, push, q, obstacles)
    facets, single = None, len(samples) == len(contacts)  # else rows are sums of many samples
    if single or exact:
        least = NEGLIGIBLE_PUSH if single else NEGLIGIBLE_SHARE
        facets = facet_stiffness(samples, push, q, least)
    return K, joined(facets, contacts.weight_stiffness(force, q, exact=exact))


def joined(a: Change | None, b: Change | None) -> Change | None:
    """Two changes as one."""
    if a is None or b is None:
        return b if a is None else a
    U, (c, d) = a[0].above(b[0]), (a[1], b[1])
    if c.ndim == d.ndim == 1:
        return U, np.concatenate([c, d])
    n, m = len(c), len(d)
    C_inverse = np.zeros((n + m, n + m))
    C_inverse[:n, :n], C_inverse[n:, n:] = (x if x.ndim == 2 else np.diag(x) for x in (c, d))
    return U, C_inverse


def over_facets(contacts: Contacts) -> np.ndarray:
    """Whether each contact (n,) touches the plane of a facet."""
    ptr, weight = contacts.stencil.ptr, contacts.stencil.weight
    facet = (np.diff(ptr) == 4) & ~contacts.rigid
    facet[facet] = (np.abs(weight[ptr[:-1][facet, None] + np.arange(1, 4)]) > ON_EDGE).all(axis=1)
    return facet


def add_levers(K: np.ndarray, robot: Any, contacts: Contacts, force: np.ndarray, q: np.ndarray) -> None:
    """K −= Σ f·∂²p/∂dq², with f = λ ∂gap/∂p for each point p of a contact that hangs on a rotation."""
    stencil = contacts.stencil
    each = np.repeat(force, np.diff(stencil.ptr))
    pushed = np.flatnonzero((each != 0.0) & contacts.points.hinged[stencil.point])
    if not len(pushed):
        return
    f = np.zeros((contacts.points.size, 3))
    np.add.at(f, stencil.point[pushed], each[pushed, None] * contacts.gradient[pushed])
    block, second = contacts.points.second(q, f)
    acting = second.any(axis=(1, 2))  # most points of a skin with thousands of them are not pushed
    if acting.any():
        place, _ = robot.pattern.find(block[acting], block[acting])
        np.subtract.at(K, place, second[acting])


def add_obstacles(
    K: np.ndarray,
    robot: Any,
    contacts: Contacts,
    force: np.ndarray,
    q: np.ndarray,
    obstacles: dict[int, Obstacle],
) -> None:
    """K −= λ JᵀCJ: on a small obstacle as large as the stiffness of a soft robot.

    Points between samples that push across their facet slide over the obstacle as if it were flat.
    """
    pushing = np.flatnonzero(force > 0.0)
    entries = []  # rows and columns of blocks, and their values, of each contact
    for opponent, obstacle in obstacles.items():
        touching = pushing[contacts.opponent[pushing] == opponent]
        ptr = contacts.stencil.ptr
        turns = np.diff(ptr)[touching] == 1
        turns |= obstacle.round_at(contacts.position[touching], ROUND * robot.length)
        touching = touching[turns]
        if not len(touching):
            continue
        curvature = obstacle.curvature(contacts.position[touching], SHARPEST_EDGE * robot.length)
        for i in np.flatnonzero(curvature.any(axis=(1, 2))).tolist():
            block, J = contacts.jacobian_of(int(touching[i]), q)
            e, f = np.nonzero(block[:, None] >= block[None])  # the half of K that is stored
            turned = force[touching[i]] * curvature[i] @ J
            entries.append((block[e], block[f], np.swapaxes(J, 1, 2)[e] @ turned[f]))
    if not entries:
        return
    row, column, value = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    place, _ = robot.pattern.find(row, column)
    np.subtract.at(K, place[place >= 0], value[place >= 0])


def facet_stiffness(
    contacts: Contacts, force: np.ndarray, q: np.ndarray, least: float = NEGLIGIBLE_PUSH
) -> Change | None:
    """U (4k, ndof) and C⁻¹ (4k, 4k) of the k contacts over facets that push more than `least` of the largest.

    With s = S dq (2,) the motion of a sample along its facet and ω = R dq (2,) the slope that the facet gains
    under it, δ²gap = −2 s·ω: U = [S; R] and C = [0 λ; λ 0].
    """
    turns = over_facets(contacts)
    if isinstance(contacts, SurfaceContacts):
        turns |= contacts.sloped
    chosen = np.flatnonzero(turns & (force > least * force.max(initial=0.0)))
    if not len(chosen):
        return None
    pushing, k = contacts.take(chosen), len(chosen)
    slopes = _weight_slopes(pushing, q)
    S = pushing.tangent_rows(q)
    R = [pushing.rows(q, np.ascontiguousarray(slopes[:, a])) for a in (0, 1)]
    along = np.repeat(1.0 / force[chosen], 2)
    twice = np.arange(2 * k)
    across = 2 * k + np.where(twice % 2 == 0, twice // 2, k + twice // 2)  # S by contact, R by tangent
    C_inverse = np.zeros((4 * k, 4 * k))
    C_inverse[twice, across] = C_inverse[across, twice] = along
    return S.above(R[0]).above(R[1]), C_inverse


def _weight_slopes(contacts: Contacts, q: np.ndarray) -> np.ndarray:
    """∂weight/∂(tangent a) (nnz, 2) [1/m] on the stencil; zero for the samples themselves."""
    ptr, point, _ = contacts.stencil
    out = contacts.slope.copy() if isinstance(contacts, SurfaceContacts) else np.zeros((len(point), 2))
    single = np.flatnonzero(over_facets(contacts))
    at = ptr[:-1][single, None] + np.arange(1, 4)
    corners = contacts.points.positions(q)[point[at]]
    out[at] = np.swapaxes(_slopes(corners, contacts.normal[single], contacts.tangents[single]), 1, 2)
    return out


def _slopes(corners: np.ndarray, normal: np.ndarray, tangents: np.ndarray) -> np.ndarray:
    """∂wⱼ/∂(tangent a) (k, 2, 3) [1/m] of the barycentric weights of facets with corners (k, 3, 3)."""
    opposite = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)  # edge facing each corner
    inward = np.cross(normal[:, None], opposite)
    height = np.einsum("kji,kji->kj", inward, corners - np.roll(corners, -1, axis=1))
    return np.einsum("kji,kai->kaj", inward / height[..., None], tangents)

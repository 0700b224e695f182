"""Rows with friction in units of unit compliance, and the evidence for an answer in the user's units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import kernel
from pliant.solvers.solution import Reals

RIGID = 1e-14  # compliance, relative to the largest of the contacts, below which nothing moves …
STIFF = 1e-28  # … and of plain rows, which have different units


class Scaled(NamedTuple):
    """A problem without free rows; see `cone` for the order of rows. λ = d x."""

    W: Reals
    q: Reals
    mu: Reals
    lo: Reals
    hi: Reals
    x: Reals
    d: Reals


def scaled(W: Reals, q: Reals, mu: Reals, lo: Reals, hi: Reals, x: Reals) -> Scaled:
    """The problem in units that make all compliances 1; the two tangents of a contact share theirs.

    A normal that nothing moves cannot push: it counts as open. A plain row that nothing moves goes to the
    bound that its gap asks for.
    """
    p, n = len(lo), len(mu)
    d, fixed = units(W, p, n)
    S, r, low, high = _scaled(W, d), q * d, lo / d[:p], hi / d[:p]
    dead = np.flatnonzero(fixed[: p + n])
    if dead.size:
        S[dead], S[:, dead], S[dead, dead] = 0.0, 0.0, 1.0
        r[dead[dead >= p]] = 1.0
        rows = dead[dead < p]
        up = (low[rows] == -np.inf) | ((r[rows] < 0.0) & (high[rows] < np.inf))
        low[rows] = high[rows] = np.where(up, high[rows], low[rows])
    return Scaled(S, r, mu * d[p : p + n] / d[p + n :: 2], low, high, x / d, d)


@kernel
def _scaled(W, d):
    """dᵢ Wᵢⱼ dⱼ in one pass over memory."""
    S = np.empty_like(W)
    for i in range(len(d)):
        row, out, scale = W[i], S[i], d[i]
        for j in range(len(d)):
            out[j] = scale * row[j] * d[j]
    return S


def units(W: Reals, p: int, n: int) -> tuple[Reals, np.ndarray]:
    """(m,) factors λ = d x, and which rows nothing moves: they borrow from the rows that they belong to."""
    own = W.diagonal().copy()
    if p:
        own[:p] = np.abs(own[:p])  # equalities may be indefinite
        weak = np.flatnonzero(own[:p] <= STIFF * own[:p].max())
        own[weak] = np.abs(W[weak]).max(axis=1)
    along = own[p + n :].reshape(n, 2).mean(axis=1)
    most = max(own[p:].max(initial=0.0), 0.0)
    own[p + n :] = np.repeat(along, 2)
    fixed = own <= np.where(np.arange(len(own)) < p, 0.0, RIGID * most)
    if fixed.any():
        normal, across = own[p : p + n], own[p + n :: 2]
        other = np.where(fixed[p + n :: 2], most or own[:p].max(initial=0.0) or 1.0, across)
        borrowed = np.where(fixed[p : p + n], other, normal)
        own[:p][fixed[:p]] = own.max(initial=0.0) or 1.0
        own[p + n :] = np.where(fixed[p + n :], np.repeat(borrowed, 2), own[p + n :])
        own[p : p + n] = borrowed
    return 1.0 / np.sqrt(own), fixed


def evidence(
    d: Reals, q: Reals, mu: Reals, lo: Reals, hi: Reals, x: Reals, w: Reals
) -> tuple[float, float, float]:
    """(complementarity, cone, dissipation) relative to the data, see `FrictionCertificate`; d by `units`."""
    p, n = len(lo), len(mu)
    effort, gap = x / d, w * d
    plain = effort[:p]
    size = max(_largest(q * d), _largest(plain[(x[:p] == lo) | (x[:p] == hi)])) or 1.0
    normal, tangent, slip = effort[p : p + n], effort[p + n :].reshape(n, 2), gap[p + n :].reshape(n, 2)
    bounded = plain - np.clip(plain - gap[:p], lo / d[:p], hi / d[:p])
    complementarity = max(_largest(bounded), _largest(np.minimum(normal, gap[p : p + n])))
    radius = mu * np.maximum(normal, 0.0) * (d[p : p + n] / d[p + n :: 2])
    aim = tangent - slip
    share = np.minimum(radius / np.maximum(np.hypot(aim[:, 0], aim[:, 1]), 1e-300), 1.0)
    wrong = tangent - share[:, None] * aim
    cone = float((np.hypot(tangent[:, 0], tangent[:, 1]) - radius).max(initial=0.0))
    return complementarity / size, cone / size, _largest(np.hypot(wrong[:, 0], wrong[:, 1])) / size


def _largest(values: Reals) -> float:
    return float(np.abs(values).max(initial=0.0))

"""Evidence for a solution, computed from the user's own arrays: values, multipliers and residuals in user units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.solvers.cholesky_update import solve
from pliant.solvers.descent import contact_multipliers
from pliant.solvers.newton import ETA, MU, SIGN, X
from pliant.solvers.pieces import OPEN, RESPONSE, SHIFT, VALUE, inner, open_values
from pliant.solvers.problem import block, offsets

COST, STATIONARITY, COMPLEMENTARITY, FEASIBILITY, EPSILON, SCALARS = range(6)


class Report(NamedTuple):
    """Where the parts begin in the vector of results."""

    effort: int  # (na,)
    displacement: int  # (na,)
    effort_multiplier: int  # (na,)
    displacement_multiplier: int  # (na,)
    effector: int  # (ne,)
    contact: int  # (nc,)
    gap: int  # (nc,)
    gap_multiplier: int  # (nc,)
    contact_multiplier: int  # (nc,)
    length: int


@inner
def report(ne, na, nc):
    """See `Report`."""
    contact = SCALARS + 4 * na + ne
    return Report(
        SCALARS, SCALARS + na, SCALARS + 2 * na, SCALARS + 3 * na, SCALARS + 4 * na, contact, contact + nc,
        contact + 2 * nc, contact + 3 * nc, contact + 4 * nc,
    )  # fmt: skip


@inner
def certify(
    data,
    ne,
    na,
    nc,
    eps,
    rho,
    C,
    O,
    T,
    L,
    members,
    place,
    A,
    side,
    row,
    held,
    wanted,
    target,
    Q,
    duals,
    scale,
    size,
    out,
):
    """Fill the vector of results at the present point."""
    at, to = offsets(ne, na, nc), report(ne, na, nc)
    _refine(C, O, T, L, members, A)
    contact_multipliers(C, T, L, members, place, row, held, wanted, target, duals)
    out[STATIONARITY] = _stationarity(O, T, A, side, place, row, held, Q, duals, size)
    for j in range(na):
        out[to.effort + j] = scale[j] * A[X, j]
        out[to.effort_multiplier + j] = A[ETA, j] / scale[j]
        out[to.displacement_multiplier + j] = 0.0
    for n in range(row[len(row) - 1]):
        if row[n] >= nc + ne:
            j = row[n] - nc - ne
            out[to.displacement_multiplier + j] = held[MU, n] * scale[j]
    for c in range(nc):
        s = scale[na + c]
        out[to.contact + c] = s * max(T[na + VALUE, c], 0.0) if place[c] >= 0 else 0.0
        out[to.gap_multiplier + c] = duals[0, c] * s
        out[to.contact_multiplier + c] = duals[1, c] / s if s > 0.0 else 0.0
    _evaluate(data, ne, na, nc, eps, rho, out)
    out[COMPLEMENTARITY] = _complementarity(nc, T, place, scale, na, out)
    out[FEASIBILITY] = _feasibility(data, at.bounds, na, out, to.effort)
    out[EPSILON] = eps


@inner
def _refine(C, O, T, L, members, A):
    """Values at x from the factor, corrected for the shift of W_cc: two rounds of λ ← λ − (W + shift)⁻¹(Wλ + free)."""
    na, nc = len(O) - 1, len(C)
    k, z = members[nc], L[nc]
    value, free, effort = T[na + VALUE], T[na + OPEN], T[na + RESPONSE]
    open_values(O, A[X], free, nc)
    for a in range(k):
        effort[a] = 0.0
    for _ in range(3):
        for a in range(k):
            weights, total = C[members[a]], free[members[a]] - SHIFT * effort[a]
            for b in range(k):
                total += weights[members[b]] * effort[b]
            z[a] = -total
        solve(L, k, z)
        for a in range(k):
            effort[a] += z[a]
    for r in range(len(value)):
        value[r] = free[r]
    for a in range(k):
        weights, force = C[members[a]], effort[a]
        for r in range(len(value)):
            value[r] += force * weights[r]
    for a in range(k):
        value[members[a]] = effort[a]


@inner
def _stationarity(O, T, A, side, place, row, held, Q, duals, size):
    """Largest error of ∂L/∂λ_a = 0 and of the multipliers' signs, relative to the terms of the gradient.

    The prices of the rows are still where `contact_multipliers` left them.
    """
    na, nc, worst = len(side), len(place), 0.0
    price = T[na + RESPONSE]
    for j in range(na):
        effects, total = O[j], -2.0 * Q[na, j] - A[ETA, j]
        for r in range(len(price)):
            total += effects[r] * price[r]
        for c in range(nc):
            if place[c] >= 0:
                total -= effects[c] * duals[0, c]
        for i in range(na):
            total += 2.0 * Q[j, i] * A[X, i]
        worst = max(worst, abs(total))
        if not total == total:
            return np.nan
    for n in range(row[len(row) - 1]):
        norm = 0.0
        for j in range(na):
            norm = max(norm, abs(T[j, row[n]]))
        worst = max(worst, -held[SIGN, n] * held[MU, n] * norm)
        if row[n] < nc:
            worst = max(worst, -(duals[0, row[n]] if place[row[n]] >= 0 else duals[1, row[n]]) * norm)
    return worst / size if size > 0.0 else worst


@inner
def _evaluate(data, ne, na, nc, eps, rho, out):
    """Displacement, effector error, gap and cost from the efforts, in user units."""
    at, to = offsets(ne, na, nc), report(ne, na, nc)
    Wea, Wec = block(data, at.Wea, ne, na), block(data, at.Wec, ne, nc)
    Waa, Wac, Wcc = block(data, at.Waa, na, na), block(data, at.Wac, na, nc), block(data, at.Wcc, nc, nc)
    cost = 0.0
    for e in range(ne):
        total = data[at.de + e]
        for j in range(na):
            total += Wea[e, j] * out[to.effort + j]
        for c in range(nc):
            total += Wec[e, c] * out[to.contact + c]
        out[to.effector + e] = total
        cost += data[at.weights + e] * total * total
    for c in range(nc):
        out[to.gap + c] = data[at.dc + c]
    for c in range(nc):
        force, compliance = out[to.contact + c], Wcc[c]
        if force != 0.0:
            for i in range(nc):
                out[to.gap + i] += force * compliance[i]
    for i in range(na):
        total, effort, previous = 0.0, out[to.effort + i], data[at.previous + i]
        for j in range(na):
            total += Waa[i, j] * out[to.effort + j]
            other = out[to.effort + j] - data[at.previous + j]
            cost += Waa[i, j] * (eps * effort * out[to.effort + j] + rho * (effort - previous) * other)
        for c in range(nc):
            total += Wac[i, c] * out[to.contact + c]
            out[to.gap + c] += Wac[i, c] * effort
        out[to.displacement + i] = total + data[at.da + i]
    out[COST] = cost


@inner
def _complementarity(nc, T, place, scale, na, out):
    """max |min(λ, gap)| in scaled units, relative to the gaps that open contacts would have."""
    contact, gap = len(out) - 4 * nc, len(out) - 3 * nc
    worst, size = 0.0, 0.0
    for c in range(nc):
        s = scale[na + c]
        size = max(size, abs(T[na + OPEN, c]))
        if s > 0.0:
            worst = max(worst, abs(min(out[contact + c] / s, s * out[gap + c])))
        elif out[gap + c] < 0.0:
            worst = max(worst, 1.0)
    return worst / size if size > 0.0 else worst


@inner
def _feasibility(data, begin, na, out, effort):
    """Largest violation of a bound, relative to its size or that of the value."""
    worst = 0.0
    for kind in range(2):
        for j in range(na):
            value = out[effort + kind * na + j]
            low, high = data[begin + 2 * kind * na + j], data[begin + (2 * kind + 1) * na + j]
            over = max(low - value, value - high)
            if over > 0.0:
                bound = low if low > value else high
                worst = max(worst, over / max(abs(bound), abs(value)))
    return worst

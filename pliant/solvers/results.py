"""What a search found, in user units and evaluated on the user's own arrays: one vector of results."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pliant.solvers.newton import ETA, LEFT, MU, RIGHT, ROW, X
from pliant.solvers.pieces import PLACE, VALUE, inner
from pliant.solvers.problem import offsets

COST, EPSILON, PENETRATION, SCALARS = range(4)
LEAST_EFFORT = (
    1e-6  # share of their range that efforts count at least, where gaps are compared with what they cause
)


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


layout = lru_cache(maxsize=64)(report.py_func)
"""`report` from Python."""


@inner
def evaluate(data, ne, na, nc, eps, rho, scale, A, out):
    """Displacement, effector error, gap, cost and relative penetration from the efforts, in user units."""
    at, to, cost = offsets(ne, na, nc), report(ne, na, nc), 0.0
    for e in range(ne):
        total = data[at.de + e]
        for j in range(na):
            total += data[at.Wea + e * na + j] * out[to.effort + j]
        for c in range(nc):
            total += data[at.Wec + e * nc + c] * out[to.contact + c]
        out[to.effector + e] = total
        cost += data[at.weights + e] * total * total
    largest, deepest = 1e-300, 0.0
    for c in range(nc):
        out[to.gap + c] = data[at.dc + c]
        largest = max(largest, abs(data[at.dc + c]) * scale[na + c])
    for i in range(na):
        total, effort, row = data[at.da + i], out[to.effort + i], at.Wac + i * nc
        change, reach = effort - data[at.previous + i], LEAST_EFFORT * scale[i] * (A[RIGHT, i] - A[LEFT, i])
        for j in range(na):
            compliance, other = data[at.Waa + i * na + j], out[to.effort + j]
            total += compliance * other
            cost += compliance * (eps * effort * other + rho * change * (other - data[at.previous + j]))
        for c in range(nc):
            total += data[row + c] * out[to.contact + c]
            out[to.gap + c] += data[row + c] * effort
            largest = max(largest, abs(data[row + c]) * max(abs(effort), reach) * scale[na + c])
        out[to.displacement + i] = total
    for c in range(nc):
        force, row = out[to.contact + c], at.Wcc + c * nc
        if force != 0.0:
            for i in range(nc):
                out[to.gap + i] += force * data[row + i]
    for c in range(nc):
        gap = out[to.gap + c]
        deepest = max(deepest, -gap * scale[na + c] if scale[na + c] > 0.0 else -gap * np.inf)
    out[COST], out[EPSILON], out[PENETRATION] = cost, eps, deepest / largest


@inner
def unscale(data, ne, na, nc, M, L, I, A, K, F, scale, out):
    """Efforts and multipliers in user units."""
    to, bounds = report(ne, na, nc), offsets(ne, na, nc).bounds
    for j in range(na):
        effort, low, high = scale[j] * A[X, j], data[bounds + j], data[bounds + na + j]
        out[to.effort + j] = min(max(effort, low), high) if low <= high else effort  # no ulp beyond a bound
        out[to.effort_multiplier + j] = A[ETA, j] / scale[j]
        out[to.displacement_multiplier + j] = 0.0
    for n in range(K[ROW, K.shape[1] - 1]):
        j = K[ROW, n] - nc - ne
        if j >= 0:
            out[to.displacement_multiplier + j] = F[MU, n] * scale[j]
    for c in range(nc):
        s = scale[na + c]
        out[to.contact + c] = s * max(M[na + VALUE, c], 0.0) if I[PLACE, c] >= 0 else 0.0
        out[to.gap_multiplier + c] = L[nc + 1, c] * s
        out[to.contact_multiplier + c] = L[nc + 2, c] / s if s > 0.0 else 0.0

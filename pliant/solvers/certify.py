"""Evidence for a solution, computed from the user's own arrays: values, multipliers and residuals in user units."""

from __future__ import annotations

from typing import NamedTuple

from pliant.solvers.newton import ETA, MU, ROW, X
from pliant.solvers.pieces import PLACE, VALUE, inner
from pliant.solvers.problem import offsets

COST, EPSILON, SCALARS = range(3)


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
def evaluate(data, ne, na, nc, eps, rho, out):
    """Displacement, effector error, gap and cost from the efforts, in user units."""
    at, to, cost = offsets(ne, na, nc), report(ne, na, nc), 0.0
    for e in range(ne):
        total = data[at.de + e]
        for j in range(na):
            total += data[at.Wea + e * na + j] * out[to.effort + j]
        for c in range(nc):
            total += data[at.Wec + e * nc + c] * out[to.contact + c]
        out[to.effector + e] = total
        cost += data[at.weights + e] * total * total
    for c in range(nc):
        out[to.gap + c] = data[at.dc + c]
    for c in range(nc):
        force, row = out[to.contact + c], at.Wcc + c * nc
        if force != 0.0:
            for i in range(nc):
                out[to.gap + i] += force * data[row + i]
    for i in range(na):
        total, effort = data[at.da + i], out[to.effort + i]
        previous, row = data[at.previous + i], at.Wac + i * nc
        for j in range(na):
            compliance, other = data[at.Waa + i * na + j], out[to.effort + j]
            total += compliance * other
            cost += compliance * (
                eps * effort * other + rho * (effort - previous) * (other - data[at.previous + j])
            )
        for c in range(nc):
            total += data[row + c] * out[to.contact + c]
            out[to.gap + c] += data[row + c] * effort
        out[to.displacement + i] = total
    out[COST] = cost
    out[EPSILON] = eps


@inner
def unscale(ne, na, nc, M, L, I, A, K, F, scale, out):
    """Efforts and multipliers in user units."""
    to = report(ne, na, nc)
    for j in range(na):
        out[to.effort + j] = scale[j] * A[X, j]
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

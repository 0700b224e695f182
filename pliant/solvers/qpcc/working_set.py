"""The working set of a descent: bounds and borders of regions that hold as equations.

These are bounds of efforts, bounds of displacements, and borders at which a contact neither pushes nor opens.
A Newton step keeps them; where it stops, another one joins; where their multipliers have the wrong sign, one
is released.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_part
from pliant.solvers.cholesky import solve
from pliant.solvers.vectors import add, dot, fill, largest

NOTHING, EFFORT_BOUND, DISPLACEMENT_BOUND, BORDER = range(4)  # what stops a step
RELEASED, OPTIMAL = -1, -2  # what `release` did, where it names no border
AT_REST = 1e-12  # share of the step, and of the range of efforts, that counts as no motion


class WorkingSet(NamedTuple):
    """The constraints that hold as equations, and the multipliers of a point."""

    side: np.ndarray  # (na,) bound that an effort sits on: −1 lower, 1 upper, 0 none
    rows: np.ndarray  # (k,) rows that are kept at a level: contacts on a border, displacements on a bound
    level: np.ndarray  # (k,) what they are kept at
    sign: np.ndarray  # (k,) 1 if the value may grow, −1 if it may fall
    force: np.ndarray  # (k,) their multipliers μ
    kept: np.ndarray  # (m,) 1 for rows in the working set
    size: np.ndarray  # (1,) the number of rows in it
    eta: np.ndarray  # (na,) multipliers η of effort bounds
    nu: np.ndarray  # (nc,) multipliers ν of gaps
    kappa: np.ndarray  # (nc,) multipliers κ of contact efforts
    crossed: np.ndarray  # (nc,) how often a border was met without progress


def new_working_set(ne: int, na: int, nc: int) -> WorkingSet:
    """An empty working set, with space for as many rows as a step may keep."""
    most = 2 * na + 2
    return WorkingSet(
        np.zeros(na, np.int64), np.zeros(most, np.int64), np.zeros(most), np.zeros(most), np.zeros(most),
        np.zeros(nc + ne + na, np.int64), np.zeros(1, np.int64), np.zeros(na), np.zeros(nc), np.zeros(nc),
        np.zeros(nc, np.int64),
    )  # fmt: skip


@work_inner
def keep_row(working, row, level, sign):
    """Put a row into the working set, if there is space."""
    k = working.size[0]
    if k < len(working.rows):
        working.rows[k] = row
        working.kept[row] = 1
        working.level[k] = level
        working.sign[k] = sign
        working.force[k] = 0.0
        working.size[0] = k + 1


@work_part
def sit_on_bounds(scaled, region, working, g):
    """Effort bounds that the gradient pushes against join the working set."""
    for i in range(len(g)):
        x, lo, hi = region.x[i], scaled.lo[i], scaled.hi[i]
        working.side[i] = 0
        if lo == hi or (x <= lo and g[i] > 0.0):
            working.side[i] = -1
        elif x >= hi and g[i] < 0.0:
            working.side[i] = 1


@work_part
def step_until_blocked(scaled, task, region, working, d, slope, longest):
    """Go along d until something stops it: (step, what stopped it, its index).

    `slope` (m,) is the change of the values along d, `longest` the step to take if nothing is in the way.
    """
    nc, na = len(scaled.C), len(d)
    last = len(slope) - na
    step, kind, index = longest, NOTHING, np.int64(0)
    value, still = region.value, AT_REST * largest(d, na)
    for i in range(nc):
        slack = max(value[i], 0.0)
        if slope[i] < -still and slack < -step * slope[i] and working.kept[i] == 0:
            kind, index, step = BORDER, i, slack / -slope[i]
    for i in range(na):
        rate, r = slope[last + i], last + i
        if d[i] != 0.0:
            slack = max(((scaled.lo[i] if d[i] < 0.0 else scaled.hi[i]) - region.x[i]) / d[i], 0.0)
            if slack < step:
                kind, index, step = EFFORT_BOUND, i, slack
        wanted = task.weight[r] != 0.0  # as it is out of its bounds
        if abs(rate) > still and working.kept[r] == 0 and not wanted:
            slack = max(((scaled.dlo[i] if rate < 0.0 else scaled.dhi[i]) - value[r]) / rate, 0.0)
            if slack < step:
                kind, index, step = DISPLACEMENT_BOUND, i, slack
    add(region.x, step, d, na)
    add(value, step, slope, len(slope))
    return step, kind, index


@work_part
def join(scaled, region, working, d, slope, kind, i):
    """Put the bound that stopped a step into the working set; returns the contact whose border did, or −1."""
    border, last = np.int64(-1), len(slope) - len(d)
    if kind == EFFORT_BOUND:
        working.side[i] = 1 if d[i] > 0.0 else -1
        region.x[i] = scaled.hi[i] if d[i] > 0.0 else scaled.lo[i]
    elif kind == DISPLACEMENT_BOUND:
        rising = slope[last + i] > 0.0
        keep_row(working, last + i, scaled.dhi[i] if rising else scaled.dlo[i], -1.0 if rising else 1.0)
    elif kind == BORDER:
        region.value[i] = 0.0
        working.crossed[i] += 1
        border = i
    return border


@work_inner
def contact_multipliers(scaled, task, region, working):
    """ν of the gaps and κ of the contact efforts, from the multipliers of the working set.

    ∂cost/∂λ_c = W_acᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for borders in
    the set.
    """
    nc, price, members, push = len(scaled.C), region.response, region.members, region.push
    for r in range(len(price)):
        price[r] = 2.0 * task.weight[r] * (region.value[r] - task.target[r])
    fill(working.kappa, 0.0, nc)
    for n in range(working.size[0]):
        r, force = working.rows[n], working.force[n]
        if r < nc and region.place[r] >= 0:
            working.kappa[r] = force
        else:
            price[r] -= force
    k = region.size[0]
    for a in range(k):
        push[a] = dot(scaled.C[members[a]], price, len(price)) - working.kappa[members[a]]
    solve(region.U, k, push)
    for a in range(k):
        price[members[a]] = -push[a]
    for i in range(nc):
        if region.place[i] < 0:
            working.kappa[i] = dot(scaled.C[i], price, len(price))
        working.nu[i] = -price[i]


@work_part
def release(scaled, region, working, tolerance, bland):
    """Release the bound or row whose multiplier is most wrong, or name a border beyond which the cost falls.

    Where steps have no length any more (`bland`), the first that is wrong goes instead: Bland's rule, against
    endless rounds. The result is OPTIMAL where nothing is wrong.
    """
    na, nc = len(region.x), len(scaled.C)
    last = len(region.value) - na
    worst, bound, position = -tolerance, np.int64(-1), np.int64(-1)
    border, first = np.int64(OPTIMAL), 2 * na + nc
    for n in range(working.size[0]):
        r, norm, other = working.rows[n], 0.0, 0.0
        for i in range(na):
            norm = max(norm, abs(region.S[i, r]))
        force, order = working.sign[n] * working.force[n] * norm, r
        if r >= nc:
            order = nc + 2 * (r - last) + 1
        else:
            other = (working.nu[r] if region.place[r] >= 0 else working.kappa[r]) * norm
        least = min(force, other)
        if least < -tolerance and (order < first if bland else least < worst):
            worst, position, first = least, n, order
            border = r if other < force else np.int64(RELEASED)
    for i in range(na):
        force, order = -working.side[i] * working.eta[i], nc + 2 * i
        chosen = order < first if bland else force < worst
        if force < -tolerance and scaled.lo[i] < scaled.hi[i] and chosen:
            worst, bound, first = force, i, order
            border = np.int64(RELEASED)
    if bound >= 0:
        working.side[bound] = 0
    elif position >= 0:
        working.kept[working.rows[position]] = 0
        working.size[0] -= 1
        for n in range(position, working.size[0]):
            working.rows[n] = working.rows[n + 1]
            working.level[n] = working.level[n + 1]
            working.sign[n] = working.sign[n + 1]
    return border

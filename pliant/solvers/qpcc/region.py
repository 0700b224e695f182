"""Regions of the efforts' space: where the same contacts push, and every row is affine in the efforts.

For given actuator efforts x the contact efforts are unique (eq. 16 of Coevoet et al. 2017). The *members* F
of a region are the contacts that push; the paper's set I holds the others. Eliminating the members (eq. 14)
leaves sensitivities S = ∂value/∂x, where the value of a member is its effort and that of any other row its
own. On the border between two regions the value of one contact is zero. To *pivot* is to let that contact
change sides: all values stay as they are, S changes by a matrix of rank one, and the Cholesky factor of W_FF
is updated, never recomputed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.solvers.cholesky import append, remove, solve, substitute
from pliant.solvers.vectors import add, copy, fill, largest

DEPENDENT_PIVOT = 1e-14  # smallest pivot of W_FF, whose diagonal is 1
INACCURATE_PIVOT = 1e-5  # pivots below this let rounding into S, which is then computed afresh
REPAIRED = 1e-12  # violation of displacement bounds, relative to the largest displacement, that is none
CLOSED_GAP = 1e-13  # gaps above minus this, relative to the largest, count as closed


class Region(NamedTuple):
    """A point and the region it lies in. Rows are those of `Scaled`: contacts, effectors, actuators."""

    x: np.ndarray  # (na,) actuator efforts
    value: np.ndarray  # (m,) of a member its effort, of any other row the row itself
    S: np.ndarray  # (na, m) ∂value/∂x
    members: np.ndarray  # (nc,) contacts that push, in the order of the factor
    place: np.ndarray  # (nc,) position among the members, −1 for contacts that are open
    U: np.ndarray  # (nc, nc) Cholesky factor of W_FF, see `cholesky`
    size: np.ndarray  # (1,) the number of members
    push: np.ndarray  # (nc,) scratch: one number for every member
    response: np.ndarray  # (m,) change of the values per unit of what a pivot brings in; scratch elsewhere


def new_region(ne: int, na: int, nc: int) -> Region:
    """A region without members at zero efforts; `settle` finds values and sensitivities."""
    m = nc + ne + na
    return Region(
        np.zeros(na), np.zeros(m), np.zeros((na, m)), np.zeros(nc, np.int64), np.full(nc, -1),
        np.zeros((nc, nc)), np.zeros(1, np.int64), np.zeros(nc), np.zeros(m),
    )  # fmt: skip


@work_inner
def _close_gaps(region, row):
    """push ← the members' efforts that close their gaps, which are `row` (m,) when they are open (eq. 14)."""
    for a in range(region.size[0]):
        region.push[a] = -row[region.members[a]]
    solve(region.U, region.size[0], region.push)


@work_inner
def _add_push(C, region, row):
    """row (m,) ← its values under the members' efforts: members get `push`, others what it adds."""
    for a in range(region.size[0]):
        add(row, region.push[a], C[region.members[a]], len(row))
    for a in range(region.size[0]):
        row[region.members[a]] = region.push[a]


@work_inner
def _join(C, region, contact):
    """A contact pushes from now on; False if its gap depends on those of the members."""
    k = region.size[0]
    if append(region.U, C, region.members, k, contact, DEPENDENT_PIVOT) == 0.0:
        return False
    region.place[contact] = k
    region.size[0] = k + 1
    return True


@work_inner
def _leave(region, position):
    """The member at a position opens."""
    members, place, k = region.members, region.place, region.size[0]
    place[members[position]] = -1
    remove(region.U, members, k, position)
    region.size[0] = k - 1
    for a in range(position, k - 1):
        place[members[a]] = a


@work_kernel
def settle(scaled, region, guess):
    """The region of the efforts x, its values and sensitivities: 0 ≤ λ_c ⊥ δ_c ≥ 0 (eq. 16).

    Lawson and Hanson's method: the most closed gap joins the members; who would pull on the way to the
    solution leaves. It starts from the present members and from the contacts that push in `guess` (nc,),
    which may be empty. Returns whether the actuators' displacements are within their bounds.
    """
    value, free, nc = region.value, region.response, len(scaled.C)
    copy(free, 1.0, scaled.f, len(free))
    for i in range(len(region.x)):
        add(free, region.x[i], scaled.S[i], len(free))
    for i in range(len(guess)):
        if guess[i] > 0.0:
            _join(scaled.C, region, i)
    fill(value, 0.0, nc)
    touch = -CLOSED_GAP * largest(free, nc)
    for _ in range(10 * nc + 50):
        _close_gaps(region, free)
        if not _advance(region):
            continue
        copy(value, 1.0, free, len(free))
        _add_push(scaled.C, region, value)
        worst, least = np.int64(-1), touch
        for i in range(nc):
            if value[i] < least and region.place[i] < 0:
                worst, least = i, value[i]
        if worst < 0 or not _join(scaled.C, region, worst):
            break
        value[worst] = 0.0
    sensitivities(scaled, region)
    return _within_bounds(scaled, region)


@work_part
def _within_bounds(scaled, region):
    """Whether displacements are within their bounds."""
    last, extent, over = len(region.value) - len(region.x), 1e-300, 0.0
    for i in range(len(region.x)):
        moved, low, high = region.value[last + i], scaled.dlo[i], scaled.dhi[i]
        extent = max(extent, max(abs(region.x[i]), abs(moved)))
        extent = max(extent, max(abs(low) if low > -np.inf else 0.0, abs(high) if high < np.inf else 0.0))
        over = max(over, max(low - moved, moved - high))
    return over <= REPAIRED * extent


@work_part
def _advance(region):
    """Members' efforts go towards `push`; False if one of them had to leave on the way."""
    value, push, members = region.value, region.push, region.members
    blocking, step = np.int64(-1), 1.0
    for a in range(region.size[0]):
        effort = value[members[a]]
        if push[a] < 0.0 and (blocking < 0 or effort < step * (effort - push[a])):
            blocking, step = a, effort / (effort - push[a])
    if blocking >= 0:
        for a in range(region.size[0]):
            value[members[a]] += step * (push[a] - value[members[a]])
        _leave(region, blocking)
    return blocking < 0


@work_inner
def sensitivities(scaled, region):
    """S from the factor."""
    for i in range(len(region.S)):
        slopes = region.S[i]
        copy(slopes, 1.0, scaled.S[i], len(slopes))
        _close_gaps(region, slopes)
        _add_push(scaled.C, region, slopes)


@work_part
def respond(C, region, contact):
    """response ← change of the values per unit of the new variable of a contact; returns the pivot.

    Entering: per unit of effort, pivot W_ii − W_iF W_FF⁻¹ W_Fi. Leaving: per unit of gap, pivot (W_FF⁻¹)_ii.
    The new variable is −value_i / pivot. A pivot of zero says that the contact cannot enter.
    """
    k, position, push, response = region.size[0], region.place[contact], region.push, region.response
    if position < 0:
        pivot = append(region.U, C, region.members, k, contact, DEPENDENT_PIVOT)
        copy(response, 1.0, C[contact], len(response))
        copy(push, -1.0, region.U[k], k)
        substitute(region.U, k, push)
    else:
        fill(push, 0.0, k)
        push[position] = 1.0
        solve(region.U, k, push)
        fill(response, 0.0, len(response))
        pivot = push[position]
    _add_push(C, region, response)
    return pivot


@work_part
def pivot_contact(scaled, region, contact, pivot):
    """A contact changes sides, after `respond`: S ← S + c uᵀ with the response u and c = −S_i / pivot."""
    if region.place[contact] < 0:
        region.place[contact] = region.size[0]
        region.size[0] += 1
    else:
        _leave(region, region.place[contact])
    if pivot < INACCURATE_PIVOT or pivot * INACCURATE_PIVOT > 1.0:
        sensitivities(scaled, region)
    else:
        for a in range(len(region.S)):
            slopes = region.S[a]
            change = -slopes[contact] / pivot
            add(slopes, change, region.response, len(slopes))
            slopes[contact] = change

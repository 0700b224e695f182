"""Descent over the actuator efforts: a Newton step per region, across borders while the cost falls.

Inside a region this is a primal active-set method for its quadratic program (eq. 15 of Coevoet et al. 2017).
At a border the contact pivots if the cost keeps falling beyond it; otherwise the border joins the working set
like a bound. Where nothing on this side of the borders helps, the multipliers of the complementarity problem
(ν of gaps, κ of contact efforts) tell whether the other side does: the point is a local minimum of c(λ_a),
eq. 17, when both are non-negative at every border of the working set (strong stationarity).
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import work_kernel, work_part
from pliant.solvers.qpcc.newton_step import gradient, hessian, newton_step
from pliant.solvers.qpcc.region import pivot_contact, respond
from pliant.solvers.qpcc.working_set import (
    AT_REST,
    NOTHING,
    OPTIMAL,
    contact_multipliers,
    join,
    keep_row,
    release,
    sit_on_bounds,
    step_until_blocked,
)
from pliant.solvers.vectors import add, dot, largest

FLAT = 1e-13  # a slope of the cost below this share of its terms is rounding …
WRONG_SIGN = 1e-9  # … and so is a multiplier of the wrong sign …
RESOLVED = 1e-3  # … where residuals count at least as this share of what they were at first
FALLS_BEYOND = 1e-10  # share of its slope with which the cost must fall beyond a border
MOST_CROSSINGS = 3  # of one border without progress; then it joins the working set
BLAND = 4, 2  # steps without length, and more for every actuator, after which Bland's rule holds …
GIVE_UP = 40, 10  # … and after which a descent ends
MOST_MOVES = 400  # pivots that are remembered
GRAZES = 1e-12  # gap or effort, relative to the largest, of a contact that neither pushes nor opens

MINIMUM, GRAZING, UNFINISHED = range(3)  # how a descent ends
MET, RETURNED, BEYOND = range(3)  # a border is met by a step, was crossed in vain, or multipliers ask for it


@work_part
def _begin(scaled, task, working):
    """An empty working set; returns the least size of a residual."""
    floor = 0.0
    working.size[0] = 0
    for r in range(len(task.target)):
        working.kept[r] = 0
        floor = max(floor, task.weight[r] * max(abs(scaled.f[r]), abs(task.target[r])))
    for i in range(len(working.crossed)):
        working.crossed[i] = 0
    return RESOLVED * floor


@work_part
def _progress(region, working, d, length, span):
    """Whether a step had any length to speak of; borders may then be crossed again."""
    moved, extent = 0.0, 1e-300
    for i in range(len(d)):
        moved = max(moved, length * abs(d[i]))
        extent = max(extent, abs(region.x[i]), span[i])
    if moved > AT_REST * extent:
        for i in range(len(working.crossed)):
            working.crossed[i] = 0
    return moved > AT_REST * extent


@work_part
def _curvature(task, d, slope, first):
    """Second derivative of the cost along d."""
    total = 0.0
    for i in range(len(d)):
        total += d[i] * dot(task.Q[i], d, len(d))
    for r in range(first, len(slope)):
        total += task.weight[r] * slope[r] * slope[r]
    return 2.0 * total


@work_part
def _cross(scaled, task, region, working, slope, border, why, falling):
    """Pivot at a border where the cost falls beyond it, else keep it.

    Returns (how fast the cost falls beyond, 0 where the border is kept; whether the contact pivoted).
    `falling` is how fast the cost fell before the border.
    """
    pivot, beyond, alone = 0.0, 1.0, working.size[0] == 0
    if why != MET or working.crossed[border] <= MOST_CROSSINGS:
        pivot = respond(scaled.C, region, border)
    if why == MET and alone and pivot > 0.0:
        # beyond it g changes by 2 c (u·residual) with c = −S_i / pivot: no need to cross to know
        pull = 0.0
        for r in range(len(scaled.C), len(slope)):
            pull += task.weight[r] * region.response[r] * (region.value[r] - task.target[r])
        turn = -slope[border] / pivot
        beyond = falling - 2.0 * turn * pull
        if not beyond > FALLS_BEYOND * falling:
            pivot = 0.0
        add(slope, turn, region.response, len(slope))
        slope[border] = turn
    if pivot > 0.0:
        pivot_contact(scaled, region, border, pivot)
    if pivot == 0.0 or why == RETURNED:
        keep_row(working, border, 0.0, 1.0)
        beyond = 0.0
    return beyond, pivot > 0.0


@work_part
def _grazes(scaled, region, working):
    """Whether a contact neither pushes nor opens and its border is not in the working set."""
    nc, grazing = len(scaled.C), False
    size = GRAZES * max(largest(scaled.f, nc), largest(region.value, nc))
    for i in range(nc):
        if abs(region.value[i]) <= size and working.kept[i] == 0:
            grazing = True
    return grazing


@work_part
def _cost(task, region):
    """The cost at the point, up to a constant."""
    total = 0.0
    for r in range(len(task.target)):
        total += task.weight[r] * (region.value[r] - task.target[r]) ** 2
    for i in range(len(region.x)):
        total += region.x[i] * (dot(task.Q[i], region.x, len(region.x)) - 2.0 * task.p[i])
    return total


@work_kernel
def descend(scaled, task, region, working, step, span, path, moves, limit):
    """Move to a local minimum of the task's cost.

    Returns (status, cost, iterations, length of the path, its length at the start). It begins in a region
    that `settle` has found. `span` (na,) is the range of the efforts. Contacts that pivot are written down in
    `path` from `moves` on, as i + 1, or −i − 1 where they open; with `moves` < 0 after those that push at the
    start.
    """
    na, nc, d, slope = len(region.x), len(scaled.C), step.d, step.slope
    fresh, pivoted, trial, idle, iterations = True, True, np.int64(-1), 0, 0
    size, falling, status = 0.0, 0.0, UNFINISHED
    floor = _begin(scaled, task, working)
    if moves < 0:
        moves = region.size[0]
        for a in range(moves):
            path[a] = region.members[a] + 1
    began = moves
    while iterations < limit and idle <= GIVE_UP[0] + GIVE_UP[1] * na:
        iterations += 1
        longest = 1.0
        if fresh:
            size = gradient(task, region, nc, step.g, floor)
            if pivoted:
                hessian(task, region.S, nc, step.H)
            if iterations == 1:
                sit_on_bounds(scaled, region, working, step.g)
            newton_step(region, working, step)
            falling, pivoted = -dot(step.g, d, na), False
        else:
            longest = falling / max(_curvature(task, d, slope, nc), 1e-300)
        moving = falling > FLAT * size * largest(d, na)
        border, why, unblocked = np.int64(-1), MET, True
        if trial >= 0 and not (moving and slope[trial] > 0.0):
            border, why = trial, RETURNED
        elif moving:
            length, kind, index = step_until_blocked(scaled, task, region, working, d, slope, longest)
            falling *= 1.0 - length / longest
            unblocked = kind == NOTHING
            idle = 0 if _progress(region, working, d, length, span) else idle + 1
            border = join(scaled, region, working, d, slope, kind, index)
        fresh, trial, alone = fresh or not moving, np.int64(-1), working.size[0] == 0
        if border < 0 and unblocked and fresh:  # the multipliers are those of this point
            contact_multipliers(scaled, task, region, working)
            bland = idle > BLAND[0] + BLAND[1] * na
            border, why = release(scaled, region, working, WRONG_SIGN * size, bland), BEYOND
            if border == OPTIMAL:
                status = MINIMUM
                break
            idle += 1
        fresh = True
        if border >= 0:
            falling, crossed = _cross(scaled, task, region, working, slope, border, why, falling)
            pivoted = pivoted or crossed
            if crossed and moves < len(path):
                path[moves] = border + 1 if region.place[border] >= 0 else -border - 1
                moves += 1
            if why == MET and falling > 0.0:
                # rows of the working set bend at the border: only the next step shows whether it was right
                fresh, trial = not alone, np.int64(-1) if alone else border
    if status == UNFINISHED:
        contact_multipliers(scaled, task, region, working)
    elif _grazes(scaled, region, working):
        status = GRAZING
    return status, _cost(task, region), iterations, moves, began

"""Many time steps of a mechanism, compiled: a loop that evaluates the forces, then the stage that is next."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.kernels.forces import evaluate, memory_of, stations_of
from pliant.membrane.kernels.path import THROUGH, TOUCHING, remember
from pliant.membrane.kernels.shape import in_world
from pliant.membrane.kernels.step import (
    add_overlong,
    any_of,
    constrain,
    drop_pushing,
    guess_active,
    newton,
    project,
    state_at,
    update,
)
from pliant.membrane.kernels.vectors import add, copy, fill

# What the forces just evaluated are for, and so what comes next.
EVALUATE, START, MIDDLE, END, ITERATED, CHECK, PROJECT, SETTLE = range(8)
ITERATION, ACTIVE_SET, PROJECTION = range(3)  # what is counted
DONE, NOT_A_NUMBER, NOT_CONVERGED, SINGULAR = 0, -1, -2, -3
MOST_ITERATIONS = 40  # of Newton's method, with one active set
TANGENT_LIFE = 8  # iterations with one tangent
MOST_PROJECTIONS = 6
MOST_ACTIVE_SETS = 40  # times that cables are added or dropped in one step


@inner
def centre(paths, k, pose):
    """World place of the mean of a station's corners."""
    x, y, count = 0.0, 0.0, paths.last[k] - paths.first[k]
    for c in range(paths.first[k], paths.last[k]):
        x += paths.corners[c, 0] / count
        y += paths.corners[c, 1] / count
    return in_world(pose, paths.body[k], x, y)


@inner
def exchange(a, k):
    """Swap entries k and k + 1."""
    a[k], a[k + 1] = a[k + 1], a[k]


@inner
def reorder(paths, memory, pose):
    """Shapes on one side that pass each other without both being touched change places on their cable."""
    for p in range(len(paths.kind)):
        lo, hi = paths.start[p], paths.start[p + 1]
        for k in range(lo + 1, hi - 2):
            fixed = memory.state[k] == THROUGH or memory.state[k + 1] == THROUGH
            both = memory.state[k] == TOUCHING and memory.state[k + 1] == TOUCHING
            if fixed or both or paths.side[k] != paths.side[k + 1]:
                continue
            ax, ay = centre(paths, lo, pose)
            bx, by = centre(paths, hi - 1, pose)
            x0, y0 = centre(paths, k, pose)
            x1, y1 = centre(paths, k + 1, pose)
            if (x1 - x0) * (bx - ax) + (y1 - y0) * (by - ay) < 0.0:
                for a in (paths.body, paths.first, paths.last, memory.state, memory.known):
                    exchange(a, k)
                for b in (paths.radius, paths.friction):
                    exchange(b, k)
                for c in (memory.turn, memory.stick, memory.arrived, memory.rest):
                    exchange(c, k)


@inner
def remember_all(paths, memory, work):
    """What every path keeps of its contacts."""
    for p in range(len(paths.kind)):
        own, table = memory_of(paths, memory, p), work.table[paths.start[p] : paths.start[p + 1]]
        remember(stations_of(paths, work.place, p), own.state, own.turn, table)
    reorder(paths, memory, work.pose)


@inner
def begin(work, v, h, pins, slackness, s):
    """A new step from the state just evaluated."""
    guess_active(work.rows, work.value, v, h, pins, slackness, s.active, s.taut)
    s.counts[ACTIVE_SET] = 0
    return restart(v, h, s)


@inner
def restart(v, h, s):
    """Newton's iterations from the first guess: the acceleration of the last step."""
    copy(v, s.v1)
    add(s.v1, h, s.acceleration)
    fill(s.efforts, 0.0)
    s.counts[ITERATION] = 0
    return MIDDLE


@inner
def middle(work, v, h, fresh, s):
    """Newton's direction at the middle of the step; with constraints, these follow at its end."""
    M, K, C = work.M, work.K, work.C
    if not newton(M, K, C, work.applied, work.inertial, v, s.v1, h, fresh, s.A, s.order, s.R, s.dv):
        return SINGULAR
    if not any_of(s.active):
        return ITERATED
    for k in range(len(s.active)):
        copy(work.rows[k], s.middle[k])
    return END


@inner
def iterated(q, v, h, pins, tolerance, s):
    """After an iteration: another one, one with a cable less, or on with the end of the step."""
    size = update(s.v1, s.dv, h)
    s.counts[ITERATION] += 1
    if not np.isfinite(size) or (size > tolerance and s.counts[ITERATION] == MOST_ITERATIONS):
        return NOT_CONVERGED
    if size > tolerance:
        return MIDDLE
    if s.counts[ACTIVE_SET] < MOST_ACTIVE_SETS and drop_pushing(s.efforts, s.active, pins):
        s.counts[ACTIVE_SET] += 1
        return restart(v, h, s)
    state_at(q, v, s.v1, h, 1.0, s.q1, s.at_v)
    s.counts[PROJECTION] = 0
    return CHECK if len(s.active) > 0 else SETTLE


@inner
def check(work, v, h, pins, slackness, s):
    """Cables that got too long in the step join the active set; else what is left is projected away."""
    if s.counts[ACTIVE_SET] < MOST_ACTIVE_SETS and add_overlong(
        work.rows, work.value, s.v1, s.active, pins, slackness
    ):
        s.counts[ACTIVE_SET] += 1
        return restart(v, h, s)
    return projected(work, pins, s)


@inner
def projected(work, pins, s):
    """One projection onto the constraints."""
    s.counts[PROJECTION] += 1
    final = s.counts[PROJECTION] == MOST_PROJECTIONS
    return SETTLE if project(work.M, work.rows, work.value, pins, final, s) else PROJECT


@inner
def arrive(q, v, h, s):
    """(q, v) move on to the end of the step."""
    for k in range(len(q)):
        s.acceleration[k] = (s.v1[k] - v[k]) / h
    copy(s.q1, q)
    copy(s.v1, v)


@inner
def look_at(phase, q, v, h, s):
    """Where the next stage wants the forces."""
    if phase == MIDDLE:
        state_at(q, v, s.v1, h, 0.5, s.at_q, s.at_v)
    elif phase == END:
        state_at(q, v, s.v1, h, 1.0, s.at_q, s.at_v)
    else:
        copy(s.q1, s.at_q)
        copy(s.v1, s.at_v)


@kernel
def run(model, memory, drive, q, v, h, count, tolerance, slackness, phase, tangent, work, s):
    """`count` steps of h [s] from (q, v), in place; returns a status and the number of steps made, all good.

    phase EVALUATE (with `tangent`) only evaluates at (q, v), SETTLE also remembers contacts and slip; START
    makes steps. Energies are left in work.total. tolerance: of the velocities; slackness [m]: cables closer
    than this to their length count as taut.
    """
    pins, done = 2 * len(model.pins.body), 0
    copy(q, s.at_q)
    copy(v, s.at_v)
    while True:
        evaluate(model, memory, drive, s.at_q, s.at_v, tangent, phase == SETTLE, work)
        if phase == EVALUATE:
            return DONE, 0
        if not np.isfinite(work.total[1]):
            return NOT_A_NUMBER, done
        if phase == SETTLE:
            remember_all(model.paths, memory, work)
            if count > 0:
                arrive(q, v, h, s)
                done += 1
            if done == count:
                return DONE, done
            phase = START
        if phase == START:
            phase = begin(work, v, h, pins, slackness, s)
        elif phase == MIDDLE:
            phase = middle(work, v, h, tangent, s)
        elif phase == END:
            constrain(s.A, s.order, s.middle, work.rows, s.active, s.v1, h, s.gap, s.efforts, s.dv)
            phase = ITERATED
        elif phase == CHECK:
            phase = check(work, v, h, pins, slackness, s)
        elif phase == PROJECT:
            phase = projected(work, pins, s)
        if phase == ITERATED:
            phase = iterated(q, v, h, pins, tolerance, s)
        if phase < 0:
            return phase, done
        tangent = phase == MIDDLE and s.counts[ITERATION] % TANGENT_LIFE == 0
        look_at(phase, q, v, h, s)

"""Many time steps of a mechanism, compiled once: one loop that evaluates the forces, then the stage whose turn it is."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.force_kernel import evaluate
from pliant.membrane.small import add, copy, fill
from pliant.membrane.step_kernel import (
    aim,
    any_of,
    catch,
    change,
    drop,
    hold,
    likely_taut,
    newton,
    project,
)
from pliant.membrane.wrap_kernel import THROUGH, TOUCHING, remember

EVALUATE, START, MIDDLE, ENDS, ITERATED, CHECK, PROJECT, SETTLE = range(8)
ITERATION, ROUND, TURN = range(3)  # what is counted
DONE, NOT_A_NUMBER, NOT_CONVERGED, SINGULAR = 0, -1, -2, -3
ITERATIONS = 40
FRESH = 8  # iterations with one tangent
TURNS = 6  # of projection
ROUNDS = 40  # of adding and dropping cables


@inner
def centre(paths, k, pose):
    """World place of the mean of a station's corners."""
    x, y, count = 0.0, 0.0, paths.last[k] - paths.first[k]
    for c in range(paths.first[k], paths.last[k]):
        x += paths.corners[c, 0] / count
        y += paths.corners[c, 1] / count
    b = paths.body[k]
    return pose[b, 0] + pose[b, 3] * x - pose[b, 4] * y, pose[b, 1] + pose[b, 4] * x + pose[b, 3] * y


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
                for b in (paths.radius, paths.friction, memory.turn, memory.held, memory.seen, memory.rest):
                    exchange(b, k)


@inner
def remember_all(paths, memory, work):
    """What every path keeps of its contacts."""
    for p in range(len(paths.kind)):
        lo, hi = paths.start[p], paths.start[p + 1]
        first, last, radius, side = (
            paths.first[lo:hi],
            paths.last[lo:hi],
            paths.radius[lo:hi],
            paths.side[lo:hi],
        )
        state, turn, table = memory.state[lo:hi], memory.turn[lo:hi], work.table[lo:hi]
        remember(work.place[lo:hi], paths.corners, first, last, radius, side, state, turn, table)
    reorder(paths, memory, work.pose)


@inner
def begin(work, v, h, pins, slackness, s):
    """A new step from the state just evaluated."""
    likely_taut(work.rows, work.value, v, h, pins, slackness, s.active, s.was)
    s.counts[ROUND] = 0
    return again(v, h, s)


@inner
def again(v, h, s):
    """Newton's iterations from the first guess."""
    copy(v, s.v1)
    add(s.v1, h, s.guess)
    fill(s.efforts, 0.0)
    s.counts[ITERATION] = 0
    return MIDDLE


@inner
def middle(work, v, h, fresh, s):
    """Newton's direction at the middle of the step; with constraints they have their say at its end first."""
    M, K, C = work.M, work.K, work.C
    if not newton(M, K, C, work.applied, work.inertial, v, s.v1, h, fresh, s.A, s.order, s.R, s.dv):
        return SINGULAR
    if not any_of(s.active):
        return ITERATED
    for k in range(len(s.active)):
        copy(work.rows[k], s.middle[k])
    return ENDS


@inner
def iterated(q, v, h, pins, tolerance, s):
    """After an iteration: another one, one with a cable less, or on with the end of the step."""
    size = change(s.v1, s.dv, h)
    s.counts[ITERATION] += 1
    if not np.isfinite(size) or (size > tolerance and s.counts[ITERATION] == ITERATIONS):
        return NOT_CONVERGED
    if size > tolerance:
        return MIDDLE
    if s.counts[ROUND] < ROUNDS and drop(s.efforts, s.active, pins):
        s.counts[ROUND] += 1
        return again(v, h, s)
    aim(q, v, s.v1, h, 1.0, s.q1, s.at_v)
    s.counts[TURN] = 0
    return CHECK if len(s.active) > 0 else SETTLE


@inner
def check(work, v, h, pins, slackness, s):
    """Cables that got too long on the way join; else the values and rates that are left are projected away."""
    if s.counts[ROUND] < ROUNDS and catch(work.rows, work.value, s.v1, s.active, pins, slackness):
        s.counts[ROUND] += 1
        return again(v, h, s)
    return back(work, pins, s)


@inner
def back(work, pins, s):
    """One turn of projection."""
    s.counts[TURN] += 1
    final = s.counts[TURN] == TURNS
    rows, value = work.rows, work.value
    ended = project(
        work.M,
        rows,
        value,
        s.q1,
        s.v1,
        s.active,
        s.was,
        s.efforts,
        pins,
        final,
        s.bind,
        s.A,
        s.order,
        s.gap,
        s.lam,
    )
    return SETTLE if ended else PROJECT


@inner
def arrive(q, v, h, s):
    """(q, v) move on to the end of the step."""
    for k in range(len(q)):
        s.guess[k] = (s.v1[k] - v[k]) / h
    copy(s.q1, q)
    copy(s.v1, v)


@inner
def look(phase, q, v, h, s):
    """Where the next stage wants the forces."""
    if phase == MIDDLE:
        aim(q, v, s.v1, h, 0.5, s.at_q, s.at_v)
    elif phase == ENDS:
        aim(q, v, s.v1, h, 1.0, s.at_q, s.at_v)
    else:
        copy(s.q1, s.at_q)
        copy(s.v1, s.at_v)


@kernel
def run(model, memory, drive, q, v, h, count, tolerance, slackness, phase, tangent, work, s):
    """`count` steps of h [s] from (q, v), in place; returns a status and the number of steps made, all good.

    phase EVALUATE (with `tangent`) only evaluates at (q, v), SETTLE also remembers contacts and slip; START makes steps. Energies are
    left in work.total. tolerance: of the velocities; slackness [m]: cables closer than this to their length count as taut.
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
        elif phase == ENDS:
            hold(s.A, s.order, s.middle, work.rows, s.active, s.v1, h, s.gap, s.efforts, s.dv)
            phase = ITERATED
        elif phase == CHECK:
            phase = check(work, v, h, pins, slackness, s)
        elif phase == PROJECT:
            phase = back(work, pins, s)
        if phase == ITERATED:
            phase = iterated(q, v, h, pins, tolerance, s)
        if phase < 0:
            return phase, done
        tangent = phase == MIDDLE and s.counts[ITERATION] % FRESH == 0
        look(phase, q, v, h, s)

"""The problem as stacked rows in comparable units: what the compiled descent works on.

Rows are contacts (nc), effectors (ne) and actuators (na), m in all. With x the actuator efforts and λ the
contact efforts, both scaled, the values of all rows are f + Sᵀx + Cᵀλ. Scaling makes W_ii = 1 for contacts
and actuators, so that newtons and pascals compare, and weighs the effector rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.errors import InputError
from pliant.solvers.qpcc.problem import PAPER_EPS, Problem, work_scale
from pliant.solvers.solution import Reals

RIGID = 1e-24  # compliance, relative to the largest, below which a row does not move
REACH = 3.0  # times the effort that does the task alone, or closes a gap: the range without bounds
SOUND, CONTRADICTORY, NOT_FINITE = range(3)


class Scaled(NamedTuple):
    """The rows of a problem as functions of scaled efforts, and their bounds."""

    f: Reals  # (m,) values without any effort
    S: Reals  # (na, m) per unit of actuator effort
    C: Reals  # (nc, m) per unit of contact effort
    lo: Reals  # (na,) bounds of x …
    hi: Reals
    dlo: Reals  # (na,) … and of the actuators' rows
    dhi: Reals


class Range(NamedTuple):
    """The range of the scaled efforts: as far as the task would take, within the bounds, and up to these.

    Where contacts are in the way, efforts that do the task may be far beyond those that would do it freely.
    """

    low: Reals  # (na,)
    span: Reals  # (na,) as far as the task would take
    most: Reals  # (na,) up to the upper bound, if there is one
    push: Reals  # (na,) largest change of a gap per unit of effort


class Scaling(NamedTuple):
    """A scaled problem with its cost ‖effector rows‖² + xᵀQx − 2 pᵀx, and what it was scaled with."""

    rows: Scaled
    efforts: Range
    Q: Reals  # (na, na)
    p: Reals  # (na,)
    units: Reals  # (m,) λ = units · x; 0 for contacts that nothing moves
    eps: float  # the ε that is used
    shift: float  # what was added to the unit diagonal of W_cc
    contradictory: bool  # whether bounds contradict each other, or a contact that nothing moves is closed


def scaled(p: Problem, shift: float) -> Scaling:
    """The scaled problem; `shift` on the unit diagonal of W_cc lets dependent contacts share efforts.

    A contact that nothing moves takes no part. Contradicting bounds lo > hi are replaced by their middle.
    """
    na = p.na
    eps = p.eps if p.eps >= 0.0 else PAPER_EPS * work_scale(p.Wea, p.Wec, p.Waa, p.Wac, p.Wcc)
    m = p.nc + p.ne + na
    rows = Scaled(
        np.concatenate((p.dc, p.de, p.da)),
        np.concatenate((p.Wac, p.Wea.T, p.Waa.T), axis=1, out=np.empty((na, m))),
        np.concatenate((p.Wcc, p.Wec.T, p.Wac.T), axis=1, out=np.empty((p.nc, m))),
        p.lo.copy(),
        p.hi.copy(),
        p.dlo.copy(),
        p.dhi.copy(),
    )
    efforts = Range(np.empty(na), np.empty(na), np.empty(na), np.empty(na))
    Q, pull, units = np.empty((na, na)), np.empty(na), np.empty(m)
    state = _scale(rows, efforts, Q, pull, units, p.weights, p.previous, eps, p.rho, shift)
    if state == NOT_FINITE or (p.warm and not (np.isfinite(p.start).all() and np.isfinite(p.guess).all())):
        expected = "finite numbers, bounds that are not NaN"
        raise InputError("matrices and bounds", expected=expected, got="others")
    return Scaling(rows, efforts, Q, pull, units, eps, shift, state == CONTRADICTORY)


@work_kernel
def _scale(rows, efforts, Q, pull, units, weights, previous, eps, rho, shift):
    """Scale the rows in place and fill the other arrays; says whether they are sound."""
    f, S, C, nc, na = rows.f, rows.S, rows.C, len(rows.C), len(rows.S)
    last, state = len(f) - na, SOUND
    zero = 0.0  # NaN if anything is not finite
    _fill_units(S, C, weights, units)
    for c in range(nc):
        if units[c] == 0.0 and f[c] < 0.0:
            state = CONTRADICTORY
        for r in range(len(f)):
            C[c, r] *= units[c] * units[r]
            zero += 0.0 * C[c, r]
        C[c, c] = 1.0 + shift
    for i in range(na):
        for r in range(len(f)):
            S[i, r] *= units[last + i] * units[r]
            zero += 0.0 * S[i, r]
    for r in range(len(f)):
        f[r] *= units[r]
        zero += 0.0 * f[r]
    for i in range(na):
        pull[i] = 0.0
        for k in range(na):
            work = 0.5 * (S[i, last + k] + S[k, last + i])
            Q[i, k] = (eps + rho) * work
            pull[i] += rho * work * previous[k] / units[last + k]
        zero += 0.0 * pull[i]
        unit = units[last + i]
        state = max(state, _scale_bounds(rows.lo, rows.hi, i, 1.0 / unit))
        state = max(state, _scale_bounds(rows.dlo, rows.dhi, i, unit))
    _fill_range(rows, efforts)
    return state if zero == 0.0 else NOT_FINITE


@work_part
def _fill_units(S, C, weights, units):
    """1/√W_ii of contacts and actuators, √w of effectors.

    Contacts that nothing moves get 0; for such actuators what they do to the effector tells, else they get 1.
    """
    nc, na = len(C), len(S)
    last, contact, actuator = len(units) - na, 0.0, 0.0
    for c in range(nc):
        contact = max(contact, C[c, c])
    for i in range(na):
        actuator = max(actuator, S[i, last + i])
    for c in range(nc):
        units[c] = 1.0 / np.sqrt(C[c, c]) if C[c, c] > RIGID * contact else 0.0
    for e in range(last - nc):
        units[nc + e] = np.sqrt(weights[e])
    for i in range(na):
        own, effect = S[i, last + i], 0.0
        for r in range(nc, last):
            effect = max(effect, abs(S[i, r]))
        if own > RIGID * actuator:
            units[last + i] = 1.0 / np.sqrt(own)
        else:
            units[last + i] = 1.0 / effect if effect > 0.0 else 1.0


@work_inner
def _scale_bounds(low, high, i, unit):
    """Scale a pair of bounds; says whether they contradict each other or are none."""
    low[i] *= unit
    high[i] *= unit
    state = SOUND if low[i] < np.inf and high[i] > -np.inf else NOT_FINITE
    if low[i] > high[i]:
        state = max(state, CONTRADICTORY)
        low[i] = high[i] = 0.5 * (low[i] + high[i])
    return state


@work_part
def _fill_range(rows, efforts):
    """See `Range`."""
    f, S, nc = rows.f, rows.S, len(rows.C)
    last, task, gaps = len(f) - len(S), 0.0, 0.0
    for r in range(nc, last):
        task += f[r] * f[r]
    for c in range(nc):
        gaps = max(gaps, abs(f[c]))
    for i in range(len(S)):
        effect, push = 0.0, 0.0
        for r in range(nc, last):
            effect += S[i, r] * S[i, r]
        for c in range(nc):
            push = max(push, abs(S[i, c]))
        natural = REACH * np.sqrt(task / effect) if effect > 0.0 else 0.0
        if push > 0.0:
            natural = max(natural, REACH * gaps / push)
        efforts.low[i] = max(rows.lo[i], -natural)
        efforts.span[i] = min(rows.hi[i], natural) - efforts.low[i]
        efforts.most[i] = rows.hi[i] - efforts.low[i] if rows.hi[i] < np.inf else efforts.span[i]
        efforts.push[i] = push

"""What the rows of a robot in motion see of the next moments: a step of Euler's, condensed and not taken.

    δ(t + T) = delta + W λ,      W = H (M/T² + D/T + K)⁻¹ Hᵀ

For a long T it is the static compliance, for a short one H M⁻¹Hᵀ T². Whoever chooses efforts works on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.core.tangent import EXACT
from pliant.dynamics.implicit import Handover, begin, condensed_step, moving, rayleigh_stiffness, start
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes.euler import EULER
from pliant.timing import Stopwatch


@dataclass(frozen=True)
class Foresight:
    """δ (k,) at the end as a function of efforts λ (k,): delta + W λ.

    First come the rows asked for, then contacts: gaps, less what they may be, and slips where there is
    friction. `shift`: what K̃ was raised by to be of use; `treatment`: how it was treated, see
    `pliant.core.tangent`.
    """

    W: np.ndarray
    delta: np.ndarray
    contacts: Contacts | None
    shift: float
    treatment: str = EXACT

    def imposing(self, rows: np.ndarray, imposed: np.ndarray, compliance: np.ndarray) -> Foresight:
        """As the other rows see it, with δ of some rows (k,) imposed.

        By springs of a compliance (k,), rigidly where that is zero.
        """
        if not len(rows):
            return self
        rest = np.setdiff1d(np.arange(len(self.delta)), rows)
        across = self.W[np.ix_(rows, rest)]
        inner = self.W[np.ix_(rows, rows)] + np.diag(compliance)
        back = np.linalg.solve(inner, np.column_stack([across, self.delta[rows] - imposed]))
        W = self.W[np.ix_(rest, rest)] - across.T @ back[:, :-1]
        return replace(self, W=0.5 * (W + W.T), delta=self.delta[rest] - across.T @ back[:, -1])


def foresee(
    model: Model,
    now: Motion,
    conditions: Conditions,
    rows: np.ndarray,
    time: float,
    work: Stopwatch,
    handover: Handover | None = None,
) -> Foresight | None:
    """The robot after `time` [s], as some rows (indices) and all contacts see it.

    Other rows keep the efforts they are given. None where there is no linearisation.
    """
    given = conditions.given.copy()
    given[rows] = False
    model = replace(model, scheme=EULER)
    # In a long time a robot could fall far, and would meet everything: those that do fall have a velocity
    # soon.
    task = begin(model, now, replace(conditions, given=given), time, travel=0.0)
    at, v, guess = work.timed("linearise", start, model, task, handover)
    if at is None:
        return None
    K_rayleigh = work.timed("linearise", rayleigh_stiffness, model, at.q, now.internal)
    here = work.timed("linearise", moving, model, task, at, K_rayleigh, v, guess, now.effort)
    system = condensed_step(model, task, here, guess, here.conditions, work)
    if system is None or not (np.isfinite(system.W).all() and np.isfinite(system.free).all()):
        return None
    contact = np.arange(len(conditions.given), len(here.conditions.given))
    order = np.searchsorted(here.conditions.solved, np.concatenate([rows, contact]))
    delta = system.free[order]
    delta[len(rows) :] -= here.conditions.imposed[contact]
    W = system.W[np.ix_(order, order)]
    return Foresight(W, delta, here.view.contacts, system.shift, system.treatment)

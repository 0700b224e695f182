"""One step of the model, top to bottom:  look → condense → solve → recover.

    r  = f_ext − f(q)                 K  = −∂(r + Hᵀλ)/∂q
    K dq = r + Hᵀλ                    δ⁺ = δ + H dq = δ_free + W λ,      W = H K⁻¹ Hᵀ

A scene is looked at in a situation (`scene.py`); the view is factorised and condensed to the rows that matter
(`tangent.py`); a solver that knows nothing but W, δ_free and the laws finds their efforts; and the motion
follows. Statics, dynamics, the inverse model and sensing differ in what they add to K and r, in which rows
they solve for, and in the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pliant.algebra import Factor
from pliant.conditions import Conditions
from pliant.core.scene import Scene
from pliant.core.tangent import EXACT, INDEFINITE, SHIFTED, Condensed, Rows, condense, condensed
from pliant.core.view import View
from pliant.solvers import mcp
from pliant.solvers.complementarity.exchange import exchange
from pliant.solvers.complementarity.warm_start import warm_start
from pliant.solvers.solution import INFEASIBLE, STATUSES
from pliant.timing import Stopwatch

FORWARD = (EXACT, INDEFINITE, SHIFTED)


class Solution(Protocol):
    """Efforts of the condensed rows, and the solver's status: "solved", "infeasible" or "not converged"."""

    @property
    def effort(self) -> np.ndarray: ...
    @property
    def status(self) -> str: ...


class Spreading(Rows, Protocol):
    """Rows that know where the efforts of those condensed belong."""

    def spread(self, effort: np.ndarray) -> np.ndarray:
        """λ of all rows, from that of the condensed ones."""
        ...


@dataclass(frozen=True)
class Step:
    """The answer of one step: dq (ndof,), λ of all rows, the condensed scene, and the solver's solution."""

    dq: np.ndarray
    lam: np.ndarray
    condensed: Condensed
    solution: Solution

    @property
    def feasible(self) -> bool:
        """Whether the laws do not contradict each other, so that the efforts mean something."""
        return self.solution.status != INFEASIBLE


def step(
    scene: Scene,
    view: View,
    rows: Spreading,
    solve: Callable[[Condensed], Solution],
    ladder: Sequence[str],
    work: Stopwatch,
    finish: Callable[[View, Factor], View] | None = None,
) -> Step | None:
    """The motion and the efforts that a view of the scene asks for; None where no tangent can be used."""
    found = condensed(scene, view, rows, ladder, work, finish)
    if found is None:
        return None
    solution = work.timed("solve", solve, found)
    dq, lam = work.timed("recover", recover, scene, found, rows, solution)
    return Step(dq, lam, found, solution)


def with_more_rows(
    scene: Scene, taken: Step, rows: Spreading, solve: Callable[[Condensed], Solution], work: Stopwatch
) -> Step:
    """A step that was taken, solved again for more rows with the factor at hand.

    What solves the laws of some contacts and keeps the others open solves those of all: contacts that seem
    to stay open are left out, and those of them that the step has closed come in again.
    """
    before = taken.condensed
    view = replace(before.view, lam=taken.lam)  # what the solver begins from
    treated = view, before.factor, before.treatment, before.shift
    found = work.timed("condense", condense, rows, *treated)
    solution = work.timed("solve", solve, found)
    dq, lam = work.timed("recover", recover, scene, found, rows, solution)
    return Step(dq, lam, found, solution)


def recover(
    scene: Scene, found: Condensed, rows: Spreading, solution: Solution
) -> tuple[np.ndarray, np.ndarray]:
    """dq = K⁻¹(r + Hᵀλ), and λ of all rows."""
    dq = found.rows.answer(solution.effort)
    return dq, scene.support.efforts(rows.spread(solution.effort), found.view.H, dq)


@dataclass(frozen=True)
class Balance:
    """The solution of a forward problem."""

    effort: np.ndarray
    status: str = STATUSES[0]


def balance(found: Condensed, conditions: Conditions, *, exchanging: bool = False) -> Balance:
    """The efforts of the solved rows: lo ≤ λ ≤ hi complementary to δ_free + Wλ − imposed + compliance·λ.

    Contacts with friction obey Coulomb's law. exchanging: where K is negative, rows that may open support it
    all the same if they stay closed (`exchange`). The solver's warm start are the efforts that the view has.
    """
    rows, c, start, free = conditions.solved, conditions, found.view.lam, found.free
    if not len(rows):
        return Balance(np.zeros(0))
    if not c.frictional:
        effort, settled = warm_start(found.W, free, rows, c.imposed, c.compliance, c.low, c.high, start)
        if settled:
            return Balance(effort)
    gap, low, high = free - c.imposed[rows], c.low[rows], c.high[rows]
    system = found.W + np.diag(c.compliance[rows])
    if not c.frictional:
        solution = mcp(system, gap, low, high, start=start[rows])
        if exchanging and found.negative and solution.certificate.status != STATUSES[0]:
            effort = exchange(system, gap, low, high, start[rows], found.negative)
            if effort is not None:
                return Balance(effort)
    else:
        from pliant.solvers import friction  # comes with many kernels

        others = len(rows) - 3 * len(c.friction)
        solution = friction(system, gap, c.friction, low[:others], high[:others], start=start[rows])
    return Balance(solution.effort, solution.certificate.status)

"""A robot linearised where it grasps, and disturbed: what contacts within their cones can balance.

    K dq = r + Hᵀλ + f + P (dq − dq'),      δ⁺ = δ + H dq = δ_free + W λ,      λ of contacts in their cones

f is what disturbs a thing. P carries what nothing but contacts hold, and vanishes as dq' → dq: where it does
not, no forces within the cones balance the disturbance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from pliant.algebra import Condensation
from pliant.conditions import REDUNDANT, Conditions
from pliant.core.scene import Scene
from pliant.core.situation import Situation
from pliant.core.step import FORWARD, Balance, balance
from pliant.core.tangent import Condensed, condensed
from pliant.core.view import View
from pliant.errors import ConvergenceError
from pliant.laws import Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.solvers.solution import SOLVED
from pliant.static.loads import Loads
from pliant.timing import Stopwatch

BALANCED = 1e-7  # of the load: what P may carry of it where a thing is held
LIGHT = (0.5, 2.0, 8.0, 32.0)  # P: shares of the pushes over the robot's length, the first that is enough
MOST_TURNS = 100  # of P
LOST = 100.0  # times what it would move if nothing slipped: what moves farther is lost
LEAST_LOST = 1e-6  # of the robot's length: less is rounding


@dataclass(frozen=True, eq=False)
class _Part:
    """The robot's own rows and those of some contacts (n,): others are open, and need not be looked at.

    rows: which of all; place: where those that are solved for stand among all such; W of these.
    """

    contacts: np.ndarray
    rows: np.ndarray
    place: np.ndarray
    conditions: Conditions
    W: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        """Which of its rows are solved for."""
        return self.conditions.solved


@dataclass(frozen=True, eq=False)
class Disturbed:
    """The robot where it grasps a thing: its rows H under their laws, W = H Y and Y = K⁻¹ Hᵀ."""

    robot: Robot
    conditions: Conditions
    found: Condensed
    H: csr_array
    Y: np.ndarray
    proximal: np.ndarray
    span: slice  # of the thing in dq
    scale: float  # [N] of the loads in the robot's coordinates

    @classmethod
    def of(cls, robot: Robot, result: Result, laws: Mapping[str, Law] | None, span: slice) -> Disturbed:
        """With the lightest P of which K + P is positive definite: things settle in few turns then."""
        detector = robot.surroundings.detector(robot)
        loads, work = Loads(robot, laws, result.state, detector), Stopwatch()
        P = _carrying(robot, float(np.sum(result.contact_force)))
        for share in LIGHT:
            proximal = share * P
            support = replace(loads.scene.support, proximal=proximal)
            scene, conditions = replace(loads.scene, support=support), loads.conditions
            view, found = _seen(scene, result), None
            if view is not None and view.contacts is not None:
                contacts, rows = view.contacts, len(view.lam) - view.own
                conditions = conditions.with_contacts(contacts.friction, np.zeros(len(contacts)), rows)
            if view is not None:
                found = condensed(scene, view, conditions, FORWARD, work)
            if found is not None and found.shift == 0.0:
                H = found.H.to_csr()
                Y = np.column_stack([found.rows.response(unit) for unit in np.eye(len(found.here))])
                scale = float(np.linalg.norm(found.view.H.transpose_dot(found.view.lam)))
                return cls(robot, conditions, found, H, Y, proximal, span, scale)
        message = f"{robot.name!r} is not stable where it grasps: nothing can be said of disturbances."
        raise ConvergenceError(message, result)

    def settle(self, load: np.ndarray, usual: np.ndarray) -> tuple[bool, np.ndarray, np.ndarray]:
        """Whether the contacts balance a load more (ndof,), dq then, and λ of all rows.

        usual (ndof,): a load that the thing bears anyway; it may always move as by this one.
        """
        found, lost = self.found, LOST * max(self._stuck(each) for each in (load, usual))
        dq, lam = np.zeros(len(load)), found.view.lam
        rest, size = self._load + load, max(self.scale, float(np.linalg.norm(load)))
        part = self._part(self.pushing(lam))
        for _ in range(MOST_TURNS):
            x = found.factor.solve(rest + self.proximal * dq)
            motion, before = self.H @ x, dq
            while True:
                answer = self._balanced(part, lam, motion)
                dq = x + self.Y[:, part.place] @ answer.effort
                closed = self._closed(part, dq)
                if not closed.any():
                    break
                part = self._part(part.contacts | closed)
            lam = self.conditions.effort.copy()
            lam[part.rows[part.solved]] = answer.effort
            if not self._farthest(dq) <= max(lost, LEAST_LOST * self.robot.length):  # nan is lost, too
                break
            if np.linalg.norm(self.proximal * (dq - before)) <= BALANCED * size:
                return answer.status == SOLVED, dq, lam
        return False, dq, lam

    def pushing(self, lam: np.ndarray) -> np.ndarray:
        """Which contacts (n,) push."""
        own = self.found.view.own
        return lam[own : own + len(self.conditions.friction)] > 0.0

    def _part(self, contacts: np.ndarray) -> _Part:
        """The robot's own rows and those of some contacts (n,)."""
        c, own, n = self.conditions, self.found.view.own, len(contacts)
        chosen = np.flatnonzero(contacts)
        along = (own + n + 2 * chosen[:, None] + [0, 1]).ravel() if c.frictional else chosen[:0]
        rows = np.concatenate([np.arange(own), own + chosen, along])
        of_rows = (c.given, c.effort, c.imposed, c.compliance, c.low, c.high)
        given, effort, imposed, compliance, low, high = (values[rows] for values in of_rows)
        mine = Conditions(given, effort, imposed, compliance, low, high, c.friction[chosen])
        place = np.searchsorted(c.solved, rows[mine.solved])
        return _Part(contacts, rows, place, mine, self.found.W[np.ix_(place, place)])

    def _balanced(self, part: _Part, lam: np.ndarray, motion: np.ndarray) -> Balance:
        """The efforts of a part's rows where all that are solved for would move by `motion`."""
        rows = Condensation(part.W, motion[part.place], lambda effort: effort, lambda effort: effort)
        view, here = replace(self.found.view, lam=lam[part.rows]), self.found.here[part.place]
        return balance(replace(self.found, view=view, here=here, rows=rows), part.conditions)

    def _closed(self, part: _Part, dq: np.ndarray) -> np.ndarray:
        """Which contacts (n,) that are not of a part a motion would close."""
        own, n = self.found.view.own, len(part.contacts)
        place = np.searchsorted(self.conditions.solved, own + np.arange(n))
        return ((self.found.here + self.H @ dq)[place] < 0.0) & ~part.contacts

    def _farthest(self, dq: np.ndarray) -> float:
        """How far [m] a motion moves any point of the thing."""
        return float(np.abs(self.robot.reach * dq)[self.span].max())

    def slip(self, dq: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """How far [m] the contacts (n,) slip; nan where they do not push, or have no friction."""
        n, own = len(self.conditions.friction), self.found.view.own
        if not self.conditions.frictional:
            return np.full(n, np.nan)
        motion = np.zeros(len(lam))
        motion[self.conditions.solved] = self.H @ dq
        far = np.linalg.norm(motion[own + n :].reshape(-1, 2), axis=1)
        return np.where(self.pushing(lam) & (self.conditions.friction > 0.0), far, np.nan)

    def normals(self) -> np.ndarray:
        """What a push of 1 N of each contact is on the thing, (n, dim dq of the thing)."""
        n, own = len(self.conditions.friction), self.found.view.own
        return self.found.view.H.to_csr()[own : own + n, self.span].toarray()

    def _stuck(self, load: np.ndarray) -> float:
        """How far [m] the thing moves under a load (ndof,) if what pushes neither opens nor slips."""
        if not load.any():
            return 0.0
        part = self._part(self.pushing(self.found.view.lam))
        x = self.found.factor.solve(load)
        Hx = (self.H @ x)[part.place]
        dq = x - self.Y[:, part.place] @ np.linalg.lstsq(part.W, Hx, rcond=REDUNDANT)[0]
        return self._farthest(dq)

    @cached_property
    def _load(self) -> np.ndarray:
        """r with the efforts that are given, (ndof,)."""
        return self.conditions.parted(self.found.view)[2]


def _seen(scene: Scene, result: Result) -> View | None:
    """The robot where a result has it, with the contacts and forces found there; slip counts from there."""
    state, contacts, detector = result.state, result.contacts, scene.detector
    view = scene.bare(Situation(state.q, state.effort, state.internal, scene.robot.gravity))
    if view is None or contacts is None or detector is None:
        return view
    along = result.friction_force.ravel() if contacts.frictional else np.zeros(0)
    return view.touching(contacts, np.concatenate([result.contact_force, along])).stiffened(
        detector, exact=True
    )


def _carrying(robot: Robot, pushes: float) -> np.ndarray:
    """P (ndof,) of bodies that may move as a whole: pushes [N] over the robot's length, in all motions."""
    P = np.zeros(robot.ndof)
    for body, span in zip(robot.bodies, robot.dq_spans, strict=True):
        if body.rigid_modes():
            P[span] = pushes / robot.length / (body.ndof / 3)
    return P * robot.reach**2

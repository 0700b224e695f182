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

from pliant.algebra import Condensation
from pliant.conditions import REDUNDANT, Conditions
from pliant.core.scene import Scene
from pliant.core.situation import Situation
from pliant.core.step import FORWARD, balance
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
LOST = 20.0  # times what it would move if nothing slipped: what moves farther is lost
LEAST_LOST = 1e-6  # of the robot's length: less is rounding


@dataclass(frozen=True, eq=False)
class Disturbed:
    """The robot where it grasps a thing: its rows H under their laws, W = H Y and Y = K⁻¹ Hᵀ."""

    robot: Robot
    conditions: Conditions
    found: Condensed
    H: np.ndarray
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
                H = found.H.to_csr().toarray()
                Y = np.column_stack([found.rows.response(unit) for unit in np.eye(len(H))])
                scale = float(np.linalg.norm(found.view.H.transpose_dot(found.view.lam)))
                return cls(robot, conditions, found, H, Y, proximal, span, scale)
        message = f"{robot.name!r} is not stable where it grasps: nothing can be said of disturbances."
        raise ConvergenceError(message, result)

    def settle(self, load: np.ndarray) -> tuple[bool, np.ndarray, np.ndarray]:
        """Whether the contacts balance a load more (ndof,), dq then, and λ of all rows."""
        found, lost = self.found, LOST * self._farthest(self._stuck(load))
        dq, lam = np.zeros(len(load)), found.view.lam
        rest, size = self._load + load, max(self.scale, float(np.linalg.norm(load)))
        for _ in range(MOST_TURNS):
            x = found.factor.solve(rest + self.proximal * dq)
            now = replace(found.view, lam=lam)
            motion = Condensation(found.W, self.H @ x, lambda effort: effort, lambda effort: effort)
            answer = balance(replace(found, view=now, rows=motion), self.conditions)
            before, dq = dq, x + self.Y @ answer.effort
            lam = self.conditions.spread(answer.effort)
            if not self._farthest(dq) <= max(lost, LEAST_LOST * self.robot.length):  # nan is lost, too
                break
            if np.linalg.norm(self.proximal * (dq - before)) <= BALANCED * size:
                return answer.status == SOLVED, dq, lam
        return False, dq, lam

    def _farthest(self, dq: np.ndarray) -> float:
        """How far [m] a motion moves any point of the thing."""
        return float(np.abs(self.robot.reach * dq)[self.span].max())

    def _stuck(self, load: np.ndarray) -> np.ndarray:
        """The motion (ndof,) under a load if what pushes neither opened nor slipped."""
        lam, n = self.found.view.lam, len(self.conditions.friction)
        own = len(lam) - 3 * n
        pushing = np.flatnonzero(lam[own : own + n] > 0.0)
        rows = np.concatenate([np.arange(own), own + pushing, *(own + n + 2 * pushing + k for k in (0, 1))])
        place = np.flatnonzero(np.isin(self.conditions.solved, rows))
        x = self.found.factor.solve(load)
        W = self.found.W[np.ix_(place, place)]
        return x - self.Y[:, place] @ np.linalg.lstsq(W, self.H[place] @ x, rcond=REDUNDANT)[0]

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

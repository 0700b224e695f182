"""The loads on the way from a start state to the laws asked for: efforts, displacements, gravity, supports.

All of them grow together; s runs from 0 to 1. Supports that `move_supports` moved are a load as well: the
body was left behind, and where it would have them their way begins (`pliant.bodies.support_motion`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from pliant.bodies.support_motion import SupportMotion
from pliant.contact import Detector
from pliant.contact.detect.crossing import Crossing
from pliant.core.chambers import Closed, opened, settled
from pliant.core.drives import Play, motors
from pliant.core.rows import levers
from pliant.core.scene import Scene
from pliant.core.sliding import Sliding
from pliant.core.support import Support, may_hang
from pliant.core.view import View, linearise
from pliant.laws import Law
from pliant.newton import Iterate, Problem
from pliant.result import JUMPED, SLIPPED_ALONG, SLIPPED_OFF, Passage
from pliant.robot import Robot
from pliant.state import State
from pliant.static.memory import Passing
from pliant.units import quantity

FAR_LOST = 0.05  # of the length: a contact that is lost after so long a way may have slipped off
NOT_MOVED = (
    0.1  # of the cells next to supports: so near to where the body has them, they strain it, that is all
)
LARGEST_TURN = 0.6 * np.pi  # [rad] that a load step imposes
IN_BALANCE = 1e-6  # of the weight or the efforts: a start with less residual is an equilibrium


class Loads:
    """A robot, its surroundings, and its loads on the way from a start state."""

    def __init__(
        self,
        robot: Robot,
        laws: Mapping[str, Law] | None,
        start: State,
        detector: Detector | None,
        *,
        unstable: bool = False,
        passing: Passing | None = None,
    ) -> None:
        self.passing = passing
        self.robot, self.start = robot, start
        self.conditions = opened(robot, robot.forward(laws))
        self.unstable = unstable
        self.delta0 = robot.bundle.delta(robot.bundle.positions(start.q))
        # A spring's rest value is not a load; what is imposed at the drive of an elastic tendon is.
        self.springs = (self.conditions.compliance > 0.0) & (robot.compliance == 0.0)
        self.imposed0 = self.delta0 + robot.compliance * start.effort
        known = start.effort, self.delta0, start.internal
        self.closed = Closed.of(robot, self.conditions, *known) if robot.bundle.lined else None
        if self.closed is not None:
            self.imposed0[[c.row for c in self.closed.chambers]] = [c.pushed for c in self.closed.charge]
        rest = robot.rest
        at_rest = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity, tangent=False)
        assert at_rest is not None
        self.weight = float(np.linalg.norm(at_rest.r))
        self.span = robot.length * levers(robot)
        detector = detector if detector is not None and detector.opponents else None
        play = Play.of(robot, self.conditions, start.effort, self.delta0)
        played = self.conditions if play is None else play.on(self.conditions)
        rows, hanging = played.supporting, may_hang(robot, self.conditions)
        support = Support.of(robot, rows, touching=detector is not None, hanging=hanging)
        self.scene = Scene(robot, detector, support)
        self.crossing = None if detector is None else Crossing(detector)
        self.depth = np.zeros(0)  # gaps of what already penetrates
        if detector is not None:
            found = detector.detect(start.q)
            self.depth = found.deepest()

    @cached_property
    def least_steps(self) -> int:
        """In how many load steps an imposed angle is turned to: beyond half a turn there are two ways."""
        c, farthest = self.conditions, 0.0
        for name, row in self.robot.rows.items():
            span = self.robot.spans[name]
            imposed = ~c.given[span] & (c.compliance[span] == 0.0) & np.isfinite(c.imposed[span])
            if row.interaction.unit == "rad" and imposed.any():
                turn = np.abs(c.imposed[span] - self.delta0[span])[imposed]
                farthest = max(farthest, float(turn.max()))
        return max(1, int(np.ceil(farthest / LARGEST_TURN)))

    def at(self, s: float, here: Iterate, z: np.ndarray) -> Problem:
        """The problem at a share s of the loads, its slip counted from `here`."""
        c, start = self.conditions, self.start
        blend = lambda a, b: a + s * (b - a)
        asked = np.where(np.isnan(c.imposed), self.imposed0, c.imposed)  # nan: a syringe stays where it is
        imposed = np.where(c.given | self.springs, asked, blend(self.imposed0, asked))
        effort = np.where(c.given, blend(start.effort, c.effort), 0.0)
        laws = replace(c, effort=effort, imposed=imposed)
        play, bundle = None, self.robot.bundle
        if bundle.driven:
            play = Play.of(self.robot, laws, here.lam, bundle.delta(bundle.positions(here.q)))
        laws = laws if play is None else play.on(laws)
        sliding = Sliding.begun(self.robot, laws, here.q, here.lam, z)
        return Problem(
            scene=self.scene,
            viscous=None if self.passing is None else self.passing.overstress(s),
            conditions=laws if sliding is None else sliding.conditions,
            sliding=sliding,
            play=play,
            closed=None if self.closed is None else self.closed.at(s, imposed),
            gravity=blend(start.gravity, self.robot.gravity),
            z=z if sliding is None else sliding.internal(z),
            start=here.q,
            allowance=(1.0 - s) * self.depth,
            span=self.span,
            weight=self.weight,
            unstable=self.unstable,
        )

    def remembered(self, found: Iterate, z: np.ndarray) -> np.ndarray:
        """Internal variables in an equilibrium: with what chambers then contain, where motors are, and what
        materials that soften have been through.
        """
        bundle = self.robot.bundle
        z = self.robot.arrived(found.q, z, z) if found.converged else z
        if not (bundle.lined or bundle.driven):
            return z
        known = found.lam, bundle.delta(bundle.positions(found.q))
        z = settled(self.robot, self.conditions, z, *known)
        return motors(self.robot, self.conditions, z, *known)

    # Supports that were moved

    @cached_property
    def view(self) -> View | None:
        """The start under its own loads, None where cells are inside out."""
        start, viscous = self.start, None
        if self.passing is not None and not any(law.rate > 0 for law in self.passing.damping):
            viscous = self.passing.overstress(0.0)
        known = start.q, start.effort, start.internal, start.gravity
        return linearise(self.robot, *known, tangent=False, viscous=viscous)

    @cached_property
    def motions(self) -> tuple[SupportMotion | None, ...]:
        """How the supports of each body come to where the start has them; none where they were not moved."""
        robot, start = self.robot, self.start
        if self.view is not None:
            effort = float(np.linalg.norm(self.view.H.transpose_dot(start.effort)))
            if np.linalg.norm(self.view.residual()) <= IN_BALANCE * max(self.weight, effort):
                return tuple(None for _ in robot.bodies)
        parts = [(b, start.q[s]) for b, s in zip(robot.bodies, robot.q_spans, strict=True)]
        found = [None if np.array_equal(q, b.q0) else b.support_motion(q) for b, q in parts]
        return tuple(m if m is not None and m.farthest > NOT_MOVED * m.spacing else None for m in found)

    @property
    def admissible(self) -> bool:
        """Whether there is a start: cells that moved supports turn inside out are not where it begins."""
        start = self.start
        if self.view is not None or not self.moves_supports:
            return self.view is not None
        q = self.carried(start.q, 0.0, 0.0)
        known = q, start.effort, start.internal, start.gravity
        return linearise(self.robot, *known, tangent=False) is not None

    @property
    def moves_supports(self) -> bool:
        """Whether supports move along the path."""
        return any(m is not None for m in self.motions)

    def carried(self, q: np.ndarray, s0: float, s1: float) -> np.ndarray:
        """q with the supports at a share s1 of their way, the bodies carried along from a share s0."""
        q = q.copy()
        for motion, span in zip(self.motions, self.robot.q_spans, strict=True):
            if motion is not None:
                q[span] = motion.carried(q[span], s0, s1)
        return q

    # What is passed on the way

    def passed(self, before: Iterate, after: Iterate) -> tuple[str, ...]:
        """Opponents that were crossed between two equilibria, or lost after a long way."""
        if self.crossing is None:
            return ()
        pushed, pushing = _pushing(before), _pushing(after)
        far = self.moved(before, after) > FAR_LOST * self.robot.length
        lost = sorted(pushed - pushing) if far else []
        return tuple(dict.fromkeys([*self.crossing.passed(before.q, after.q), *lost]))

    def events(
        self, share: float, before: Iterate, after: Iterate, passed: tuple[str, ...]
    ) -> tuple[Passage, ...]:
        """What is to be said of opponents that were passed without equilibria in between."""
        pushed, pushing, motion = _pushing(before), _pushing(after), self.moved(before, after)
        word = lambda name: (SLIPPED_ALONG if name in pushing else SLIPPED_OFF) if name in pushed else JUMPED
        return tuple(Passage(word(name), name, share, motion) for name in passed)

    def moved(self, before: Iterate, after: Iterate) -> float:
        """How far [m] any node moves from one state to the other."""
        way = self.robot.positions(after.q) - self.robot.positions(before.q)
        return float(np.linalg.norm(way, axis=1).max())

    # In words

    def words(self, s: float) -> str:
        """What a share of the loads is: "p 41 kPa of 65 kPa", the rows that change and gravity."""
        c, start, parts = self.conditions, self.start, []
        for name, row in self.robot.rows.items():
            span, unit = self.robot.spans[name], row.interaction
            effort = bool(c.given[span].all())
            if not effort and (c.given[span].any() or (c.compliance[span] > 0).any()):
                continue
            here, there = (start.effort, c.effort) if effort else (self.delta0, c.imposed)
            if not (np.isfinite(there[span]).all() and (here[span] != there[span]).any()):
                continue
            shown = unit.effort_unit if effort else unit.unit
            now, whole = (here + s * (there - here))[span], there[span]
            k = [int(np.abs(whole - here[span]).argmax())]  # of many, the one that changes most
            parts.append(
                f"{name} {quantity(now[k], shown, digits=3)} of {quantity(whole[k], shown, digits=3)}"
            )
        g0, g1 = start.gravity, self.robot.gravity
        if (g0 != g1).any():
            now, whole = (np.linalg.norm(g) for g in (g0 + s * (g1 - g0), g1))
            parts.append(f"gravity {now:.3g} of {whole:.3g} m/s²")
        if "motions" in vars(self) and self.moves_supports:
            parts.append(f"supports {100 * s:.0f} % of their way")
        return ", ".join(parts)


def _pushing(at: Iterate) -> set[str]:
    """Names of the opponents that push."""
    if at.contacts is None:
        return set()
    normal = at.force[: len(at.contacts)]
    return {at.contacts.names[k] for k in np.unique(at.contacts.opponent[normal > 0.0])}

"""What statics says of targets and states: without the inverse model, by commands alone.

A target is reachable if quasi-static commands from rest among the same obstacles bring it about: efforts or
displacements of the actuators that grow in small parts, each an equilibrium near the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.compliance import compliance
from pliant.contact import Detector
from pliant.contact.detect.crossing import Crossing
from pliant.inverse import Outcome
from pliant.laws import Bounded, Known, Law
from pliant.newton import Iterate, Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import relaxed
from pliant.static.loads import Loads
from pliant.static.stability import buckles
from pliant.timing import Stopwatch

PARTS = 6  # of a random command
WEAKER = (1.0, 0.25, 0.0625)  # shares of a command: less, where not even its first part can be followed
FARTHEST = 0.1  # of the length: how far a part may move any node; more is a snap, which is not followed
STARTS, DESCENTS = 3, 6  # of searches for an equilibrium nearer to a target
DAMPING = 1e-3  # of the length: what a whole range of an effort counts in such a search
TOLERANCE = Tolerance(iterations=30)  # of equilibria next to a known state
INSIDE = 1e-6  # of a displacement's range, that it may be past its end


def distance(targets: Mapping[str, np.ndarray], displacement: Mapping[str, np.ndarray]) -> float:
    """Between targets and where their rows are [m]."""
    return float(np.sqrt(sum(np.sum((displacement[n] - t) ** 2) for n, t in targets.items())))


@dataclass(frozen=True)
class Place:
    """An equilibrium that commands from rest bring about, and where the effectors are then."""

    result: Result
    targets: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Judge:
    """Statics of a robot under its present laws, among the obstacles of a detector."""

    robot: Robot
    laws: Mapping[str, Law]  # of all rows
    detector: Detector

    def places(self, rng: np.random.Generator, walks: int) -> list[Place]:
        """Equilibria along random commands from rest, as far as each can be followed and does not buckle.

        Only those within the bounds of the actuators; none if the robot cannot rest among these obstacles.
        """
        first = self._solved(self._part({}, 0.0), self.robot.rest)
        if first is None:
            return []
        found = [first]
        for _ in range(walks):
            wanted = self._command(rng)
            for share in WEAKER:
                walked = self._walked(first, {name: share * side for name, side in wanted.items()})
                found += walked
                if walked:
                    break
        if not self._stable(first):
            found.remove(first)
        return [self._place(result) for result in found if self._admissible(result)]

    def _walked(self, now: Result, wanted: Mapping[str, float]) -> list[Result]:
        """Equilibria on the way to a command, as far as each is near the one before and stable."""
        found: list[Result] = []
        for share in np.linspace(0.0, 1.0, PARTS + 1)[1:]:
            result = self._solved(self._part(wanted, share), now.state)
            if result is None or self._snapped(now, result) or not self._stable(result):
                break
            found.append(result)
            now = result
        return found

    def _solved(self, laws: Mapping[str, Law], state: State) -> Result | None:
        """The equilibrium under these laws next to a state, if a few iterations find it."""
        result = relaxed(self.robot, laws, state, self.detector, TOLERANCE)
        return result if result.certificate.converged else None

    def _place(self, result: Result) -> Place:
        return Place(result, {name: result.displacement[name] for name in self._effectors()})

    def nearest(self, targets: Mapping[str, np.ndarray], places: Sequence[Place]) -> float:
        """Least distance [m] from targets: of known places, and of equilibria further on from the nearest.

        From there efforts go on in steps as compliance tells, each an equilibrium near the one before.
        """
        ordered = sorted(places, key=lambda place: distance(targets, place.targets))
        best = distance(targets, ordered[0].targets)
        for now in ordered[:STARTS]:
            for _ in range(DESCENTS):
                laws = self._towards(now.result, targets)
                result = None if laws is None else self._solved(laws, now.result.state)
                if result is None or self._snapped(now.result, result) or not self._admissible(result):
                    break
                further = self._place(result)
                if distance(targets, further.targets) >= distance(targets, now.targets):
                    break
                now = further
            best = min(best, distance(targets, now.targets))
        return best

    def _towards(self, here: Result, targets: Mapping[str, np.ndarray]) -> dict[str, Law] | None:
        """Laws with efforts that bring the effectors a step nearer, as far as W and the bounds tell.

        None where no actuator is commanded by its effort, or nothing but rows support the robot.
        """
        from scipy.optimize import lsq_linear  # slow to import

        named = {name: law for name, law in self._actuators().items() if self._by_effort(name, law)}
        if not named or self.robot.rigid_modes():
            return None
        W = compliance(self.robot, here.state)
        blocks = [np.concatenate([W[e, a].sum(axis=1) for e in targets]) for a in named]
        off = np.concatenate([target - here.displacement[e] for e, target in targets.items()])
        off *= min(1.0, FARTHEST * self.robot.length / 2 / max(float(np.linalg.norm(off)), 1e-300))
        now = np.array([float(here.effort[name].mean()) for name in named])
        low, high = np.array([self._efforts(name, law) for name, law in named.items()]).T
        scale = np.maximum(high - low, 1e-300)
        A = np.vstack([np.column_stack(blocks) * scale, DAMPING * self.robot.length * np.eye(len(scale))])
        room = (low - now) / scale - 1e-9, (high - now) / scale + 1e-9
        change = lsq_linear(A, np.concatenate([off, 0.0 * scale]), bounds=room).x * scale
        laws = dict(self.laws)
        for name in self._actuators():
            laws[name] = Known(displacement=here.displacement[name])
        for name, value in zip(named, np.clip(now + change, low, high), strict=True):
            laws[name] = Known(effort=np.full(len(here.effort[name]), value))
        return laws

    def moved(self, out: Outcome, detector: Detector) -> float:
        """How far [m] the effectors move if the drives keep their commands and statics decides.

        Infinite where no equilibrium is found.
        """
        laws = {**self.laws, **{name: Known(displacement=value) for name, value in out.command.items()}}
        result = relaxed(self.robot, laws, out.state, detector, TOLERANCE)
        if not result.certificate.converged:
            return np.inf
        return max(
            float(np.linalg.norm(result.displacement[n] - out.displacement[n])) for n in self._effectors()
        )

    # Commands

    def _effectors(self) -> list[str]:
        return [name for name, law in self.laws.items() if law.role == "effector"]

    def _actuators(self) -> dict[str, Bounded]:
        return {name: law for name, law in self.laws.items() if isinstance(law, Bounded)}

    def _by_effort(self, name: str, law: Bounded) -> bool:
        """Whether the actuator is commanded by its effort; if that has no bounds, by its displacement."""
        low, high = self._efforts(name, law)
        return bool(np.isfinite([low, high]).all())

    def _efforts(self, name: str, law: Bounded) -> tuple[float, float]:
        possible = self.robot.rows[name].interaction.effort_range
        return max(law.effort[0], possible[0]), min(law.effort[1], possible[1])

    def _command(self, rng: np.random.Generator) -> dict[str, float]:
        """A random command of some actuators, from 0 for none to ±1 for all that it may."""
        sides = rng.uniform(-1.0, 1.0, size=len(self._actuators()))
        chosen = rng.random(len(sides)) < 0.6
        if not chosen.any() and len(sides):
            chosen[rng.integers(len(sides))] = True
        return {name: float(s * c) for name, s, c in zip(self._actuators(), sides, chosen)}

    def _part(self, wanted: Mapping[str, float], share: float) -> dict[str, Law]:
        """The laws of all rows for a share of a command."""
        rest = self.robot.split(self.robot.bundle.delta(self.robot.bundle.positions(self.robot.rest.q)))
        laws = dict(self.laws)
        for name, law in self._actuators().items():
            by_effort = self._by_effort(name, law)
            low, high = self._efforts(name, law) if by_effort else law.displacement
            begin = float(np.clip(0.0 if by_effort else rest[name].mean(), low, high))
            side = wanted.get(name, 0.0)
            most = high if side >= 0 or low >= begin else low
            value = begin + share * abs(side) * (most - begin)
            size = self.robot.rows[name].interaction.size
            command = np.full(size, value)
            laws[name] = Known(effort=command) if by_effort else Known(displacement=command)
        return laws

    def _admissible(self, result: Result) -> bool:
        """Whether it keeps to the bounds of all actuators."""
        for name, law in self._actuators().items():
            slack = INSIDE * np.ptp(law.displacement) if np.isfinite(law.displacement).all() else 0.0
            delta, effort = result.displacement[name], result.effort[name]
            low, high = self._efforts(name, law)
            if (delta < law.displacement[0] - slack).any() or (delta > law.displacement[1] + slack).any():
                return False
            if (effort < low).any() or (effort > high).any():
                return False
        return True

    def _stable(self, result: Result) -> bool:
        """Whether a robot could be there: statics also passes through what buckles with all drives locked."""
        laws = dict(self.laws)
        for name in self._actuators():
            laws[name] = Known(displacement=result.displacement[name])
        loads = Loads(self.robot, laws, result.state, self.detector)
        force = np.concatenate([result.contact_force, result.friction_force.ravel()])
        here = Iterate(result.q, result.state.effort, result.contacts, force)
        problem = loads.at(1.0, here, result.state.internal)
        return not buckles(problem, here, Stopwatch())

    @cached_property
    def _crossing(self) -> Crossing:
        return Crossing(self.detector)

    def _snapped(self, before: Result, after: Result) -> bool:
        """Whether the way between two equilibria is too long to be followed, or leads through something."""
        moved = np.linalg.norm(after.positions - before.positions, axis=1).max()
        return bool(moved > FARTHEST * self.robot.length) or bool(self._crossing.passed(before.q, after.q))

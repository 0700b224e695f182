"""A reduced robot that stands in for the full one, as long as it may be trusted.

While it runs, a process compares it with the full model now and then (`pliant.reduction.watch`). Where they
are farther apart than the bound, the full model goes on from there; and the reduced one takes over again
where it is back within half of the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pliant.bodies.reduced import Reduced
from pliant.contact import Obstacle
from pliant.laws import Law
from pliant.reduction.fast import Fast
from pliant.reduction.watch import Look, Watch, apart, balanced, commands_of, on_full, remembered
from pliant.session.hand import Hand
from pliant.session.reading import Reading
from pliant.state import State
from pliant.units import quantity

TRIED_EVERY = 20  # steps of the full model after which it is seen whether the reduced one would do again
BACK = 0.5  # of the bound


class StandIn:
    """Which of two robots runs, and how far they are apart: `error` [m], None where it is not known."""

    def __init__(self, fast: Fast) -> None:
        self.fast = fast
        self._hands = {"reduced": Hand(fast.robot), "full": Hand(fast.full)}
        self.watch = Watch(self._hands["full"].robot, self._hands["reduced"].robot)
        self.begin()

    def begin(self) -> None:
        """The reduced robot runs, and nothing is known of its error."""
        self.running, self.error, self._steps = "reduced", None, 0
        self._since = 0  # states handed over before this step are of another time
        self.in_motion = False

    @property
    def hand(self) -> Hand:
        """The hand on the robot that runs, and that robot."""
        return self._hands[self.running]

    def judge(
        self, step: int, reading: Reading, laws: Mapping[str, Law], obstacles: Iterable[Obstacle], still: bool
    ) -> bool:
        """Whether the other robot is to go on from here. `still`: statics, where errors can be seen."""
        self.in_motion = not still
        if not still:
            return False
        obstacles = tuple(obstacles)
        under = {**commands_of(self.hand.robot, reading.effort, reading.displacement), **laws}
        if self.running == "reduced":
            return self._watched(step, reading.state, under, obstacles)
        self._steps += 1
        return self._steps % TRIED_EVERY == 0 and self._would_do(reading.state, under, obstacles)

    def exchange(self, state: State, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> State:
        """The other robot runs from now on; returns where it begins: in equilibrium, if it finds that."""
        old, full = self.hand, self._hands["full"].robot
        there = on_full(full, old.robot, state) if self.running == "reduced" else self._projected(state)
        self.running = "full" if self.running == "reduced" else "reduced"
        self.hand.press(old.vertices, old.weights, old.force)
        return balanced(self.hand.robot, there, laws, obstacles)[0]

    @property
    def words(self) -> str:
        """Which model runs, and how far from the other, in a sentence."""
        bound = quantity(self.fast.bound, "m", digits=2)
        if self.running == "full":
            if self.error is None:
                return "The full model runs: how far off the reduced one is here is not known."
            error = quantity(self.error, "m", digits=2)
            return f"The full model runs: the reduced one is {error} off here, it is trusted with {bound}."
        if self.in_motion:
            return "The reduced model runs; in motion its error is not watched."
        if self.watch.lost:
            return f"The reduced model runs; its error is not watched ({self.watch.lost})."
        if self.error is None:
            return "The reduced model runs; its error is not known yet."
        return f"The reduced model runs, {quantity(self.error, 'm', digits=2)} from the full one."

    def _watched(
        self, step: int, state: State, laws: Mapping[str, Law], obstacles: tuple[Obstacle, ...]
    ) -> bool:
        look = self.watch.heard()
        self.watch.see(state, laws, obstacles, step)
        if look is None or look.step < self._since:
            return False
        return self._beyond(look, step)

    def _beyond(self, look: Look, step: int) -> bool:
        self.error = look.error
        beyond = look.error > self.fast.bound
        if beyond:
            self._since = step + 1
        return beyond

    def _would_do(self, state: State, laws: Mapping[str, Law], obstacles: tuple[Obstacle, ...]) -> bool:
        """Whether the reduced model, under the same commands, is back within its bound."""
        reduced, full = self._hands["reduced"], self._hands["full"].robot
        reduced.press(self.hand.vertices, self.hand.weights, self.hand.force)
        there, settled = balanced(reduced.robot, self._projected(state), laws, obstacles)
        self.error = apart(full, on_full(full, reduced.robot, there).q, state.q)
        return settled and self.error < BACK * self.fast.bound

    def _projected(self, state: State) -> State:
        """The state of the reduced robot nearest to one of the full one."""
        full, reduced = self._hands["full"].robot, self._hands["reduced"].robot
        parts = zip(reduced.bodies, full.q_spans, strict=True)
        q = [b.project(state.q[s]) if isinstance(b, Reduced) else state.q[s] for b, s in parts]
        z = remembered(reduced, full, state.internal)
        return State(np.concatenate(q), np.zeros(reduced.ndof), state.effort, z, state.gravity)

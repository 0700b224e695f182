"""To an equilibrium by overdamped steps in time, where Newton's method finds none.

That is where contacts come and go between its iterations.

Steps in time that forget their speed, (M/h² + K) dq = r + Hᵀλ: each is short, none overshoots, and where they
end the robot rests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pliant.contact import Obstacle
from pliant.dynamics import Moment, Simulation
from pliant.laws import Law
from pliant.robot import Robot
from pliant.session.around import arrange
from pliant.state import State

TIME_STEP = 0.02  # h [s]
MOTIONLESS = 1e-6  # of the robot's length: motion in a step that is none
MOST_STEPS = 500  # steps


class Creep:
    """A robot on its way from a state to rest. `steps` counts them; `rests` when it is there."""

    def __init__(self, robot: Robot, state: State, obstacles: Iterable[Obstacle]) -> None:
        self.robot, self.obstacles = robot, {o.name: o for o in obstacles}
        self.simulation = Simulation(
            robot, self.obstacles.values(), time_step=TIME_STEP, scheme="euler", state=_stopped(state)
        )
        self.steps, self.rests = 0, False

    def step(self, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> Moment:
        """A little nearer; a ConvergenceError if that is not possible either."""
        self.obstacles = arrange(self.simulation.detector, self.obstacles, obstacles)
        before = self.robot.positions(self.simulation.state.q)
        moment = self.simulation.step(laws)
        self.simulation.state = _stopped(moment.state)
        motion = float(np.abs(moment.positions - before).max(initial=0.0))
        self.steps, self.rests = self.steps + 1, motion < MOTIONLESS * self.robot.length
        return moment


def _stopped(state: State) -> State:
    """The same place without speed."""
    return State(state.q, np.zeros(len(state.v)), state.effort, state.internal, state.gravity)

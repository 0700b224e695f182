"""The inverse model: efforts that bring effectors to their targets, using contacts on the way.

Each step linearises the robot where it stands, condenses it to its effectors (e), actuators (a) and contacts
(c), and solves

    min ‖δ_e⁺ − goal‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a⁺,   0 ≤ λ_c ⊥ δ_c⁺ ≥ 0

then moves there. `model` does that; `policy` says what a step tries and in what order, and what one step
leaves for the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.inverse.inputs import check_robot, check_roles, check_settings
from pliant.inverse.model import Model
from pliant.inverse.outcome import Outcome
from pliant.inverse.policy import Memory, advance, begin
from pliant.inverse.policy.targets import changed, targets_by_name
from pliant.inverse.pose import Pose
from pliant.inverse.roles import compile_roles, lost_law
from pliant.inverse.settings import Settings
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State


class Inverse:
    """Inverse model of a robot among obstacles.

        ctl = pl.Inverse(robot, obstacles=[pl.Sphere((0.05, 0, 0.1), 0.02)])
        out = ctl.step(targets={"tip": [x, y, z]})

    Rows with a `Bounded` law are chosen, rows with a `Target` are effectors; all others stay as their law
    says. `laws` replaces laws of the robot, `state` is where to start (default: the equilibrium with all
    actuators at zero effort). `obstacles` come on top of the robot's surroundings; they may be added, moved
    and removed between steps through `detector`. damping: laws of viscous materials, as for `static`; dt [s]
    is then the time that passes in a step, in which they relax and creep.

    All that a step leaves for the next is `memory`, a frozen value: keep it and set it again, and the
    controller goes on from there.
    """

    def __init__(
        self,
        robot: Robot,
        obstacles: Iterable[Obstacle] = (),
        *,
        laws: Mapping[str, Law] | None = None,
        state: State | None = None,
        settings: Settings = Settings(),  # noqa: B008  (frozen)
        damping: Any = None,
        dt: float | None = None,
    ) -> None:
        check_robot(robot)
        check_settings(settings)
        check_roles(compile_roles(robot, laws))
        detector = robot.surroundings.detector(robot, obstacles)
        self.robot, self.settings = robot, settings
        self._first = state and robot.checked(state)
        self.model = Model(robot, detector, laws or {}, settings, self._first, damping, dt)
        self.memory: Memory = begin(self.model)

    @property
    def pose(self) -> Pose:
        """Where the robot is, with its contacts and its linearisation."""
        return self.memory.pose

    @property
    def state(self) -> State:
        """Where the robot is."""
        return self.model.at(self.memory.passing).state(self.memory.pose)

    @property
    def target(self) -> np.ndarray:
        """Targets of all effector rows, one after another (ne,)."""
        return self.memory.target

    @property
    def targets(self) -> dict[str, np.ndarray]:
        """The target of each effector."""
        return targets_by_name(self.model, self.memory.target)

    @property
    def detector(self) -> Detector:
        """Finds the contacts; adds, replaces and removes obstacles."""
        return self.model.detector

    def step(self, targets: Mapping[str, Any] | None = None) -> Outcome:
        """One step towards the targets; those not named keep theirs.

        Never raises because a target is out of reach.
        """
        self.memory, outcome = advance(self.model, self.memory, targets)
        return outcome

    def reset(self) -> None:
        """Back to the beginning, in one go: where the controller started, with the targets of the laws.

        Laws and obstacles stay as they are now. This is the only step that may jump.
        """
        model = self.model
        known = self.robot, model.detector, model.laws, self.settings, self._first
        self.model = Model(*known, model.damping, model.dt)
        self.memory = begin(self.model)

    def change(self, laws: Mapping[str, Law]) -> None:
        """Other laws for some rows from now on: bounds, an imposed value.

        Effectors that stay ones keep their targets.
        """
        self.model, self.memory = changed(self.model, self.memory, laws)

    def lose(self, name: str) -> None:
        """An actuator breaks: no effort from now on.

        The others take over as well as they can; without others the robot goes to where it rests by itself.
        One that alone supports the robot locks where it is.
        """
        here = self.memory.pose.delta[self.robot.named(name)]
        self.change({name: lost_law(self.robot, name, self.model.laws, here)})

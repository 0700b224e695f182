"""Inverse mode: the inverse model chooses efforts that bring the effectors to their targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pliant.contact import Obstacle
from pliant.inverse import Inverse, Outcome, Settings
from pliant.laws import Law
from pliant.robot import Robot
from pliant.session.around import arrange
from pliant.session.reading import Reading, touching
from pliant.state import State
from pliant.status import shown


class Inverted:
    """Drives a robot by targets. Laws and obstacles may change between steps."""

    def __init__(
        self,
        robot: Robot,
        laws: Mapping[str, Law],
        obstacles: Iterable[Obstacle],
        state: State | None,
        settings: Settings,
    ) -> None:
        self.robot, self.laws = robot, dict(laws)
        self.obstacles = {o.name: o for o in obstacles}
        self.controller = Inverse(robot, self.obstacles.values(), laws=laws, state=state, settings=settings)
        self._asked: dict[str, Any] = {}  # targets that the controller has not been told yet
        self.reading = Reading.at(robot, self.controller.state, {})

    @property
    def targets(self) -> dict[str, np.ndarray]:
        """The target of each effector."""
        return self.controller.targets | self._asked

    def aim(self, targets: Mapping[str, np.ndarray]) -> None:
        """New targets, from the next step on."""
        self._asked |= targets

    def step(self, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> Reading:
        """One step towards the targets, under more laws (of lost actuators, of a hand that pushes)."""
        self._impose(dict(laws))
        self.obstacles = arrange(self.controller.detector, self.obstacles, obstacles)
        outcome = self.controller.step(targets=self._asked)
        self._asked = {}
        self.reading = self._read(outcome)
        return self.reading

    def _impose(self, laws: dict[str, Law]) -> None:
        """Laws of this step; rows that are no longer named have their own again."""
        changed = {name: law for name, law in laws.items() if law is not self.laws.get(name)}
        changed |= {name: self.robot.rows[name].law for name in self.laws.keys() - laws.keys()}
        if changed:
            self.controller.change(changed)
            self.laws = laws

    def _read(self, outcome: Outcome) -> Reading:
        certificate = outcome.certificate
        friction = getattr(outcome, "friction_force", None)
        return Reading(
            state=outcome.state,
            effort=outcome.effort,
            displacement=outcome.displacement,
            command=outcome.command,
            touch=touching(outcome.contacts, outcome.contact_force, friction, self.controller.detector),
            status=shown(certificate.status),
            limits=certificate.limits,
            trouble="no admissible step" if certificate.status == "stuck" else "",
            timings=outcome.timings,
        )

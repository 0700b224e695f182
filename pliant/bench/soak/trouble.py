"""Trouble: what may happen to a robot that is driven by targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bench.soak.random_obstacles import obstacle_beside
from pliant.laws import Bounded, Known

if TYPE_CHECKING:
    from pliant.bench.soak.episode import Episode

FAR = (0.3, 5.0)  # lengths to a target that is far
NEAR = 0.1  # of the length, between targets that jump
STEPS = (15, 50)  # of each trouble
MOST_OBSTACLES = 3  # at a time, of those that appear
BESIDE = (1e-3, 2e-2)  # of the length: gap of an obstacle that appears beside the robot
INTO = (1e-3, 3e-2)  # of the length: depth of one that jumps into it
PACE = (1e-3, 1e-2)  # of the length: how far an obstacle moves in a step
WEAKENED = (0.2, 0.8)  # of an actuator's range, what a change leaves of it


class Troubles:
    """What happens to the controller of an episode, and the obstacles that were put there."""

    def __init__(self, episode: Episode) -> None:
        self.episode, self.rng = episode, episode.rng
        self.names: list[str] = []  # of the obstacles that appeared and are still there
        self.count = 0

    def happen(self) -> None:
        """One or two kinds of trouble, one after the other."""
        kinds = [
            self.far,
            self.jumping,
            self.beside,
            self.into,
            self.moving,
            self.vanishing,
            self.lost,
            self.changed,
        ]
        share = np.array([4, 4, 4, 4, 3, 2, 1, 1], float)
        for kind in self.rng.choice(len(kinds), size=1 + int(self.rng.integers(2)), p=share / share.sum()):
            kinds[kind]()

    def clear(self) -> None:
        """Every obstacle that appeared is taken away."""
        for name in self.names:
            self.episode.controller.detector.remove(name)
        self.names = []
        self.episode.disturb("all obstacles vanish")

    # Targets

    def far_target(self) -> dict[str, np.ndarray]:
        """Up to some lengths away from where the robot was at first."""
        return self._target(float(np.exp(self.rng.uniform(*np.log(FAR)))))

    def _target(self, share: float) -> dict[str, np.ndarray]:
        reach = share * self.episode.robot.length
        return {name: home + reach * self._direction(len(home)) for name, home in self.episode.home.items()}

    def _direction(self, size: int) -> np.ndarray:
        v = self.rng.normal(size=size)
        return v / np.linalg.norm(v)

    def _steps(self) -> int:
        return int(self.rng.integers(*STEPS))

    def far(self) -> None:
        """A target that is far away stays for a while."""
        targets = self.far_target()
        for _ in range(self._steps()):
            self.episode.step(targets)

    def jumping(self) -> None:
        """The target jumps every few steps, near or far."""
        every = int(self.rng.integers(2, 7))
        targets = None
        for k in range(self._steps()):
            if k % every == 0:
                near = self.rng.random() < 0.6
                targets = self._target(self.rng.uniform(0.0, NEAR)) if near else self.far_target()
            self.episode.step(targets)

    def _wander(self) -> None:
        """A target near or far, while something else is the trouble."""
        targets = self.far_target() if self.rng.random() < 0.5 else self._target(self.rng.uniform(0.0, 0.3))
        for _ in range(self._steps()):
            self.episode.step(targets)

    # Obstacles

    def _beside(self, gap: float) -> bool:
        """A new obstacle at this gap [m] from the skin, or one that is there jumps to it."""
        episode, detector = self.episode, self.episode.controller.detector
        x, mobile = episode.skins.places(episode.controller.state.q)
        again = len(self.names) >= MOST_OBSTACLES or (bool(self.names) and self.rng.random() < 0.3)
        name = str(self.rng.choice(self.names)) if again else f"thing {self.count}"
        obstacle = obstacle_beside(self.rng, x, mobile, episode.robot.length, gap, name)
        if obstacle is None:
            return False
        if again:
            detector.replace(obstacle)
        else:
            detector.add(obstacle)
            self.names.append(name)
            self.count += 1
        where = "beside" if gap > 0 else "into"
        episode.disturb(f"{obstacle.kind} {name!r} {'jumps' if again else 'appears'} {where}, {gap:.2e} m")
        return True

    def beside(self) -> None:
        """An obstacle appears beside the robot, which may then be drawn against it."""
        self._beside(self.rng.uniform(*BESIDE) * self.episode.robot.length)
        self._wander()

    def into(self) -> None:
        """An obstacle appears inside the robot's skin."""
        self._beside(-self.rng.uniform(*INTO) * self.episode.robot.length)
        self._wander()

    def moving(self) -> None:
        """An obstacle moves in one direction, perhaps into the robot."""
        if not self.names and not self._beside(self.rng.uniform(*BESIDE) * self.episode.robot.length):
            return
        episode, detector = self.episode, self.episode.controller.detector
        name = str(self.rng.choice(self.names))
        x, mobile = episode.skins.places(episode.controller.state.q)
        towards = x[self.rng.choice(np.flatnonzero(mobile))] - detector.obstacles[name].handle
        pace = self.rng.uniform(*PACE) * episode.robot.length
        way = pace * towards / max(float(np.linalg.norm(towards)), 1e-12)
        fixed = x[~mobile]
        episode.disturb(f"{name!r} begins to move, {pace:.2e} m a step")
        for _ in range(self._steps()):
            moved = detector.obstacles[name].moved(translation=way)
            if len(fixed) and moved.distance(fixed)[0].min() < 0.02 * episode.robot.length:
                way = -way
                continue
            detector.replace(moved)
            episode.step(None)

    def vanishing(self) -> None:
        """An obstacle vanishes."""
        if self.names:
            name = self.names.pop(int(self.rng.integers(len(self.names))))
            self.episode.controller.detector.remove(name)
            self.episode.disturb(f"{name!r} vanishes")
        self._wander()

    # Actuators

    def _working(self) -> list[str]:
        return [name for name, law in self.episode.laws.items() if isinstance(law, Bounded)]

    def lost(self) -> None:
        """An actuator is lost, unless it is the last one."""
        working = self._working()
        if len(working) > 1:
            name = str(self.rng.choice(working))
            self.episode.controller.lose(name)
            self.episode.laws[name] = self.episode.controller.model.laws[name]
            self.episode.disturb(f"{name!r} is lost")
        self._wander()

    def changed(self) -> None:
        """An actuator may do less from now on, or has a given effort."""
        working = self._working()
        if not working:
            return
        name = str(self.rng.choice(working))
        law = self.episode.laws[name]
        assert isinstance(law, Bounded)
        share = self.rng.uniform(*WEAKENED)
        scale = lambda pair: tuple(share * v for v in pair)
        new = Bounded(effort=scale(law.effort), displacement=scale(law.displacement), speed=law.speed)
        if len(working) > 1 and np.isfinite(law.effort).all() and self.rng.random() < 0.3:
            new = Known(effort=0.5 * share * max(law.effort, key=abs))
        self.episode.controller.change({name: new})
        self.episode.laws[name] = new
        self.episode.disturb(f"{name!r} is changed to {new}")
        self._wander()

"""A frame: what a session shows, records and hands to a drive after one step. Plain data, SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SLIPPING = 1e-6  # of the friction there is: with less left, a thing slips


@dataclass(frozen=True, eq=False)
class Touch:
    """The n contacts that carry a force: positions (n, 3) [m], forces on the robot (n, 3) [N], opponents."""

    position: np.ndarray
    force: np.ndarray
    opponent: tuple[str, ...] = ()

    @classmethod
    def none(cls) -> Touch:
        """No contact."""
        return cls(np.zeros((0, 3)), np.zeros((0, 3)))

    def __len__(self) -> int:
        return len(self.position)

    @property
    def strength(self) -> np.ndarray:
        """|force| (n,) [N]."""
        return np.linalg.norm(self.force, axis=1)

    @property
    def total(self) -> float:
        """Sum of the strengths [N]."""
        return float(self.strength.sum())


@dataclass(frozen=True, eq=False)
class Push:
    """A hand that pushes the skin: where (3,) [m] and how hard (3,) [N]."""

    position: np.ndarray
    force: np.ndarray


@dataclass(frozen=True)
class Held:
    """How a thing is held: Σ of the pushes on it [N], and how much of the friction is left, 0 to 1."""

    squeeze: float
    margin: float

    @property
    def slips(self) -> bool:
        """Whether all that holds it slips."""
        return self.margin < SLIPPING


@dataclass(frozen=True, eq=False)
class Frame:
    """The robot after one step of a session.

    time [s] counts steps of the session's period; positions (k, 3) [m] are the nodes of all bodies. By row
    name: effort λ and displacement δ of every row, command of the actuators, target of the effectors and
    error = target − δ. `lines` (p, 3) [m]: the cables' polylines, one after another (see `Stage.cables`).
    `obstacles` are plain data by name, see `Obstacle.data`. `status` is a word of `pliant.status`; `words` a
    sentence about it.
    """

    step: int
    time: float
    mode: str
    positions: np.ndarray
    lines: np.ndarray
    effort: Mapping[str, np.ndarray]
    displacement: Mapping[str, np.ndarray]
    command: Mapping[str, np.ndarray]
    target: Mapping[str, np.ndarray]
    error: Mapping[str, np.ndarray]
    touch: Touch
    status: str
    words: str
    limits: tuple[str, ...] = ()
    slack: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    push: Push | None = None
    obstacles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)  # [s] per stage
    speed: float = 0.0  # [m/s] of the fastest node, in dynamic mode
    held: Mapping[str, Held] = field(default_factory=dict)  # loose things that the robot touches, by name
    model: str = ""  # "reduced" or "full", where a reduced model stands in for the full one
    model_error: float | None = None  # [m] how far they are apart, where it is known

    @property
    def distance(self) -> dict[str, float]:
        """|error| of each effector, in its unit."""
        return {name: float(np.linalg.norm(value)) for name, value in self.error.items()}

    def signals(self) -> dict[str, float]:
        """Every scalar of the frame by its kind and name, such as "effort cable 1": columns of a table."""
        out = {"time": self.time}
        for kind in ("effort", "displacement", "command", "target", "error"):
            for name, value in getattr(self, kind).items():
                axes = [""] if len(value) == 1 else [f" {k + 1}" for k in range(len(value))]
                out |= {f"{kind} {name}{axis}": float(v) for axis, v in zip(axes, value, strict=True)}
        out |= {"contact force": self.touch.total, "speed": self.speed}
        out |= {f"seconds {stage}": float(t) for stage, t in self.timings.items()}
        return out

"""What tells one robot from another: reduced data carry it, and refuse robots that they were not made from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from pliant.errors import InputError, is_number
from pliant.robot import Robot

ALIKE = 1e-6  # relative difference of two stiffnesses that rounding may make


@dataclass(frozen=True)
class Fingerprint:
    """Name, coordinates, row names, shape at rest (a digest of all positions to a nanometre) and stiffness at rest [N/m]."""

    robot: str
    coordinates: int
    rows: tuple[str, ...]
    shape: str
    stiffness: float

    @classmethod
    def of(cls, robot: Robot) -> Fingerprint:
        """Of a robot."""
        rest = robot.rest.q
        parts = zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True)
        K = [b.linearise(rest[s], np.zeros(3), robot.rest.internal[z])[2] for b, s, z in parts]
        size = float(np.sqrt(sum(np.sum(np.square(blocks)) for blocks in K)))
        shape = sha256((np.round(rest, 9) + 0.0).tobytes()).hexdigest()[:16]
        return cls(robot.name, robot.nq, tuple(robot.rows), shape, size)

    def data(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {**asdict(self), "rows": list(self.rows)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Fingerprint:
        """From what `data` gave."""
        made = cls(**{**data, "rows": tuple(data["rows"])})
        words = (made.robot, made.shape, *made.rows)
        if not all(isinstance(word, str) for word in words) or not isinstance(made.coordinates, int):
            raise InputError("fingerprint", expected="names, a digest and a count", got=repr(data)[:200])
        if not is_number(made.stiffness):
            raise InputError("fingerprint", expected="a stiffness [N/m]", got=repr(made.stiffness)[:60])
        return made

    def same_mesh(self, other: Fingerprint) -> bool:
        """Whether coordinates mean the same."""
        return self.coordinates == other.coordinates and self.shape == other.shape

    def check(self, robot: Robot, what: str) -> None:
        """Raise InputError unless `what` was made from a robot like this one; the message says what differs."""
        other = Fingerprint.of(robot)
        hint = f"{what.capitalize()} belongs to the {self.robot!r} it was made from."
        for name in ("robot", "coordinates", "rows", "shape"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise InputError(what, expected=f"a robot with {name} {mine!r}", got=repr(its), hint=hint)
        if abs(other.stiffness - self.stiffness) > ALIKE * self.stiffness:
            expected = f"a robot of stiffness {self.stiffness:.6g} N/m"
            raise InputError(what, expected=expected, got=f"{other.stiffness:.6g}", hint=hint)

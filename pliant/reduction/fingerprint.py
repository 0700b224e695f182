"""Which robot reduced data belong to: they carry its fingerprint and refuse robots with another one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from pliant.bodies import Beam
from pliant.errors import InputError, is_number
from pliant.robot import Robot

ALIKE = 1e-6  # relative difference of two stiffnesses that rounding may make


@dataclass(frozen=True)
class Fingerprint:
    """Name, number of coordinates, row names, shape and stiffness [N/m] of a robot at rest.

    `shape` is a digest of all positions, rounded to a nanometre.
    """

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
        return cls(robot.name, robot.nq, tuple(robot.rows), _digest(rest), size)

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

    def check(self, robot: Robot, what: str, *, coordinates: bool = True) -> None:
        """Raise InputError unless `what` was made from a robot like this one; the message says what differs.

        Version 0.1 stored predicted section forces behind the coordinates of rods and shells. Its data are
        refused for such robots if they contain `coordinates`, and accepted if not.
        """
        other = Fingerprint.of(robot)
        before = _before(robot, other)
        if self.same_mesh(before) and not before.same_mesh(other):
            if coordinates:
                made = "with section forces behind those of rods and shells, as pliant 0.1 made them"
                hint = "Take the snapshots again."
                got = f"{self.coordinates}, {made}"
                raise InputError(what, expected=f"{robot.nq} coordinates", got=got, hint=hint)
            other = before
        hint = f"{what.capitalize()} belongs to the {self.robot!r} it was made from."
        for name in ("robot", "coordinates", "rows", "shape"):
            expected, got = getattr(self, name), getattr(other, name)
            if expected != got:
                expected = f"a robot with {name} {expected!r}"
                raise InputError(what, expected=expected, got=repr(got), hint=hint)
        if abs(other.stiffness - self.stiffness) > ALIKE * self.stiffness:
            expected = f"a robot of stiffness {self.stiffness:.6g} N/m"
            raise InputError(what, expected=expected, got=f"{other.stiffness:.6g}", hint=hint)


def _before(robot: Robot, now: Fingerprint) -> Fingerprint:
    """The fingerprint that version 0.1 took of the same robot.

    Strains of shells and (zero) section forces of rods followed their coordinates.
    """
    rest = []
    for body, span in zip(robot.bodies, robot.q_spans, strict=True):
        rest.append(robot.rest.q[span])
        if isinstance(body, Beam):
            rest.append(np.zeros(body.predicted_size))
        else:
            rest.append(body.predict(rest[-1], np.zeros(body.ndof)))
    old = np.concatenate(rest)
    return replace(now, coordinates=len(old), shape=_digest(old))


def _digest(rest: np.ndarray) -> str:
    return sha256((np.round(rest, 9) + 0.0).tobytes()).hexdigest()[:16]

"""Whether an inverse model comes to rest: its commands stop changing and its state is an equilibrium."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.inverse import Inverse, Outcome
from pliant.studies.log import Targets

CHANGE = 1e-3  # of the largest command in the same unit, per step
DECREMENT = 1e-4  # of the robot's length
STEPS_AT_REST = 5  # steps in a row that must be so
SMALLEST_COMMAND = 1e-2  # of the robot's length: smaller lengths count as this


@dataclass(frozen=True)
class Rest:
    """How a run to a fixed target ended.

    `steps` is how many it took, `change` the relative change of the commands in the last step, `error` [m]
    the distance to the target, `out` the last outcome; `decrement` and `penetration` are in metres.
    """

    settled: bool
    steps: int
    change: float
    decrement: float
    penetration: float
    error: float
    out: Outcome

    @property
    def status(self) -> str:
        """As the controller says."""
        return self.out.certificate.status


def settle(controller: Inverse, targets: Targets, *, most: int) -> Rest:
    """Step towards fixed targets until at rest, for at most so many steps.

    At rest: for five steps in a row no command changes by more than 0.1 % of the largest in its unit, and the
    Newton decrement is below 10⁻⁴ of the length.
    """
    largest, before, at_rest, steps, change = np.zeros(0), None, 0, 0, np.inf
    out = None
    while steps < most and at_rest < STEPS_AT_REST:
        out, steps = controller.step(targets=targets), steps + 1
        command, size = np.concatenate(list(out.command.values())), _largest(out)
        largest = size if before is None else np.maximum(largest, size)
        change = np.inf if before is None else float(np.max(np.abs(command - before) / largest, initial=0.0))
        still = change <= CHANGE and out.certificate.decrement <= DECREMENT * controller.robot.length
        at_rest, before = at_rest + 1 if still else 0, command
    assert out is not None
    error = float(np.linalg.norm(np.concatenate(list(out.error.values()))))
    certificate = out.certificate
    settled = at_rest >= STEPS_AT_REST
    return Rest(settled, steps, change, certificate.decrement, certificate.penetration, error, out)


def _largest(out: Outcome) -> np.ndarray:
    """(a,) for each command the largest in the same unit; of lengths, at least 1 % of the robot's."""
    units = np.array([out.robot.rows[name].interaction.unit for name, v in out.command.items() for _ in v])
    size = np.abs(np.concatenate(list(out.command.values())))
    floor = np.where(units == "m", SMALLEST_COMMAND * out.robot.length, 1e-300)
    return np.array([max(size[units == unit].max(), least) for unit, least in zip(units, floor)])

"""A mechanism in motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import InputError, is_number
from pliant.membrane.evaluation import check_status, evaluate
from pliant.membrane.kernels import run as kernel
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.model import MOVED, Model, Work, step_scratch, workspace
from pliant.membrane.moment import PlanarMoment, PlanarState

TIME_STEP = 1e-3  # [s]
TOLERANCE = 1e-10  # of the largest velocity: where Newton's iterations stop
MOST_HALVINGS = 8  # of the time step, where a step does not converge


class Energy(NamedTuple):
    """[J]: of motion; of weight, springs and membranes; of the motors' springs."""

    kinetic: float
    potential: float
    motors: float

    @property
    def total(self) -> float:
        """[J], without the motors."""
        return self.kinetic + self.potential


class Simulation:
    """A mechanism that moves.

        sim = Simulation(mech, time_step=1e-3)
        moment = sim.step(targets={"arm": 0.5})        # motors' targets hold until changed
        moment = sim.run(0.5)                          # half a second

    The rule is implicit midpoint (of second order, without drift of the energy), cables and hinges are held
    exactly: see `kernels.step`. q, v: where to start (default: rest). tolerance: of Newton's iterations,
    relative to the velocities.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        time_step: float = TIME_STEP,
        q: Any = None,
        v: Any = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError("mechanism", expected="a Mechanism", got=type(mechanism).__name__)
        for what, value in (("time_step", time_step), ("tolerance", tolerance)):
            if not is_number(value) or not 0.0 < value < np.inf:
                raise InputError(what, expected="a finite number > 0", got=value)
        self.mechanism, self.time_step, self.tolerance = mechanism, float(time_step), float(tolerance)
        self.drive = mechanism.drive()
        self.model = _own(mechanism.model)
        self._work, self._scratch = workspace(self.model), step_scratch(self.model)
        self._slackness = mechanism.slackness
        q = mechanism.q0 if q is None else q
        self._q, self._v = mechanism._pair(q, v)
        self.t = 0.0
        self._memory = mechanism.memory.copy()
        self._begin()

    @property
    def state(self) -> PlanarState:
        """Where the mechanism is, how it moves and what its cables remember; may be set."""
        p = self.model.paths
        order = tuple(getattr(p, name).copy() for name in MOVED)
        return PlanarState(self._q.copy(), self._v.copy(), self.t, self._memory.copy(), order)

    @state.setter
    def state(self, state: PlanarState) -> None:
        self._q, self._v = self.mechanism._pair(state.q, state.v)
        self.t, self._memory = state.t, state.memory.copy()
        p = self.model.paths
        for name, kept in zip(MOVED, state.order, strict=True):
            getattr(p, name)[:] = kept
        self._scratch.acceleration[:] = 0.0
        self._begin()

    @property
    def q(self) -> np.ndarray:
        """Coordinates now, (n,)."""
        return self._q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocities now, (n,)."""
        return self._v.copy()

    def command(
        self,
        targets: Mapping[str, float] | None = None,
        *,
        rates: Mapping[str, float] | None = None,
        efforts: Mapping[str, float] | None = None,
        wrenches: Mapping[str, Any] | None = None,
    ) -> None:
        """Change what acts from outside, by name; what is not named stays as it is. See `Mechanism.drive`."""
        fresh = self.mechanism.drive(targets, rates=rates, efforts=efforts, wrenches=wrenches)
        for k, given in enumerate((targets, rates, efforts)):
            for name in given or {}:
                at = self.mechanism.coordinate(name)
                self.drive[k][at] = fresh[k][at]
        for name in wrenches or {}:
            at = self.mechanism.number[name]
            self.drive.wrench[at] = fresh.wrench[at]

    def step(self, targets: Mapping[str, float] | None = None, **changes: Any) -> PlanarMoment:
        """One time step, after the commands given (those of `command`)."""
        if targets or changes:
            self.command(targets, **changes)
        self.advance(1)
        return self.moment

    def run(
        self, duration: float, targets: Mapping[str, float] | None = None, **changes: Any
    ) -> PlanarMoment:
        """The time steps of a duration [s], rounded to whole steps."""
        if not is_number(duration) or not 0.0 <= duration < np.inf:
            raise InputError("duration", expected="a finite time ≥ 0 [s]", got=duration)
        if targets or changes:
            self.command(targets, **changes)
        self.advance(round(duration / self.time_step))
        return self.moment

    def advance(self, steps: int) -> None:
        """A number of time steps."""
        left = steps
        while left > 0:
            status, done = self._kernel(self.time_step, left)
            self.t += done * self.time_step
            left -= done
            if status != kernel.DONE:
                self._in_parts()
                self.t += self.time_step
                left -= 1

    @property
    def moment(self) -> PlanarMoment:
        """The mechanism now."""
        efforts = self._scratch.efforts.copy()
        return PlanarMoment(self.mechanism, self.model, self.state, efforts, self.drive.copy())

    @property
    def energy(self) -> Energy:
        """Energies now."""
        return Energy(*map(float, self._now().total))

    @property
    def violation(self) -> float:
        """The worst of hinges and cables now [m]: how far apart, or too long."""
        value, pins = self._now().value, 2 * len(self.model.pins.body)
        return float(np.concatenate([np.abs(value[:pins]), value[pins:], [0.0]]).max())

    def _now(self) -> Work:
        evaluate(self.model, self._memory, self.drive, self._q, self._v, self._work)
        return self._work

    def _kernel(self, h: float, count: int) -> tuple[int, int]:
        return kernel.run(
            self.model,
            self._memory,
            self.drive,
            self._q,
            self._v,
            h,
            count,
            self.tolerance,
            self._slackness,
            kernel.START,
            False,
            self._work,
            self._scratch,
        )

    def _in_parts(self) -> None:
        """A step that does not converge, in ever smaller parts.

        If none do, the state is that before the step.
        """
        before = self.state
        status = kernel.NOT_CONVERGED
        for halving in range(1, MOST_HALVINGS + 1):
            parts = 2**halving
            status, done = self._kernel(self.time_step / parts, parts)
            if done == parts:
                return
            self.state = before
        check_status(self.mechanism.name, status)

    def _begin(self) -> None:
        evaluate(self.model, self._memory, self.drive, self._q, self._v, self._work, settle=True)
        if not np.isfinite(self._work.total[1]):
            check_status(self.mechanism.name, kernel.NOT_A_NUMBER)


def _own(model: Model) -> Model:
    """A model whose stations may change places without touching the mechanism's."""
    paths = model.paths
    moved = {name: getattr(paths, name).copy() for name in MOVED}
    return model._replace(paths=paths._replace(**moved))

"""External efforts from what markers and other sensors show, without force sensors (Zhang et al. 2018).

    min ‖(δ_s⁺ − readings) / noise‖²    over lo ≤ λ_f ≤ hi,      δ_s⁺ = δ_s,free + W_sf λ_f

with actuators and contacts as the model knows them. One linearisation per frame follows the robot in real
time; iterated, the same step is Gauss–Newton's method on the static equilibrium.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.contact import Obstacle
from pliant.errors import InputError, PliantWarning
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing import readings as reading
from pliant.sensing.doubts import check_doubts, doubtful, prior_rows
from pliant.sensing.estimate import Estimate, SensingCertificate
from pliant.sensing.identifiability import Identifiability, check_influence, identifiability
from pliant.sensing.instruments import instrumented
from pliant.sensing.judgement import AS_STATED
from pliant.sensing.model import Choose, Model
from pliant.sensing.pose import Move, Pose
from pliant.sensing.roles import Noise
from pliant.sensing.uncertainty import contact_deviation, covariance
from pliant.state import State

INF = float("inf")
LONGEST_PULL = 0.05  # of the robot's length: how far readings may pull the model in one linearisation
CONVERGED = 1e-9  # of the robot's length: decrement at which forces balance
MOST_ITERATIONS = 60
JUDGING_ITERATIONS = 15  # linearisations in which residuals are judged anew


class ForceEstimator:
    """Estimates the `Unknown` rows of a robot from readings of its `Measured` rows.

    `markers`, `candidates`, `direction` and `effort` add rows, see `instrumented`. `noise` is the standard
    deviation of readings, one number for all that are lengths [m], or by row name in the row's unit.

    These deviations widen the covariance: `offset` [m] of an offset that all markers share, `young`
    (relative) of Young's modulus, `command_error` of the commands of `Known` rows (N, m …), by row name, and
    `command_scale` (relative) of a factor that these commands share. `estimate_young` and `estimate_commands`
    estimate those errors too, about zero with that deviation.

    `prior` [N] is the deviation of unknown efforts about zero, infinite if nothing is known of them; with it,
    fewer readings than unknowns are allowed.

    With `judged`, residuals decide how all this is taken: `noise` is a guess, and larger or smaller where
    they say so; errors are estimated only where they explain more than chance would
    (`pliant.sensing.judgement`). Stated deviations of those that are not still widen the covariance.
    """

    _choose: Choose | None = None  # which candidates may act, from whitened readings; None: all

    def __init__(
        self,
        robot: Robot,
        markers: Any = None,
        candidates: Any = None,
        *,
        direction: ArrayLike | None = None,
        effort: tuple[float, float] = (-INF, INF),
        noise: Noise = 1e-4,
        offset: float = 0.0,
        laws: Mapping[str, Law] | None = None,
        young: float = 0.0,
        estimate_young: bool = False,
        command_error: Mapping[str, float] | None = None,
        command_scale: float = 0.0,
        estimate_commands: bool = False,
        prior: float = INF,
        judged: bool = False,
        obstacles: Obstacle | Iterable[Obstacle] = (),
        state: State | None = None,
    ) -> None:
        self.robot = instrumented(robot, markers, candidates, direction=direction, effort=effort)
        check_doubts(young, estimate_young, offset, prior, command_scale)
        self.young, self.prior, self.judged = float(young), float(prior), judged
        self._options = {  # for an estimator with other candidates
            "noise": noise,
            "offset": offset,
            "young": young,
            "estimate_young": estimate_young,
            "prior": prior,
            "judged": judged,
            "command_error": command_error,
            "command_scale": command_scale,
            "estimate_commands": estimate_commands,
            "obstacles": obstacles,
        }
        self.model = Model(self.robot, laws, noise, obstacles, state, doubt_young=young > 0, offset=offset)
        scale = young if estimate_young else 0.0
        self.commands = doubtful(
            self.robot, self.model.laws, command_error or {}, estimate_commands, scale, command_scale
        )
        self.pose: Pose = self.model.start
        self._check_question()

    @property
    def state(self) -> State:
        """Where the model stands."""
        return self.model.state(self.pose)

    def step(
        self,
        frame: Mapping[str, Any] | ArrayLike | None = None,
        commands: Mapping[str, Law] | None = None,
    ) -> Estimate:
        """One linearisation towards a frame of readings: the real-time mode.

        A frame is a dictionary from sensor name to readings, or the readings of the only sensor row; NaN
        where hidden. `commands` are laws of actuators from now on.
        """
        return self._run(frame, commands, 1)

    def converge(
        self,
        frame: Mapping[str, Any] | ArrayLike | None = None,
        commands: Mapping[str, Law] | None = None,
        *,
        iterations: int = MOST_ITERATIONS,
    ) -> Estimate:
        """The estimate where forces balance and the fit is best, by repeated linearisation.

        The certificate says whether it converged. Where it did not, the model stays where it was before.
        """
        return self._run(frame, commands, iterations)

    def reset(self, state: State | None = None) -> None:
        """Back to a state; by default where it began."""
        if state is None:
            self.pose = self.model.start
        else:
            state = self.robot.checked(state)
            self.pose = self.model.pose(state.q, np.array(state.effort))

    def identifiability(self, frame: Mapping[str, Any] | ArrayLike | None = None) -> Identifiability:
        """What the sensors, those seen in a frame or all of them, determine of the unknowns at this pose."""
        roles = self.model.roles
        seen = np.isfinite(roles.noise)
        if frame is not None:
            seen &= np.isfinite(reading.vector(self.robot, roles, frame))
        A = self.model.influence(self.pose, self.commands)
        return identifiability(A, roles, seen, self.model.weights)

    # One frame

    def _run(self, frame: Any, commands: Mapping[str, Law] | None, iterations: int) -> Estimate:
        begin = perf_counter()
        if commands:
            self._command(commands)
        model, roles = self.model, self.model.roles
        model.work.timings.update(dict.fromkeys(model.work.timings, 0.0))
        values = reading.vector(self.robot, roles, frame)
        reading.check_unit(values, model.sensed(self.pose), roles, self.robot.length)
        seen = np.isfinite(values) & np.isfinite(roles.noise)
        count, length, before = 0, self.robot.length, self.pose
        move, far, decrement = None, INF, INF
        prior = prior_rows(roles, self.commands, self.prior)
        judgement = None if self.judged and seen.any() else AS_STATED
        while count < iterations and far > CONVERGED * length:
            goal, part = self._goal(values, seen)
            move = model.move(self.pose, goal, seen, prior, self.commands, self._choose, judgement)
            if count >= JUDGING_ITERATIONS:  # one that goes to and fro is kept
                judgement = move.judgement
            self.pose, count, decrement = move.pose, count + 1, model.decrement(move)
            far = max(move.longest, decrement) if part == 1.0 and move.shift == 0.0 else INF
        assert move is not None
        status = (
            "converged" if far <= CONVERGED * length else "tracking" if iterations == 1 else "not converged"
        )
        estimate = self._estimate(move, values, seen, status, (count, decrement), begin)
        if status == "not converged":  # the next frame does not start from where this one diverged
            self.pose = before
        return estimate

    def _goal(self, values: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, float]:
        """(goal (ns,), share of the distance to the readings): all of it where they are near the model.

        The linear model is accurate near by only.
        """
        here = self.model.sensed(self.pose)
        distance = (values - here) / self.model.units
        farthest = float(np.abs(distance[seen]).max(initial=0.0))
        part = min(1.0, LONGEST_PULL * self.robot.length / farthest) if farthest > 0 else 1.0
        return here + part * (values - here), part

    def _estimate(self, move, values, seen, status, count, begin) -> Estimate:
        model, roles, robot, pose = self.model, self.model.roles, self.robot, self.pose
        residual = np.where(seen, values - model.sensed(pose), np.nan)
        errors = move.x[len(roles.unknown) :] / pose.scale
        named = zip(self.commands.names, errors.tolist(), strict=False) if self.commands.estimated else ()
        return Estimate(
            robot,
            self.state,
            robot.split(pose.lam / pose.scale),
            robot.split(pose.delta),
            {name: residual[span] for name, span in roles.sensor_spans.items()},
            covariance(move, roles, model.weights.shared, self.commands, self.young),
            roles.names,
            self._certificate(move, residual, status, *count),
            dict(named),
            pose.contacts,
            pose.force / pose.scale,
            *self._contact_deviation(move, pose),
            {**model.work.timings, "total": perf_counter() - begin},
            roles.unknown_spans,
            1.0 / pose.scale,
            move.judgement,
        )

    def _contact_deviation(self, move: Move, pose: Pose) -> tuple[np.ndarray, float]:
        """Deviations (n,) [N] of contact forces at the pose, zero where nothing pushed, and of their sum."""
        if pose.contacts is None or move.start.contacts is None:
            return np.zeros(0), 0.0
        each, total = contact_deviation(move, self.model.roles, len(move.start.contacts))
        return pose.contacts.carried_forces(move.start.contacts, each, len(pose.contacts)), total

    def _certificate(
        self, move: Move, residual: np.ndarray, status: str, count: int, decrement: float
    ) -> SensingCertificate:
        roles, fit, seen = self.model.roles, move.fit, np.isfinite(residual)
        freedom = int(seen.sum()) - fit.rank
        squares = float((self.model.weights.whitened(residual, seen) ** 2).sum())
        if not seen.any():
            status = "blind"
        elif fit.rank < fit.gain.shape[0]:
            status = "undetermined"
        bounded = np.zeros(len(move.columns), bool)
        bounded[move.columns] = fit.bounded
        return SensingCertificate(
            status=status,
            misfit=float(np.sqrt(squares / freedom)) if freedom > 0 else float("nan"),
            decrement=decrement,
            readings=int(seen.sum()),
            unknowns=len(roles.unknown),
            rank=fit.rank,
            condition=fit.condition,
            iterations=count,
            at_bounds=tuple(name for name, tight in zip(roles.names, bounded, strict=False) if tight),
            shift=move.shift,
            tangent=move.condensed.tangent.treatment,
        )

    # Input

    def _command(self, laws: Mapping[str, Law]) -> None:
        for name, law in laws.items():
            self.robot.named(name)
            if not isinstance(law, Law) or law.role in ("sensor", "unknown"):
                raise InputError(
                    f"command of {name!r}", expected="a law such as Known(displacement=…)", got=repr(law)
                )
        self.model = self.model.with_laws(laws)

    def _check_question(self) -> None:
        """Raise or warn where the question cannot be answered, before any frame comes."""
        roles, commands, report = self.model.roles, self.commands, self.identifiability()
        check_influence(report)
        errors = len(commands.rows) if commands.estimated else 0  # each an unknown, with a prior of its own
        unknowns, readings = len(roles.unknown) + errors, int(np.isfinite(roles.noise).sum()) + errors
        if readings < unknowns and not np.isfinite(self.prior):
            hint = "Give more markers, fewer candidates or a prior=, or look for few forces (ForceLocator)."
            expected = f"at least {unknowns}, one for every unknown"
            raise InputError("readings", expected=expected, got=readings, hint=hint)
        if report.warning and not np.isfinite(self.prior):
            warnings.warn(report.warning, PliantWarning, stacklevel=3)

"""What a robot is made of and what it loses, from recorded poses, loops and steps; and how sure that is.

    min Σ ‖L⁻¹(readings − δ_s(θ))‖² + Σ ((θ − start)/deviation)²,      low ≤ θ ≤ high

over θ, which holds parameters of the robot, offsets and a rigid motion, by Gauss and Newton on converged
equilibria and motions. Cov θ̂ = (JᵀR⁻¹J)⁻¹ gives the intervals of a model that leaves nothing but noise. Where
more is left (see `misfit`), readings count less by as much as intervals are widened, so that what is known
beforehand holds; and what contradicts that all the same is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.errors import CalibrationError, InputError, PliantWarning, is_number, unknown_name
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing.estimate import NORMAL_95
from pliant.sensing.instruments import MARKERS
from pliant.sensing.least_squares import UNDETERMINED, bounded_least_squares
from pliant.sensing.misfit import Misfit, judged, patterns
from pliant.sensing.poses import Poses
from pliant.sensing.record import Loop, Record, shifted
from pliant.sensing.registration import Rigid
from pliant.sensing.roles import Noise

MOST_ITERATIONS = 30
LINE_SEARCH_TRIALS = 8  # step lengths 1, ½, ¼ …
NO_WORSE = 1e-9  # relative growth of the sum of squares that a step may have
SETTLED_STEP = 1e-2  # standard deviations: steps that small change nothing
VISIBLE = 0.1  # standard deviations: a change by the whole scale that moves the readings less is undetermined
SMALLEST_SINGULAR_VALUE = 1e-9  # of the largest
JACOBIAN_REACH = 3.0  # standard deviations of steps for which a Jacobian is used again …
JACOBIAN_CONTRACTION = 0.1  # … as long as each step is at most this share of the last
CONFLICT = 3.29  # deviations from what is known beforehand, beyond which a fit is refused
FAR = 4.0  # times its start, or a part of it: how far a parameter of which nothing is known may be, and …
UNEXPLAINED = 0.3  # … how much of what the readings did may be left, both where the model shows a misfit


@dataclass(frozen=True)
class Calibration:
    """Fitted `values` of parameters, `offsets` of rows, and the `transform` from the tracker to the robot.

    `covariance` (n, n) is that of `names`: parameters, rows with offsets, and of a transform a small turn
    [rad] of the robot's axes after it and a shift [m]. `misfit` is about 1 where noise is all there is.
    `undetermined` names what the records do not determine. `doubts` say what the residuals look like where
    the model cannot have made the readings; `widening` is by how much the deviations are larger for it.
    """

    values: Mapping[str, float]
    offsets: Mapping[str, float]
    transform: Rigid | None
    covariance: np.ndarray
    names: tuple[str, ...]
    misfit: float
    iterations: int
    converged: bool
    undetermined: tuple[str, ...]
    robot: Robot
    doubts: tuple[str, ...] = ()
    widening: float = 1.0
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def deviation(self, name: str) -> float:
        """Standard deviation of a parameter, an offset, or one of the six numbers of the transform."""
        if name not in self.names:
            raise unknown_name("parameter", name, self.names)
        k = self.names.index(name)
        return float(np.sqrt(self.covariance[k, k]))

    def interval(self, name: str) -> tuple[float, float]:
        """95 % interval of a parameter or an offset."""
        fitted = {**self.offsets, **self.values}
        if name not in fitted:
            raise unknown_name("parameter", name, fitted)
        reach = NORMAL_95 * self.deviation(name)
        low, high = self.limits.get(name, (-np.inf, np.inf))
        return max(low, fitted[name] - reach), min(high, fitted[name] + reach)

    def commands(self, laws: Mapping[str, Law]) -> dict[str, Law]:
        """Laws with the offsets added to what they impose: what the drives truly do."""
        return {name: shifted(law, self.offsets.get(name, 0.0)) for name, law in laws.items()}

    def __str__(self) -> str:
        fitted = {**self.values, **self.offsets}
        parts = [
            f"{name} {value:.5g} ± {NORMAL_95 * self.deviation(name):.2g}" for name, value in fitted.items()
        ]
        state = "converged" if self.converged else "not converged"
        open_ = f"; not determined: {', '.join(self.undetermined)}" if self.undetermined else ""
        wide = f"; what is left {self.doubts[0]}" if self.doubts else ""
        return f"{state} after {self.iterations}, misfit {self.misfit:.2f}: {', '.join(parts)}{open_}{wide}"


def calibrate(
    build: Callable[..., Robot | tuple[Robot, Any]],
    records: Sequence[Record | Loop] | Iterable[Record | Loop],
    start: Mapping[str, float] | None = None,
    *,
    markers: Any = None,
    candidates: Any = None,
    direction: Any = None,
    offsets: Iterable[str] = (),
    transform: bool | Rigid = False,
    deviation: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    noise: Noise = 1e-4,
    row: str = MARKERS,
) -> Calibration:
    """Fit a robot to records of poses, and to loops of them that it went through.

    build(**parameters) makes the robot, or the robot and the damping of its bodies; `start` says which
    numbers it takes and where to begin, such as {"young": 3e5, "poisson": 0.45}. Regions have a modulus each
    if `build` takes one for each. `markers`, `candidates` and `direction` add rows, see `instrumented`; known
    loads are laws of the records. `offsets` names rows whose imposed displacement has a constant error (where
    a winch has its zero). `transform` says whether the row of markers is in the tracker's coordinates; True
    begins with a registration. `deviation` is that of what is known before, about its start (0 for an
    offset); infinite where not given. `limits` are (low, high) that a value cannot leave, such as (0, inf) of
    a friction.

    A model that cannot have made the readings has wider intervals, and a warning that says what was left
    looks like. CalibrationError, with the fit, where a parameter contradicts what was known of it, is pressed
    to a limit or ends far from its start by a model that explains the readings badly.
    """
    recorded = list(records)
    first = dict(start or {})
    for name, value in first.items():
        if not (is_number(value) and np.isfinite(value)):
            raise InputError(f"start of {name!r}", expected="a finite number", got=repr(value))
    equip = {"markers": markers, "candidates": candidates, "direction": direction}
    poses = Poses(build, recorded, first, tuple(offsets), transform, noise, row, equip)
    if not poses.names:
        raise InputError(
            "calibrate", expected="something to fit: start=, offsets= or transform=", got="nothing"
        )
    prior = _priors(poses, deviation or {})
    return _honest(poses, prior, dict(limits or {}), patterns(recorded))


@dataclass(frozen=True)
class _Fit:
    """A minimum: x, the tracker's motion, residuals of the readings, weights of the priors, and A with A⁺."""

    x: np.ndarray
    motion: Rigid | None
    r: np.ndarray
    weight: np.ndarray
    A: np.ndarray
    gain: np.ndarray
    rank: int
    converged: bool
    count: int

    @property
    def residual(self) -> np.ndarray:
        """Of readings, then of priors."""
        return np.concatenate([self.r, -self.weight * self.x])

    def counting(self, weight: np.ndarray) -> _Fit:
        """The same values, with other weights of the priors."""
        A = np.concatenate([self.A[: len(self.r)], np.diag(weight)])
        gain, rank = _inverse(A)
        return replace(self, weight=weight, A=A, gain=gain, rank=rank)

    @property
    def freedom(self) -> int:
        """Readings and priors, less what was fitted."""
        return len(self.r) + int((self.weight > 0.0).sum()) - self.rank


def _honest(poses: Poses, prior: np.ndarray, limits: dict, shapes: dict[str, np.ndarray]) -> Calibration:
    """The fit; where it leaves more than noise, with readings that count as much less; or a refusal.

    Values that agree with what was known of them stay as they were fitted, with wider intervals.
    """
    bounds = _bounds(poses, limits)
    fit = _fitted(poses, prior, bounds)
    misfit = _judged(poses, fit, shapes)
    if misfit.size and (poses.scale * abs(fit.x) / prior > CONFLICT).any():
        fit = _fitted(poses, prior / misfit.widening, bounds, fit)
        after = _judged(poses, replace(fit, weight=np.zeros_like(fit.weight)), shapes)
        misfit = Misfit(max(misfit.size, after.size), misfit.signs)
    fit = fit.counting(poses.scale / prior * misfit.widening)
    found = _report(poses, fit, misfit, prior, limits)
    reasons = _contradictions(poses, fit, misfit, prior, bounds)
    left = f" What is left {misfit.signs[0]}." if misfit.signs else ""
    if reasons:
        raise CalibrationError(f"This model cannot explain the records: {'; '.join(reasons)}.{left}", found)
    if misfit.size:
        wide = f"Intervals are {misfit.widening:.2g} times as wide."
        warnings.warn(f"The model does not explain the records.{left} {wide}", PliantWarning, stacklevel=3)
    return found


def _judged(poses: Poses, fit: _Fit, shapes: dict[str, np.ndarray]) -> Misfit:
    """Of the readings and priors of a fit."""
    count = len(fit.x)  # rows of priors, which no pattern reaches
    wide = {kind: np.vstack([shape, np.zeros((1, shape.shape[1]))]) for kind, shape in shapes.items()}
    step, channel = poses.places
    places = np.append(step, np.full(count, -1)), np.append(channel, np.zeros(count, int))
    return judged(fit.residual, (fit.A, fit.gain), fit.freedom, wide, places)


def _contradictions(poses: Poses, fit: _Fit, misfit: Misfit, prior: np.ndarray, bounds) -> list[str]:
    """Why a fit is to be refused."""
    values, offsets = poses.split(fit.x)
    out, fitted = [], [*values.values(), *offsets.values()]
    for k, value in enumerate(fitted):
        name, away = poses.names[k], poses.scale[k] * abs(fit.x[k]) / prior[k]
        if away > CONFLICT:
            known = f"{fitted[k] - poses.scale[k] * fit.x[k]:.4g} ± {prior[k]:.2g} is known"
            out.append(f"{name} would be {value:.4g}, where {known}")
        if misfit.size and any(abs(fit.x[k] - bound[k]) < 1e-9 for bound in bounds):
            out.append(f"{name} is pressed to its limit {value:.4g}")
    for k, (name, begin) in enumerate(poses.start.items()):
        free = not np.isfinite(prior[k]) and not np.isfinite([bound[k] for bound in bounds]).any()
        if misfit.size and free and begin and not 1 / FAR < values[name] / begin < FAR:
            out.append(f"{name} would be {values[name]:.4g}, far from {begin:.4g}")
    left = np.linalg.norm(fit.r) / max(float(np.linalg.norm(poses.motion_seen(fit.motion))), 1e-300)
    if misfit.size and left > UNEXPLAINED:
        out.append(f"{100 * left:.0f} % of what the readings did is left")
    return out


def _fitted(poses: Poses, prior: np.ndarray, bounds: tuple, begin: _Fit | None = None) -> _Fit:
    """Gauss and Newton with a line search on the sum of squares."""
    weight = poses.scale / prior  # priors are rows below: (θ − start)/deviation in units of the scale
    x, motion = (np.zeros(len(poses.names)), poses.motion) if begin is None else (begin.x, begin.motion)
    r = poses.residuals(x, motion)
    if r is None:
        raise InputError("start", expected="parameters whose robot comes to rest", got=str(poses.start))
    length = travelled = np.inf  # of the last step, and of all steps since A was computed [deviations]
    count, gain, rank, A = 0, np.zeros((0, 0)), 0, np.zeros((0, 0))
    while count < MOST_ITERATIONS and length > SETTLED_STEP:
        count, before = count + 1, length
        near = travelled <= JACOBIAN_REACH
        step = _step(A, gain, np.concatenate([r, -weight * x]), x, bounds) if near else np.zeros(0)
        if not near or float(np.linalg.norm(A @ step)) > JACOBIAN_CONTRACTION * before:
            A, travelled = np.concatenate([poses.jacobian(x, motion), np.diag(weight)]), 0.0
            gain, rank = _inverse(A)
            step = _step(A, gain, np.concatenate([r, -weight * x]), x, bounds)
        length = float(np.linalg.norm(A @ step))
        travelled += length
        moved = _line_search(poses, x, motion, step, weight, r)
        if moved is None:
            break
        x, motion, r = moved
    return _Fit(x, motion, r, weight, A, gain, rank, length <= SETTLED_STEP, count)


def _step(A: np.ndarray, gain: np.ndarray, b: np.ndarray, x: np.ndarray, bounds: tuple) -> np.ndarray:
    """A⁺ b, or the best step that stays within the bounds."""
    step, (low, high) = gain @ b, bounds
    if (x + step >= low).all() and (x + step <= high).all():
        return step
    return bounded_least_squares(A, b, low - x, high - x).x


def _inverse(A: np.ndarray) -> tuple[np.ndarray, int]:
    """(A⁺, rank), without directions in which a change by the whole scale would not show."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    good = s > max(VISIBLE, SMALLEST_SINGULAR_VALUE * float(s[0]))
    return (Vt[good].T / s[good]) @ U[:, good].T, int(good.sum())


def _line_search(
    poses: Poses, x: np.ndarray, motion: Rigid | None, step: np.ndarray, weight: np.ndarray, r: np.ndarray
):
    """(x, motion, residuals) at the longest step length that fits no worse; None if there is none."""
    cost = lambda r, x: float(r @ r + ((weight * x) ** 2).sum())
    most = cost(r, x) * (1 + NO_WORSE)
    for k in range(LINE_SEARCH_TRIALS):
        trial, turned = poses.advanced(x, motion, 0.5**k * step)
        after = poses.residuals(trial, turned)
        if after is not None and cost(after, trial) <= most:
            return trial, turned, after
    return None


def _report(poses: Poses, fit: _Fit, misfit: Misfit, prior: np.ndarray, limits: dict) -> Calibration:
    names, wide = poses.names, misfit.widening
    covariance = wide**2 * (fit.gain @ fit.gain.T) * np.outer(poses.scale, poses.scale)
    determined = np.einsum("ij,ji->i", fit.gain, fit.A) > 1.0 - UNDETERMINED
    unknown = tuple(name for name, well in zip(names, determined, strict=True) if not well)
    covariance[~determined, ~determined] = np.inf
    if unknown:
        text = (
            f"The records do not determine {', '.join(unknown)}: add known loads, other poses or deviation=."
        )
        warnings.warn(text, PliantWarning, stacklevel=4)
    values, offsets = poses.split(fit.x)
    squares = float(fit.r @ fit.r + ((poses.scale * fit.x / prior) ** 2).sum())
    rms = 0.0 if fit.motion is None else poses.rms(fit.x, fit.motion)
    return Calibration(
        values,
        offsets,
        None if fit.motion is None else Rigid(fit.motion.rotation, fit.motion.translation, rms),
        covariance,
        names,
        float(np.sqrt(squares / fit.freedom)) if fit.freedom > 0 else float("nan"),
        fit.count,
        fit.converged,
        unknown,
        poses.robot(fit.x),
        misfit.signs,
        wide,
        limits,
    )


def _bounds(poses: Poses, limits: Mapping[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Of x (n,)."""
    low, high = np.full(len(poses.names), -np.inf), np.full(len(poses.names), np.inf)
    begin = {**poses.start, **dict.fromkeys(poses.rows, 0.0)}
    for name, (least, most) in limits.items():
        if name not in begin:
            raise unknown_name("parameter", name, begin)
        if not least <= begin[name] <= most or least == most:
            expected = f"(low, high) with the start {begin[name]:.4g} in it"
            raise InputError(f"limits of {name!r}", expected=expected, got=f"({least!r}, {most!r})")
        k = poses.names.index(name)
        low[k], high[k] = (np.array([least, most]) - begin[name]) / poses.scale[k]
    return low, high


def _priors(poses: Poses, deviation: Mapping[str, float]) -> np.ndarray:
    prior = np.full(len(poses.names), np.inf)
    for name, value in deviation.items():
        if name not in (*poses.start, *poses.rows):
            raise unknown_name("parameter", name, (*poses.start, *poses.rows))
        if not (is_number(value) and value > 0):
            raise InputError(f"deviation of {name!r}", expected="a positive number", got=repr(value))
        prior[poses.names.index(name)] = value
    return prior

"""What a robot is made of, from recorded poses: material, zeros of the drives, and where the tracker stands.

    min Σ ‖L⁻¹(readings − δ_s(θ))‖² + Σ ((θ − start)/deviation)²

over θ, which holds parameters of the robot, offsets and a rigid motion, by Gauss and Newton on converged
equilibria. Cov θ̂ = (JᵀR⁻¹J)⁻¹ gives the intervals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantWarning, is_number, unknown_name
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing.estimate import NORMAL_95
from pliant.sensing.instruments import MARKERS
from pliant.sensing.least_squares import UNDETERMINED
from pliant.sensing.poses import Poses
from pliant.sensing.record import Record, shifted
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


@dataclass(frozen=True)
class Calibration:
    """Fitted `values` of parameters, `offsets` of rows, and the `transform` from the tracker to the robot.

    `covariance` (n, n) is that of `names`: parameters, rows with offsets, and of a transform a small turn
    [rad] of the robot's axes after it and a shift [m]. `misfit` is about 1 where noise is all there is.
    `undetermined` names what the records do not determine.
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
        return fitted[name] - reach, fitted[name] + reach

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
        return f"{state} after {self.iterations}, misfit {self.misfit:.2f}: {', '.join(parts)}{open_}"


def calibrate(
    build: Callable[..., Robot],
    records: Sequence[Record] | Iterable[Record],
    start: Mapping[str, float] | None = None,
    *,
    markers: Any = None,
    candidates: Any = None,
    direction: Any = None,
    offsets: Iterable[str] = (),
    transform: bool | Rigid = False,
    deviation: Mapping[str, float] | None = None,
    noise: Noise = 1e-4,
    row: str = MARKERS,
) -> Calibration:
    """Fit a robot to records of poses.

    build(**parameters) makes the robot; `start` says which numbers it takes and where to begin, such as
    {"young": 3e5, "poisson": 0.45}. Regions have a modulus each if `build` takes one for each. `markers`,
    `candidates` and `direction` add rows, see `instrumented`; known loads are laws of the records. `offsets`
    names rows whose imposed displacement has a constant error (where a winch has its zero). `transform` says
    whether the row of markers is in the tracker's coordinates; True begins with a registration. `deviation`
    is that of what is known before, about its start (0 for an offset); infinite where not given.
    """
    recorded = list(records)
    first = dict(start or {})
    for name, value in first.items():
        if not (is_number(value) and np.isfinite(value)):
            raise InputError(f"start of {name!r}", expected="a finite number", got=repr(value))
    equip = {"markers": markers, "candidates": candidates, "direction": direction}
    poses = Poses(build, recorded, first, tuple(offsets), transform, noise, row, equip)
    prior = _priors(poses, deviation or {})
    if not poses.names:
        raise InputError(
            "calibrate", expected="something to fit: start=, offsets= or transform=", got="nothing"
        )
    return _fitted(poses, prior)


def _fitted(poses: Poses, prior: np.ndarray) -> Calibration:
    """Gauss and Newton with a line search on the sum of squares."""
    weight = poses.scale / prior  # priors are rows below: (θ − start)/deviation in units of the scale
    x, motion = np.zeros(len(poses.names)), poses.motion
    r = poses.residuals(x, motion)
    if r is None:
        raise InputError("start", expected="parameters whose robot comes to rest", got=str(poses.start))
    length = travelled = np.inf  # of the last step, and of all steps since A was computed [deviations]
    count, gain, rank, A = 0, np.zeros((0, 0)), 0, np.zeros((0, 0))
    while count < MOST_ITERATIONS and length > SETTLED_STEP:
        count, before = count + 1, length
        near = travelled <= JACOBIAN_REACH
        step = gain @ np.concatenate([r, -weight * x]) if near else np.zeros(0)
        if not near or float(np.linalg.norm(A @ step)) > JACOBIAN_CONTRACTION * before:
            A, travelled = np.concatenate([poses.jacobian(x, motion), np.diag(weight)]), 0.0
            gain, rank = _inverse(A)
            step = gain @ np.concatenate([r, -weight * x])
        length = float(np.linalg.norm(A @ step))
        travelled += length
        moved = _line_search(poses, x, motion, step, weight, r)
        if moved is None:
            break
        x, motion, r = moved
    return _report(poses, x, motion, r, A, gain, rank, (length <= SETTLED_STEP, count), prior)


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


def _report(
    poses: Poses, x, motion, r, A, gain, rank, state: tuple[bool, int], prior: np.ndarray
) -> Calibration:
    names = poses.names
    covariance = (gain @ gain.T) * np.outer(poses.scale, poses.scale)
    determined = np.einsum("ij,ji->i", gain, A) > 1.0 - UNDETERMINED
    unknown = tuple(name for name, well in zip(names, determined, strict=True) if not well)
    covariance[~determined, ~determined] = np.inf
    if unknown:
        text = (
            f"The records do not determine {', '.join(unknown)}: add known loads, other poses or deviation=."
        )
        warnings.warn(text, PliantWarning, stacklevel=4)
    values, offsets = poses.split(x)
    freedom = len(r) + int(np.isfinite(prior).sum()) - rank
    squares = float(r @ r + ((poses.scale * x / prior) ** 2).sum())
    rms = 0.0 if motion is None else poses.rms(x, motion)
    return Calibration(
        values,
        offsets,
        None if motion is None else Rigid(motion.rotation, motion.translation, rms),
        covariance,
        names,
        float(np.sqrt(squares / freedom)) if freedom > 0 else float("nan"),
        state[1],
        state[0],
        unknown,
        poses.robot(x),
    )


def _priors(poses: Poses, deviation: Mapping[str, float]) -> np.ndarray:
    prior = np.full(len(poses.names), np.inf)
    for name, value in deviation.items():
        if name not in (*poses.start, *poses.rows):
            raise unknown_name("parameter", name, (*poses.start, *poses.rows))
        if not (is_number(value) and value > 0):
            raise InputError(f"deviation of {name!r}", expected="a positive number", got=repr(value))
        prior[poses.names.index(name)] = value
    return prior

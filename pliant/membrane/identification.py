"""Stiffness and preload of a skin, from forces measured on it, with confidence intervals.

    F(p) = −k (s(p) + L₀)⁺ ∂ℓ/∂p,     s = ℓ(p) − ℓ(straight)

is linear in k and in the tension k·L₀ of the straight skin, so both come from weighted least squares with the
intervals of Student's t. L₀ is their ratio: its interval is Fieller's, which is exact and may have no upper
end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from pliant.errors import InputError
from pliant.membrane.kernels.skin import FREE, OBJECT, skin_length
from pliant.membrane.measurements import Measurements

MOST_PASSES = 30  # of the fit, each with the weights of the one before
SAME_FIT = 1e-12  # relative change of the parameters at which the passes end
WORST_CONDITION = 1e7  # of the scaled columns: beyond this the readings do not tell k from k·L₀
FORCE_FLOOR = 1e-3  # of the largest force: a relative error does not go on below this
SEPARABLE_WIDTH = 0.1  # of k: half-width of its interval above which k and L₀ are hard to tell apart


@dataclass(frozen=True)
class Interval:
    """A value and the ends of its confidence interval."""

    value: float
    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    @property
    def relative(self) -> float:
        """Half the width over the value."""
        return 0.5 * (self.high - self.low) / abs(self.value)


@dataclass(frozen=True, eq=False)
class SkinFit:
    """What the measurements say of a skin.

    stiffness k [N/m], preload L₀ [m] (how far the straight skin is stretched already; negative: it hangs
    slack), product k·L₀ [N]; correlation of the estimates of k and k·L₀; noise: standard deviation of a
    reading (relative, or [N]); residual (n, 2) [N], measured less model; angle: rms error of the measured
    directions [rad], NaN without any. separable: whether k and L₀ are known one by one, not only their
    product; `note` says so in words.
    """

    stiffness: Interval
    preload: Interval
    product: Interval
    correlation: float
    noise: float
    residual: np.ndarray
    angle: float
    confidence: float
    separable: bool

    @property
    def note(self) -> str:
        """Empty, or why k and L₀ should not be trusted one by one."""
        if self.separable:
            return ""
        return (
            f"k and L₀ are hard to tell apart: k is known to ±{self.stiffness.relative:.0%}, their product "
            f"to ±{self.product.relative:.1%}. The deflections are short against the preload; longer ones "
            "would help."
        )

    def __str__(self) -> str:
        line = lambda name, one, unit: f"{name} = {one.value:.4g} {unit} ({one.low:.4g} … {one.high:.4g})"
        parts = [
            line("k", self.stiffness, "N/m"),
            line("L₀", self.preload, "m"),
            line("k·L₀", self.product, "N"),
            f"{self.confidence:.0%} intervals",
            self.note,
        ]
        return "; ".join(part for part in parts if part)


def predicted(measurements: Measurements, stiffness: float, preload: float) -> np.ndarray:
    """(n, 2) forces of a skin with this stiffness and preload on the roller [N]."""
    stretch, pull = _geometry(measurements)
    return stiffness * np.maximum(stretch + preload, 0.0)[:, None] * pull


def fit(measurements: Measurements, *, relative: bool = True, confidence: float = 0.95) -> SkinFit:
    """k and L₀ of a skin by least squares, with their intervals.

    relative: readings err in proportion to themselves (a gauge of 2 %), else all by the same amount.

    Weights follow the fitted forces, not the readings, whose errors would bias them; points where the fitted
    skin is slack do not count.
    """
    if not 0.0 < confidence < 1.0:
        raise InputError("confidence", expected="between 0 and 1", got=confidence)
    stretch, pull = _geometry(measurements)
    measured = np.isfinite(measurements.force)
    y = measurements.force[measured]
    X = np.column_stack((pull[measured], (stretch[:, None] * pull)[measured]))  # of k·L₀, of k
    at = np.nonzero(measured)[0]
    taut, theta, sigma, V = np.ones(len(y), bool), np.zeros(2), np.ones(len(y)), np.eye(2)
    for count in range(MOST_PASSES):
        before = theta
        theta, V = _least_squares(X[taut] / sigma[taut, None], y[taut] / sigma[taut])
        if theta[0] <= 0.0 and theta[1] <= 0.0:
            raise InputError(
                "measurements",
                expected="forces that pull the skin straight",
                got=f"k = {theta[1]:.3g} N/m, k·L₀ = {theta[0]:.3g} N",
                hint="Is the force the one on the roller, and its sign?",
            )
        if relative:
            sigma = _scale(X @ theta, at, len(measurements))
        taut = (theta[0] + theta[1] * stretch > 0.0)[at]
        if count and np.allclose(before, theta, rtol=SAME_FIT, atol=0.0):
            break
    freedom = int(taut.sum()) - 2
    rest = (y - X @ theta) / sigma
    noise = float(np.sqrt(rest[taut] @ rest[taut] / freedom))
    return _result(measurements, theta, noise**2 * V, noise, freedom, confidence, stretch, pull)


def _result(
    measurements: Measurements,
    theta: np.ndarray,
    V: np.ndarray,
    noise: float,
    freedom: int,
    confidence: float,
    stretch: np.ndarray,
    pull: np.ndarray,
) -> SkinFit:
    """Intervals of the parameters theta = (k·L₀, k) with covariance V."""
    t = float(stdtrit(freedom, 0.5 + 0.5 * confidence))
    around = lambda value, deviation: Interval(
        float(value), float(value - t * deviation), float(value + t * deviation)
    )
    product, k = around(theta[0], np.sqrt(V[0, 0])), around(theta[1], np.sqrt(V[1, 1]))
    model = np.maximum(theta[0] + theta[1] * stretch, 0.0)[:, None] * pull
    turn = measurements.angle - np.arctan2(model[:, 1], model[:, 0])
    turn = np.angle(np.exp(1j * turn[np.isfinite(turn)]))
    return SkinFit(
        k,
        _fieller(theta, V, t),
        product,
        float(V[0, 1] / np.sqrt(V[0, 0] * V[1, 1])),
        noise,
        measurements.force - model,
        float(np.sqrt(np.mean(turn**2))) if len(turn) else np.nan,
        confidence,
        bool(k.low > 0.0 and k.relative <= SEPARABLE_WIDTH),
    )


def _fieller(theta: np.ndarray, V: np.ndarray, t: float) -> Interval:
    """All ratios ρ = c/k that the data do not reject: (c − ρk)² ≤ t² var(c − ρk).

    Open upwards where k may be zero.
    """
    c, k = theta
    A, B, C = k * k - t * t * V[1, 1], c * k - t * t * V[0, 1], c * c - t * t * V[0, 0]
    root = np.sqrt(max(B * B - A * C, 0.0))
    if A > 0.0:
        return Interval(float(c / k), float((B - root) / A), float((B + root) / A))
    low = float((B - root) / A) if A < 0.0 and C > 0.0 else -np.inf
    return Interval(float(c / k) if k > 0.0 else np.inf, max(low, 0.0) if C > 0.0 else -np.inf, np.inf)


def _least_squares(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(θ, (XᵀX)⁻¹), columns scaled: k·L₀ and k differ by the unit of a length."""
    size = np.linalg.norm(X, axis=0)
    if len(y) < 3 or not size.all() or np.linalg.cond(X / size) > WORST_CONDITION:
        raise InputError(
            "measurements",
            expected="at least three readings at two different deflections",
            got=f"{len(y)} readings",
            hint="The force at one deflection gives the tension there, not k and L₀.",
        )
    theta = np.linalg.lstsq(X / size, y, rcond=None)[0] / size
    return theta, np.linalg.inv((X / size).T @ (X / size)) / np.outer(size, size)


def _scale(model: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
    """Size of the fitted force over the components measured at the point of each reading."""
    square = np.bincount(at, model**2, minlength=n)
    size = np.sqrt(square)[at]
    return np.maximum(size, FORCE_FLOOR * (size.max() or 1.0))


def _geometry(measurements: Measurements) -> tuple[np.ndarray, np.ndarray]:
    """(stretch s (n,) [m], −∂ℓ/∂p (n, 2)) at every point.

    A roller presses from the side where most of the points lie.
    """
    a, b = measurements.ends
    u = (b - a) / np.linalg.norm(b - a)
    depth = (measurements.points - a) @ np.array([u[1], -u[0]])  # to the right of a → b
    side = 1 if np.median(depth) >= 0.0 else -1
    end, shape = np.concatenate((a, b)), np.zeros((1, 2))
    stretch, pull = np.zeros(len(measurements)), np.zeros((len(measurements), 2))
    for n, p in enumerate(measurements.points):
        kind, _, _, value, g, _ = skin_length(end, side, shape, measurements.radius, np.array([*p, 0.0]))
        if kind < FREE:
            raise InputError(f"point {n}", expected="a roller clear of the pulleys", got=p.tolist())
        stretch[n], pull[n] = value - np.linalg.norm(b - a), -g[OBJECT, :2]
    return stretch, pull

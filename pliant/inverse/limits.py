"""Limits of the actuators: what a step may use, and which of them stand in the way."""

from __future__ import annotations

import numpy as np

from pliant.inverse.model import AT_EFFORT_LIMIT, Model
from pliant.inverse.pose import Pose

BEYOND = 1e-2  # of a bound: how far beyond it a recovery may leave an effort
WORDS = "smallest effort", "largest effort", "smallest displacement", "largest displacement"

Bounds = tuple[np.ndarray, np.ndarray]


def effort_bounds(model: Model, pose: Pose, share: float) -> Bounds:
    """Limits of λ_a: the law's, and where the robot stands outside, a share of the way to them."""
    return _approached(model.roles.effort, pose.lam[model.roles.actuators], share)


def _approached(bounds: Bounds, here: np.ndarray, share: float) -> Bounds:
    low, high = bounds
    below, above = np.maximum(low - here, 0.0), np.maximum(here - high, 0.0)
    return low - (1.0 - share) * below, high + (1.0 - share) * above


def displacement_bounds(model: Model, pose: Pose, share: float) -> Bounds:
    """Limits of δ_a⁺: as for efforts, and how far a taut actuator may move in one period."""
    roles, reach = model.roles, model.roles.speed / model.settings.rate
    here, taut = pose.delta[roles.actuators], ~roles.one_sided | (pose.lam[roles.actuators] > 0)
    limited = taut & np.isfinite(reach)
    low, high = _approached(roles.displacement, here, share)
    low = np.where(limited & ~roles.one_sided, np.maximum(low, here - reach), low)
    high = np.where(limited, np.minimum(high, here + reach), high)
    return np.minimum(low, high), high


def within_limits(model: Model, pose: Pose) -> bool:
    """Whether the efforts are within their limits, or beyond them by no more than a recovery may bring."""
    lam, (low, high) = pose.lam[model.roles.actuators], model.roles.effort
    size = lambda bound: np.where(np.isfinite(bound), np.abs(bound), 0.0)
    slack = lambda bound: np.maximum(BEYOND * size(bound), AT_EFFORT_LIMIT)
    return bool(np.all((lam >= low - slack(low)) & (lam <= high + slack(high))))


def active_limits(model: Model, pose: Pose) -> tuple[str, ...]:
    """Which actuator stands at which limit, in words."""
    roles, (bounds, near) = model.roles, model.limits
    lam, delta = pose.lam[roles.actuators], pose.delta[roles.actuators]
    at = np.abs(np.column_stack([lam, lam, delta, delta]) - bounds) <= near
    return tuple(f"{roles.names[k]}: {WORDS[which]}" for k, which in np.argwhere(at))

"""From a path to a motion: as fast as the actuators allow, with soft beginnings and ends.

Along a path of commands u_k, s counts the time that the slowest actuator needs at full speed, s_{k+1} = s_k +
max_a |Δu_a|/v_a. A motion s(t) with ds/dt ≤ 1 keeps every actuator within its speed; here ds/dt rises and
falls in straight lines, over `ramp` seconds each.
"""

from __future__ import annotations

import numpy as np


def full_speed(
    commands: np.ndarray, speed: np.ndarray, effectors: np.ndarray, effector_speed: float
) -> np.ndarray:
    """s (n,) [s] along a path of commands (n, a) and effectors (n, e) at full speed, inf for no limit."""
    finite = np.isfinite(speed)
    steps = np.zeros(len(commands) - 1)
    if finite.any():
        steps = np.max(np.abs(np.diff(commands[:, finite], axis=0)) / speed[finite], axis=1)
    if np.isfinite(effector_speed):
        steps = np.maximum(steps, np.linalg.norm(np.diff(effectors, axis=0), axis=1) / effector_speed)
    return np.concatenate([[0.0], np.cumsum(steps)])


def duration(length: float, ramp: float) -> float:
    """T [s] of a motion over s = length [s]: longer by the ramps; short ones only rise and fall."""
    return length + ramp if length >= ramp else 2.0 * np.sqrt(length * ramp)


def progress(time: np.ndarray, length: float, ramp: float) -> np.ndarray:
    """s (n,) at times (n,) [s] of a motion from rest to rest with ds/dt ≤ 1, d²s/dt² = ±1/ramp."""
    total = duration(length, ramp)
    t = np.clip(time, 0.0, total)
    if ramp <= 0:
        return np.minimum(t, length)
    rise = min(ramp, 0.5 * total)
    top = rise / ramp  # ds/dt in the middle
    up = 0.5 * np.minimum(t, rise) ** 2 / ramp
    flat = top * np.clip(t - rise, 0.0, total - 2.0 * rise)
    last = np.clip(t - (total - rise), 0.0, rise)
    return np.minimum(up + flat + top * last - 0.5 * last**2 / ramp, length)


def sampled(s: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values (n, m) given along s (n,), at other places (k,): straight lines between.

    Where s stands still, the later value.
    """
    keep = np.append(np.diff(s) > 0, True)
    return np.column_stack([np.interp(at, s[keep], column[keep]) for column in values.T])

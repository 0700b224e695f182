"""What sensors said at one moment: hidden readings are NaN, and a wrong unit is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.robot import Robot
from pliant.sensing.roles import Roles, Sensors

FACTORS = ((1e3, "millimetres"), (1e2, "centimetres"), (1e-3, "kilometres"))
FAR = 3.0  # lengths of the robot: markers farther than that from the model are suspect


def vector(robot: Robot, roles: Roles | Sensors, frame: Mapping[str, Any] | Any) -> np.ndarray:
    """Readings (ns,) of a frame, NaN where hidden or not given and no law gives a value.

    A frame is a dictionary from sensor name to readings, or the readings of the only sensor row: (m,), or (P, 3) of P markers.
    """
    out = roles.value.copy()
    if frame is None:
        return out
    given = dict(frame) if isinstance(frame, Mapping) else {_only(roles): frame}
    for name, value in given.items():
        if name not in roles.sensor_spans:
            robot.named(name)
            raise InputError(f"reading of {name!r}", expected="a row with a Measured law", got="another law")
        span = roles.sensor_spans[name]
        out[span] = _reading(name, value, span.stop - span.start)
    return out


def _only(roles: Roles | Sensors) -> str:
    if len(roles.sensor_spans) > 1:
        expected = f"a dictionary with some of {list(roles.sensor_spans)}"
        raise InputError("frame", expected=expected, got="readings without a name")
    return next(iter(roles.sensor_spans))


def _reading(name: str, value: Any, size: int) -> np.ndarray:
    expected = f"{size} numbers, NaN where hidden"
    reading = as_floats(f"reading of {name!r}", value, expected)
    if reading.size != size:
        raise InputError(f"reading of {name!r}", expected=expected, got=f"shape {reading.shape}")
    if np.isinf(reading).any():
        raise InputError(f"reading of {name!r}", expected=expected, got="infinite numbers")
    return reading.ravel()


def check_unit(readings: np.ndarray, model: np.ndarray, roles: Roles | Sensors, length: float) -> None:
    """Raise InputError where lengths read (ns,) would fit the model's δ (ns,) [m] in another unit and do not in metres."""
    seen = np.isfinite(readings) & roles.metres & np.isfinite(roles.noise)
    if not seen.any():
        return
    off = lambda values: float(np.median(np.abs(values - model[seen])))
    here = off(readings[seen])
    if not (here > FAR * length or _shrunk(readings[seen], model[seen])):
        return
    factor, unit = min(FACTORS, key=lambda pair: off(readings[seen] / pair[0]))
    if off(readings[seen] / factor) < 0.1 * here:
        hint = f"They look like {unit}: divide by {factor:g}."
        raise InputError("readings", expected="metres", got=f"{here:.3g} m off the model", hint=hint)


def _shrunk(readings: np.ndarray, model: np.ndarray) -> bool:
    """Whether readings are about a thousandth of what the model says: all nearly zero where the model's are not."""
    size = float(np.abs(model).max())
    return size > 0 and float(np.abs(readings).max()) < 5e-3 * size and len(readings) >= 3

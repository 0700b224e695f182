"""What sensors said at one moment: hidden readings are NaN, and a wrong unit is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.robot import Robot
from pliant.sensing.roles import Roles, Sensors

FACTORS = ((1e3, "millimetres"), (1e2, "centimetres"), (1e-3, "kilometres"))
SUSPECT_DISTANCE = 3.0  # lengths of the robot: readings farther from the model may be in another unit
SUSPECT_SIZE = 5e-3  # of the model's largest δ: readings that are all smaller may be in another unit
FITS_BETTER = 0.1  # of the distance in metres: what another unit must leave at most
LEAST_READINGS = 3  # from which sizes can be compared


def vector(robot: Robot, roles: Roles | Sensors, frame: Mapping[str, Any] | Any) -> np.ndarray:
    """Readings (ns,) of a frame, NaN where hidden or not given and no law gives a value.

    A frame is a dictionary from sensor name to readings, or the readings of the only sensor row: (m,), or (P,
    3) of P markers.
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
    """Raise InputError where lengths (ns,) do not fit the model's δ (ns,) [m], but would in another unit."""
    seen = np.isfinite(readings) & roles.metres & np.isfinite(roles.noise)
    if not seen.any():
        return
    distance = lambda values: float(np.median(np.abs(values - model[seen])))
    here = distance(readings[seen])
    if not (here > SUSPECT_DISTANCE * length or _shrunk(readings[seen], model[seen])):
        return
    factor, unit = min(FACTORS, key=lambda pair: distance(readings[seen] / pair[0]))
    if distance(readings[seen] / factor) < FITS_BETTER * here:
        hint = f"They look like {unit}: divide by {factor:g}."
        raise InputError("readings", expected="metres", got=f"{here:.3g} m off the model", hint=hint)


def _shrunk(readings: np.ndarray, model: np.ndarray) -> bool:
    """Whether readings are about a thousandth of the model's: all nearly zero where the model's are not."""
    size = float(np.abs(model).max())
    small = float(np.abs(readings).max()) < SUSPECT_SIZE * size
    return size > 0 and small and len(readings) >= LEAST_READINGS

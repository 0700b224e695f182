"""What a step did, in a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.frame import Frame
from pliant.io.units import display, quantity
from pliant.stage import RowFacts
from pliant.status import STATUSES, STOPS

NO_EQUILIBRIUM = "it stays where it was: no equilibrium was found. Try another command, or let it swing."
NO_STEP = "it is held still: no step in time was found. Try a slower command, or reset."
SMALLEST_SHOWN = 0.01  # of the unit shown


def sentence(frame: Frame, rows: Mapping[str, RowFacts], *, trouble: bool = False) -> str:
    """What a step did, in one or several sentences.

    Such as: "Tip stops 8.2 mm short of its target: cable 1 is at its largest effort. Touches sphere, which
    pushes back with 1.3 N."

    `rows` are the facts of the rows by name; `trouble`: no solution was found.
    """
    met = tuple(dict.fromkeys(frame.touch.opponent))
    match frame.mode:
        case "inverse":
            parts = [_inverse(frame, rows, met)]
        case "dynamic":
            parts = [NO_STEP if trouble else _dynamic(frame)]
        case _:
            parts = [NO_EQUILIBRIUM if trouble else _forward(frame)]
    if met:
        parts.append(_touching(frame, met))
    for how, names in _states(frame, rows).items():
        parts.append(f"{_listed(names)} {_are(names)} {how}.")
    return " ".join(part[0].upper() + part[1:] for part in parts)


def _touching(frame: Frame, met: Sequence[str]) -> str:
    """What a contact does: it pushes back."""
    force = quantity(frame.touch.total, "N", digits=3)
    if len(met) == 1:
        return f"Touches {met[0]}, which pushes back with {force}."
    return f"Touches {_listed(met)}, which push back with {force} in all."


def _states(frame: Frame, rows: Mapping[str, RowFacts]) -> dict[str, list[str]]:
    """Actuators that do nothing, by how they are: slack, cut or broken."""
    out: dict[str, list[str]] = {"slack": list(frame.slack)} if frame.slack else {}
    for name in frame.lost:
        out.setdefault("cut" if rows[name].kind == "Cable" else "broken", []).append(name)
    return out


def _inverse(frame: Frame, rows: Mapping[str, RowFacts], met: Sequence[str]) -> str:
    far = frame.distance
    worst = max(far, key=lambda name: far[name])
    off = _rounded(far[worst], rows[worst].unit)
    why = "no effort of the actuators brings it closer"
    if frame.limits:
        why = _listed([_at(limit) for limit in frame.limits])
    elif met:
        why = f"{_listed(met)} {_are(met)} in its way"
    said = STATUSES[frame.status].sentence if frame.status in STATUSES else STOPS
    return said.format(name=worst, off=off, why=why, status=frame.status)


def _forward(frame: Frame) -> str:
    head = "on its way to the commands" if frame.status == "moving" else "rests in equilibrium"
    return f"{head}{_ends(frame)}."


def _dynamic(frame: Frame) -> str:
    """How fast it is; time runs, so it may move long after its commands have arrived."""
    if frame.status != "moving":
        return f"has come to rest{_ends(frame)}."
    return f"moves at up to {quantity(np.array(frame.speed), 'm/s', digits=2)}{_ends(frame)}."


def _ends(frame: Frame) -> str:
    """Which commands are at the ends of their ranges."""
    return f"; {_listed([_at(limit) for limit in frame.limits])}" if frame.limits else ""


def _rounded(value: float, unit: str) -> str:
    """A distance as people care for it: anything below a hundredth of the shown unit is that."""
    return quantity(np.array(max(value, SMALLEST_SHOWN / display(unit)[1])), unit, digits=2)


def _at(limit: str) -> str:
    """ "cable 1: largest effort" as "cable 1 is at its largest effort"."""
    name, _, what = limit.partition(": ")
    return f"{name} is at its {what}"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _listed(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

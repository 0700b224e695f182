"""What a step did, in a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.frame import Frame
from pliant.io.units import quantity
from pliant.stage import RowFacts

NOWHERE = "It stays where it was: no equilibrium was found for this command. Try a smaller one."


def sentence(frame: Frame, rows: Mapping[str, RowFacts], *, trouble: bool = False) -> str:
    """Such as: "Tip stops 8.2 mm short of its target: cable 1 is at its largest effort. Touches sphere with 1.3 N in all."

    `rows` are the facts of the rows by name; `trouble`: no solution was found.
    """
    met = tuple(dict.fromkeys(frame.touch.opponent))
    if frame.mode == "inverse":
        parts = [_inverse(frame, rows, met)]
    else:
        parts = [NOWHERE if trouble else _forward(frame)]
    if met:
        parts.append(f"Touches {_listed(met)} with {quantity(frame.touch.total, 'N', digits=3)} in all.")
    for how, names in _states(frame, rows).items():
        parts.append(f"{_listed(names)} {_are(names)} {how}.")
    return " ".join(part[0].upper() + part[1:] for part in parts)


def _states(frame: Frame, rows: Mapping[str, RowFacts]) -> dict[str, list[str]]:
    """Actuators that do nothing, by how they are: slack, cut or broken."""
    out: dict[str, list[str]] = {"slack": list(frame.slack)} if frame.slack else {}
    for name in frame.lost:
        out.setdefault("cut" if rows[name].kind == "Cable" else "broken", []).append(name)
    return out


def _inverse(frame: Frame, rows: Mapping[str, RowFacts], met: Sequence[str]) -> str:
    far = frame.distance
    worst = max(far, key=lambda name: far[name])
    off = quantity(np.array(far[worst]), rows[worst].unit, digits=2)
    match frame.status:
        case "reached":
            return f"{worst} is at its target, to {off}."
        case "moving":
            return f"{worst} is on its way: {off} to go."
        case "stuck":
            return f"{worst} is stuck {off} from its target: no step was found that keeps to all limits."
    why = "no effort of the actuators brings it closer"
    if frame.limits:
        why = _listed([_at(limit) for limit in frame.limits])
    elif met:
        why = f"{_listed(met)} {_are(met)} in its way"
    return f"{worst} stops {off} short of its target: {why}."


def _forward(frame: Frame) -> str:
    head = "on its way to the commands" if frame.status == "moving" else "rests in equilibrium"
    return f"{head}; {_listed([_at(limit) for limit in frame.limits])}." if frame.limits else f"{head}."


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

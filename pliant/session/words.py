"""What a step did, in a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.frame import Frame
from pliant.inverse.words import are, at_limit, listed
from pliant.inverse.words import sentence as inverse_sentence
from pliant.session import held
from pliant.stage import RowFacts
from pliant.units import quantity

NO_EQUILIBRIUM = "it stays where it was: no equilibrium was found. Try another command, or let it swing."
NO_STEP = "it is held still: no step in time was found. Try a slower command, or reset."


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
    parts += held.words(frame.held)
    for how, names in _states(frame, rows).items():
        parts.append(f"{listed(names)} {are(names)} {how}.")
    return " ".join(part[0].upper() + part[1:] for part in parts)


def _touching(frame: Frame, met: Sequence[str]) -> str:
    """What a contact does: it pushes back."""
    force = quantity(frame.touch.total, "N", digits=3)
    if len(met) == 1:
        return f"Touches {met[0]}, which pushes back with {force}."
    return f"Touches {listed(met)}, which push back with {force} in all."


def _states(frame: Frame, rows: Mapping[str, RowFacts]) -> dict[str, list[str]]:
    """Actuators that do nothing, by how they are: slack, cut or broken."""
    out: dict[str, list[str]] = {"slack": list(frame.slack)} if frame.slack else {}
    for name in frame.lost:
        out.setdefault("cut" if rows[name].kind == "Cable" else "broken", []).append(name)
    return out


def _inverse(frame: Frame, rows: Mapping[str, RowFacts], met: Sequence[str]) -> str:
    """As `Outcome.why` says it."""
    units = {name: rows[name].unit for name in frame.error}
    return inverse_sentence(frame.status, frame.distance, units, frame.limits, met)


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
    return f"; {listed([at_limit(limit) for limit in frame.limits])}" if frame.limits else ""

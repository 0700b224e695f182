"""What a step of the inverse model did, in a sentence: the same for programs and for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.status import STATUSES, STOPS
from pliant.units import display, quantity

SMALLEST_SHOWN = 0.01  # of the unit shown
CONFIRMED = "no effort of the actuators brings it closer"
LEAST_FORCE, LEAST_SHARE = 1e-6, 1e-6  # [N], and of the largest force: less is rounding, not a touch
UNCONFIRMED = "no small change of the efforts brings it closer"


def sentence(
    status: str,
    distance: Mapping[str, float],
    unit: Mapping[str, str],
    limits: Sequence[str],
    met: Sequence[str],
) -> str:
    """How a step went, such as "Tip stops 8.2 mm short of its target: cable 1 is at its largest effort."

    `distance` of each effector from its target, in its `unit`; `limits` as a certificate has them; `met`:
    what the robot touches.
    """
    if not distance:
        return ""
    worst = max(distance, key=lambda name: distance[name])
    said = STATUSES[status].sentence if status in STATUSES else STOPS
    why = reason(status, limits, met)
    text = said.format(name=worst, off=_rounded(distance[worst], unit[worst]), why=why, status=status)
    return text[0].upper() + text[1:]


def reason(status: str, limits: Sequence[str], met: Sequence[str]) -> str:
    """What keeps effectors from their targets, as far as it is known.

    That no effort would do better is said only of "out of reach", which searches from elsewhere confirm.
    """
    if limits and status == "at its limits":
        return listed([at_limit(limit) for limit in limits])
    if met and status == "out of reach":
        return f"{listed(met)} {are(met)} in its way"
    return CONFIRMED if status == "out of reach" else UNCONFIRMED


def touched(contacts: Contacts | None, normal: np.ndarray, detector: Detector) -> tuple[str, ...]:
    """Whom the robot touches, each once; `normal` (n,) [N] are the forces of the contacts."""
    if contacts is None or not normal.any():
        return ()
    contacts, force = contacts.on_samples(normal)
    on = np.flatnonzero(force > max(LEAST_FORCE, LEAST_SHARE * force.max()))
    names = opponents_of(detector)
    return tuple(dict.fromkeys(names[k] for k in contacts.opponent[on]))


def opponents_of(detector: Detector) -> tuple[str, ...]:
    """Whom the robot may touch, as people call them, by number; parts of itself by what they are."""
    own = {o.name: _called(detector.robot.bodies[o.body], o.touches_itself) for o in detector.soft}
    return tuple(own.get(name, name) for name in detector.opponents)


def _called(body: Any, touches_itself: bool) -> str:
    return "its own body" if touches_itself else body.name or "its other body"


def at_limit(limit: str) -> str:
    """ "cable 1: largest effort" as "cable 1 is at its largest effort"."""
    name, _, what = limit.partition(": ")
    return f"{name} is at its {what}"


def are(names: Sequence[str]) -> str:
    """The verb for so many."""
    return "is" if len(names) == 1 else "are"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence; of many, the first three."""
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rounded(value: float, unit: str) -> str:
    """A distance as people care for it: anything below a hundredth of the shown unit is that."""
    return quantity(np.array(max(value, SMALLEST_SHOWN / display(unit)[1])), unit, digits=2)

"""What is wrong in the records of a soak: each finding with the place where it happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pliant.bench.soak.record import FAR, REACHABLE, Hold, Moment, Record
from pliant.result import STANDING_OFF
from pliant.status import BAD, STATUSES

EXCEPTION, NOT_FINITE, SILENT, STANDOFF = "exceptions", "not finite", "silent depth", "standoff"
NO_RETURN, FALSE_CANNOT, NO_WAY = "no return", "false cannot", "no way found"
RESTLESS, JUMP, UNBALANCED = "not at rest", "jump", "no equilibrium"
NO_WAY_FOUND = "no way found from here"
UNDERSTATED = 0.5  # of the measured depth: a certificate that says less, or less than the bound, is silent
NEARER = 0.01  # of the length: an equilibrium that is so much nearer makes "cannot" false
EFFORTS_AT_REST = 1e-3  # of the largest effort of the run: change in a step
FARTHEST = 0.1  # of the length: motion of a node in a step where nothing was done to the robot
SAME = 1e-3  # of the length: how far statics may take the effectors


class Finding(NamedTuple):
    """Something wrong: what, in which episode, at which step, and in words."""

    what: str
    case: str
    episode: int
    step: int
    words: str


def found_in(records: Sequence[Record]) -> list[Finding]:
    """All that is wrong, in the order in which it happened."""
    return [found for record in records for found in _of_record(record)]


def _of_record(record: Record) -> Iterator[Finding]:
    place = record.case, record.number
    for k, moment in enumerate(record.moments):
        for what, words in _of_moment(record, moment):
            yield Finding(what, *place, k, words)
    for hold in record.holds:
        for what, words in _of_hold(hold):
            yield Finding(what, *place, hold.step, words)
    if record.failure:
        yield Finding(EXCEPTION, *place, len(record.moments), record.failure)


def _of_moment(record: Record, moment: Moment) -> Iterator[tuple[str, str]]:
    if not moment.finite:
        yield NOT_FINITE, f"coordinates, efforts or commands ({moment.status})"
    if silent(record, moment):
        said = f"certificate {1e3 * moment.certified:.3f} mm, {moment.status!r}"
        yield SILENT, f"{1e3 * moment.depth:.3f} mm in {moment.inside!r}: {said}"
    said = moment.status in ("recovering", STANDING_OFF) or _warned(moment)
    if moment.standoff > record.bound and not said:
        yield STANDOFF, f"pushed from {1e3 * moment.standoff:.3f} mm away ({moment.status})"
    if moment.motion > FARTHEST:
        yield JUMP, f"a node moves by {100 * moment.motion:.0f} % of the length ({moment.status})"


def _of_hold(hold: Hold) -> Iterator[tuple[str, str]]:
    off = f"{100 * hold.left:.2f} % of the length off a {hold.kind} target at the end ({hold.status})"
    if returns(hold) and hold.after < 0:
        yield NO_RETURN, off
    denied = [word for word in hold.said if word != NO_WAY_FOUND]
    if hold.kind == REACHABLE and denied:
        yield FALSE_CANNOT, f"{', '.join(map(repr, denied))} of a target that commands reach; {off}"
    if hold.kind == FAR and hold.status in denied and hold.nearer < hold.left - NEARER:
        yield FALSE_CANNOT, f"{off}; commands bring it to {100 * hold.nearer:.2f} %"
    if hold.kind == REACHABLE and NO_WAY_FOUND in hold.said:
        yield NO_WAY, off
    if hold.rest > EFFORTS_AT_REST:
        yield RESTLESS, f"efforts change by {100 * hold.rest:.2g} % a step; {off}"
    if hold.moved > SAME:
        yield UNBALANCED, f"statics moves the effectors by {100 * hold.moved:.2f} % of the length; {off}"


def silent(record: Record, moment: Moment) -> bool:
    """Whether the skin is deeper than it may be, and neither the certificate nor the status says so."""
    if not moment.depth > record.bound:  # not measured is NaN
        return False
    understated = moment.certified < max(record.bound, UNDERSTATED * moment.depth)
    return understated and not _warned(moment)


def _warned(moment: Moment) -> bool:
    """Whether the status says that something is wrong."""
    return moment.status in STATUSES and STATUSES[moment.status].severity == BAD


def returns(hold: Hold) -> bool:
    """Whether the hold is a return: a reachable target after trouble."""
    return hold.kind == REACHABLE and bool(np.isnan(hold.rest))

"""The words for how a step, a solve or an estimate went: one table for all who say or show them.

Certificates and frames hold the word itself (`frame.status == "reached"`). A new word is one entry here, and
a line where it is said: sessions take their sentence from it, the studio's page its colour.
"""

from __future__ import annotations

from dataclasses import dataclass

# Severities, which the page has colours for.
GOOD = "good"  # done, as was asked
BUSY = "busy"  # on its way
LIMIT = "limit"  # as good as it gets
BAD = "bad"  # no answer

STOPS = "{name} stops {off} short of its target: {why}."
GOES = "{name} is on its way: {off} to go."


@dataclass(frozen=True)
class Status:
    """What a word means, and how bad that is.

    sentence: how a session with targets says it, with {name} the worst effector, {off} its distance from its
    target, {why} what holds it back and {status} the word. shown: the word that a session shows instead of
    this one. waits: the robot stays where it is, or only goes to its equilibrium, until an answer is found.
    """

    severity: str
    meaning: str
    sentence: str = STOPS
    shown: str = ""
    waits: bool = False


_UNMET = "{name} is {off} from its target: no effort meets all bounds and contacts ({status})."

STATUSES: dict[str, Status] = {
    # of a solve, and of an estimate
    "converged": Status(GOOD, "equilibrium, to the stated tolerance"),
    "converged, unstable": Status(LIMIT, "equilibrium that would buckle: any disturbance leads away from it"),
    "linearised": Status(GOOD, "one linearisation, as was asked for; the decrement says how good it is"),
    "tracking": Status(GOOD, "one linearisation nearer to the best fit"),
    "undetermined": Status(LIMIT, "too few readings for the unknowns, which are then of least size"),
    "blind": Status(LIMIT, "no readings: forces are kept"),
    "energy not kept": Status(LIMIT, "a step in time that lost or gained energy, by a scheme that keeps it"),
    "too deep": Status(BAD, "deeper in an obstacle than contact can be: not a state beside it"),
    "not converged": Status(BAD, "no equilibrium was found: do not use these numbers"),
    "infeasible": Status(BAD, "no effort meets all bounds and contacts: the nearest was taken", _UNMET),
    "solver not converged": Status(BAD, "the efforts that meet all laws were not found", _UNMET),
    # of a robot that follows targets or commands
    "reached": Status(GOOD, "at its target", "{name} is at its target, to {off}."),
    "holds": Status(GOOD, "at its commands, and at rest"),
    "moving": Status(BUSY, "on its way", GOES),
    "standing off": Status(
        LIMIT,
        "a step that ends where something pushes without touching",
        "{name} is on its way, pushed by something that it does not touch yet: {off} to go.",
    ),
    "at its limits": Status(LIMIT, "as near as the named limits let it come"),
    "out of reach": Status(LIMIT, "as near as it can come: searches from elsewhere came no nearer either"),
    "no way found from here": Status(LIMIT, "as near as it has come; there may be another way"),
    "about to buckle": Status(
        LIMIT, "at the last stable pose", STOPS.replace("{why}", "any further and it would buckle")
    ),
    "stuck": Status(
        BAD,
        "no step keeps to all limits; it stays where it was",
        "{name} is stuck {off} from its target: no step keeps to all limits (infeasible).",
    ),
    "going back": Status(
        BUSY, "on its way back, to get on from there", "{name} goes back to get on from there: {off} to go."
    ),
    "backing out": Status(
        BAD,
        "something is inside it, to which it cannot yield: it goes back the way it came, until it is clear",
        "{name} goes back the way it came, because something is inside it: {off} to go.",
    ),
    # of an inverse model that waits while it works
    "looking for another way": Status(
        BUSY,
        "waits: scouts try other ways",
        "{name} waits {off} from its target and looks for another way.",
        waits=True,
    ),
    # sessions show these as a robot on its way
    "searching": Status(BUSY, "waits: a smaller step is sought", GOES, "moving", waits=True),
    "recovering": Status(
        BUSY, "pushed: on its way to the equilibrium with locked drives", GOES, "moving", waits=True
    ),
    "recovered": Status(BUSY, "found the equilibrium with locked drives", GOES, "moving", waits=True),
}


def shown(word: str) -> str:
    """The word that a session shows for one of a certificate."""
    return STATUSES[word].shown or word if word in STATUSES else word


def severities() -> dict[str, str]:
    """How bad each word is: what a page needs to know of them."""
    return {word: status.severity for word, status in STATUSES.items()}

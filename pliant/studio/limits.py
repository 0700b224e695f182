"""What one page may ask of the studio, all in one place.

A page that misbehaves must not slow the simulation, nor fill the memory.

A page that is used by a person stays far below: dragging, sliders and acknowledgements make a few hundred
messages a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

# What waits
UNSEEN = 6  # frames on their way to a viewer: a page that draws in software is busy for as long as they last
WAITING = 256  # commands for the next step

# What comes
LARGEST_MESSAGE = 4096  # bytes
PIECE = 1024  # bytes read at once: what is read is parsed, and meanwhile nobody else is heard
MESSAGES, MESSAGES_AT_ONCE = 1000.0, 2000.0  # per second; at once, as after a network that stood still
PATIENCE = 3.0  # [s] for which a viewer may send more than that
NONSENSE, NONSENSE_AT_ONCE = 2.0, 50.0  # per second: none from our page, some from an older one

# Parts for robots of one's own
LARGEST_PART = 48_000_000  # bytes of an STL or STEP file; it comes in messages as all else
DOCUMENTS = 50  # edits that can be undone, and that may wait

# Who comes
MOST_VIEWERS = 32
MOST_STRANGERS = 64  # connections that are not viewers: requests that are read or answered
REQUESTS, REQUESTS_AT_ONCE = 30.0, 200.0  # per second, of all together
QUEUE = 2.0  # [s] for which a request waits for its turn
OPENING = 10.0  # [s] for a request and its answer
DEAF = 20.0  # [s] for which a viewer may take nothing of what it is sent
PARTING = 1.0  # [s] to say goodbye


@dataclass(frozen=True)
class Reason:
    """Why a viewer is dropped: the close code of its WebSocket, and words."""

    code: int
    words: str


FULL = Reason(4000, "too many viewers")
NONSENSICAL = Reason(4001, "too much that is not a message of the studio")
FLOODING = Reason(4002, "too many messages")
STALLED = Reason(4003, "nothing was read for too long")


class Allowance:
    """A token bucket: things may come at a `rate` [1/s] on average, and `at_once` after a pause.

    Who waits for as long as `take` says stays within it.
    """

    def __init__(self, rate: float, at_once: float, clock: Callable[[], float] = monotonic) -> None:
        self.rate, self.at_once, self._clock = rate, at_once, clock
        self._left, self._now = at_once, clock()
        self._empty: float | None = None  # since when

    def take(self, count: float = 1.0, *, within: float = inf) -> float:
        """Take so many; returns how long [s] until they are there, 0 if they were.

        If that is longer than `within`: inf, and nothing is taken.
        """
        now = self._clock()
        self._left = min(self._left + self.rate * (now - self._now), self.at_once)
        self._now = now
        if self._left > 0.5 * self.at_once:
            self._empty = None
        wait = max((count - self._left) / self.rate, 0.0)
        if wait > 0.0 and self._empty is None:
            self._empty = now
        if wait > within:
            return inf
        self._left -= count
        return wait

    @property
    def overdrawn(self) -> float:
        """For how long [s], at the last `take`, it had been empty without filling to one half since."""
        return 0.0 if self._empty is None else self._now - self._empty

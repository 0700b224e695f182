"""Motors that follow what they are told as a drive does."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.drive import Drive


class Following:
    """Places by id [counts] that follow their goals; without a drive they are there at once.

    A sensor on the motor sees neither backlash nor what yields behind it.
    """

    def __init__(self, drive: Drive | None, places: Mapping[int, float]) -> None:
        self.drive = drive
        self._place, self._goal, self._now = dict(places), dict(places), 0.0

    def ask(self, goals: Mapping[int, float], now: float) -> None:
        """Other goals from now on."""
        self.places(now)
        self._goal |= goals

    def put(self, places: Mapping[int, float]) -> None:
        """Where they are, and stay."""
        self._place |= places
        self._goal |= places

    def places(self, now: float) -> dict[int, int]:
        """Where they are by now [counts]."""
        return {i: round(p) for i, p in self.exactly(now).items()}

    def exactly(self, now: float) -> dict[int, float]:
        """The same, between counts too."""
        time, self._now = max(0.0, now - self._now), now
        if self.drive is None:
            self._place = dict(self._goal)
        else:
            self._place = {i: self.drive.after(p, self._goal[i], time) for i, p in self._place.items()}
        return dict(self._place)

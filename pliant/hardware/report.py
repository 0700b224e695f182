"""How a run of the loop went."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class LoopReport:
    """How a run ended: `status`, and the `reason` in words; `error` is what was raised.

    The status is "done", "stopped" (emergency stop), "watchdog" or "failed".

    periods: turns of the loop; missed: periods that ended without a command of theirs, because a turn took
    longer than one. jitter (n,) [s]: how late each turn began; busy (n,) [s]: how long each took until the
    command was out. limited: how often each limit was met.
    """

    status: str
    reason: str
    periods: int
    missed: int
    period: float
    jitter: np.ndarray
    busy: np.ndarray
    limited: dict[str, int] = field(default_factory=dict)
    error: BaseException | None = None

    @property
    def met(self) -> float:
        """Share of the deadlines that were met."""
        due = self.periods + self.missed
        return self.periods / due if due else 1.0

    def __str__(self) -> str:
        late = lambda share: 1e3 * float(np.quantile(self.jitter, share)) if len(self.jitter) else 0.0
        busy = 1e3 * float(np.median(self.busy)) if len(self.busy) else 0.0
        why = f" ({self.reason})" if self.reason else ""
        if not self.periods:
            return f"{self.status}{why} before the first period was over"
        met = ", ".join(f"{limit} ({times} times)" for limit, times in self.limited.items())
        return (
            f"{self.status}{why} after {self.periods} periods of {1e3 * self.period:g} ms: "
            f"{100 * self.met:.2f} % of deadlines met, jitter median {late(0.5):.3f} ms, "
            f"99 % {late(0.99):.3f} ms, largest {late(1.0):.3f} ms, busy {busy:.2f} ms"
            + (f"; limits met: {met}" if met else "")
        )

"""Whether the effectors still come nearer to their targets: a robot that creeps at its best is not on its way."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np

STEPS = 30  # to look back
SHARE = 0.01  # of the distance: what counts as coming nearer in so many steps


class Progress:
    """Distances over the last steps with the same targets."""

    def __init__(self) -> None:
        self._targets: np.ndarray | None = None
        self._distances: deque[float] = deque(maxlen=STEPS)

    def still(self, targets: Mapping[str, np.ndarray], error: Mapping[str, np.ndarray]) -> bool:
        """Whether, with this step, they have stopped coming nearer."""
        aim = np.concatenate([np.zeros(0), *targets.values()])
        if self._targets is None or not np.array_equal(aim, self._targets):
            self._targets = aim
            self._distances.clear()
        far = float(np.linalg.norm(np.concatenate([np.zeros(0), *error.values()])))
        before = list(self._distances)
        self._distances.append(far)
        return len(before) == STEPS and far > (1.0 - SHARE) * before[0]

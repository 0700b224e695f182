"""Memo: the last answer to a question about coordinates q, which is asked several times in a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

Answer = TypeVar("Answer")


class Memo:
    """Remembers one answer, and the coordinates that it belongs to."""

    def __init__(self) -> None:
        self._known: tuple[np.ndarray, object] | None = None

    def __call__(self, answer: Callable[[], Answer], q: np.ndarray) -> Answer:
        """The answer for q (nq,); `answer` is called if it is not the last one."""
        if self._known is None or not _same(self._known[0], q):
            self._known = q if _kept(q) else np.array(q), answer()
        return self._known[1]  # type: ignore[return-value]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a is b and _kept(a):
        return True
    if a.size and b.size and a.item(-1) != b.item(-1):  # coordinates are many: a quick look first
        return False
    return np.array_equal(a, b)


def _kept(q: np.ndarray) -> bool:
    """Whether nobody can change q."""
    return bool(q.flags.owndata) and not q.flags.writeable

"""Memo: the last answer to a question about coordinates q, which is asked several times in a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

Answer = TypeVar("Answer")


class Memo:
    """Remembers one answer, and the coordinates and options that it belongs to."""

    def __init__(self) -> None:
        self._known: tuple[np.ndarray, tuple, object] | None = None

    def __call__(self, answer: Callable[[], Answer], q: np.ndarray, *options: object) -> Answer:
        """The answer for q (nq,) and options; `answer` is called if it is not the last one."""
        if self._known is None or self._known[1] != options or not _same(self._known[0], q):
            found = answer()
            self._known = q if _kept(q) else np.array(q), options, found
        return self._known[2]  # type: ignore[return-value]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a is b and _kept(a):
        return True
    few = slice(
        None, None, max(1, len(a) // 8)
    )  # coordinates are many, and if they differ then nearly everywhere
    return a.shape == b.shape and np.array_equal(a[few], b[few]) and np.array_equal(a, b)


def _kept(q: np.ndarray) -> bool:
    """Whether nobody can change q."""
    return bool(q.flags.owndata) and not q.flags.writeable

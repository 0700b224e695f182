"""The inverse problem with friction on many potential contacts, of which few push.

Solved for those that push without friction, then again with those that were penetrated, until none is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.solvers import frictional_inverse, qpcc

ROUNDS = 8
OUTSIDE = 1e-9  # gap, relative to the largest, below which a contact is missing


@dataclass(frozen=True)
class RoughSolution:
    """Efforts (na,), efforts of all contact rows (one-sided, n normals, 2n tangents), and the certificate of the last solve."""

    effort: np.ndarray
    contact: np.ndarray
    certificate: Any


def rough_inverse(
    blocks: tuple[np.ndarray, ...], mu: np.ndarray, *, starts: int, easy_starts: int, **options: Any
) -> RoughSolution:
    """`frictional_inverse` of blocks (Wea, Wec, Waa, Wac, Wcc, de, da, dc), its contacts chosen as needed."""
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = blocks
    n, others = len(mu), len(dc) - 3 * len(mu)
    plain = slice(0, others + n)
    easy = qpcc(
        Wea, Wec[:, plain], Waa, Wac[:, plain], Wcc[plain, plain], de, da, dc[plain], starts=easy_starts, **options
    )  # fmt: skip
    chosen = easy.contact[others:] > 0.0
    options = {**options, "warm": easy.effort if options.get("warm") is None else options["warm"]}
    for _ in range(ROUNDS):
        rows = _rows(chosen, others)
        part = (Wea, Wec[:, rows], Waa, Wac[:, rows], Wcc[np.ix_(rows, rows)], de, da, dc[rows])
        found = frictional_inverse(*part, mu[chosen], starts=starts, **options)
        gap = dc[plain] + Wac[:, plain].T @ found.effort + Wcc[plain][:, rows] @ found.contact
        missing = ~chosen & (gap[others:] < -OUTSIDE * np.abs(dc[plain]).max(initial=0.0))
        if not missing.any():
            break
        chosen |= missing
    contact = np.zeros(len(dc))
    contact[rows] = found.contact
    return RoughSolution(np.array(found.effort), contact, found.certificate)


def _rows(chosen: np.ndarray, others: int) -> np.ndarray:
    """Rows of the one-sided rows and of the chosen contacts: normals, then tangents."""
    k, n = np.flatnonzero(chosen), len(chosen)
    tangents = others + n + (2 * k[:, None] + np.arange(2)).ravel()
    return np.concatenate([np.arange(others), others + k, tangents])

"""Where to put markers: the k of many places that determine forces best in the worst of several postures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, unknown_name
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing.identifiability import paper_index
from pliant.sensing.instruments import instrumented
from pliant.sensing.least_squares import pseudo_inverse
from pliant.sensing.model import NO_COMMANDS, Model

EXCHANGE_SWEEPS = 4  # in which every marker may be exchanged
BETTER = 1e-9  # relative: an exchange must lower the criterion by more
REGULARISED = 1e-6  # of the mean eigenvalue of AᵀA with all places: added, as the first few determine little


@dataclass(frozen=True)
class Placement:
    """The chosen places (k,), their positions at rest (k, 3) [m], and the criterion in every posture."""

    chosen: np.ndarray
    positions: np.ndarray
    values: np.ndarray
    criterion: str

    @property
    def worst(self) -> float:
        """The criterion in the worst posture."""
        return float(self.values.max())


def place_markers(
    robot: Robot,
    places: Any,
    candidates: Any,
    count: int,
    *,
    postures: Sequence[Mapping[str, Law]] = ({},),
    direction: ArrayLike | None = None,
    noise: float = 1e-4,
    criterion: str = "index",
) -> Placement:
    """`count` of the `places` (points, or positions at rest) for markers, for forces at the candidates.

    `postures` are commands under which the robot rests. `criterion` is "index", the paper's I_w = ‖W_ef⁺‖₁
    [N/mm], or "deviation", the largest standard deviation of a force component [N] with the stated noise.
    Places are added one by one, those that determine the forces best (trace of the covariance), then
    exchanged one by one while the worst posture improves.
    """
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, CRITERIA)
    equipped = instrumented(robot, places, candidates, direction=direction)
    fields = []
    for laws in postures:
        model = Model(equipped, laws, noise)
        A = model.influence(model.start, NO_COMMANDS)
        fields.append(A.reshape(-1, 3, A.shape[1]))
    total, forces = fields[0].shape[0], fields[0].shape[2]
    if not isinstance(count, (int, np.integer)) or not 0 < count <= total:
        raise InputError("count", expected=f"a number of markers from 1 to {total}", got=repr(count))
    if 3 * count < forces:
        raise InputError(
            "count", expected=f"at least {-(-forces // 3)} markers for {forces} unknowns", got=count
        )
    measure = lambda which: max(CRITERIA[criterion](f[which].reshape(-1, forces), noise) for f in fields)
    chosen = _exchanged(_grown(fields, count), total, measure)
    values = [CRITERIA[criterion](f[chosen].reshape(-1, forces), noise) for f in fields]
    rest = equipped.rows["markers"].interaction.rest
    return Placement(np.sort(chosen), rest[np.sort(chosen)], np.array(values), criterion)


def _index(A: np.ndarray, noise: float) -> float:
    """I_w, infinite where the forces are not determined."""
    return paper_index(A) if pseudo_inverse(A)[2] == A.shape[1] else float("inf")


def _deviation(A: np.ndarray, noise: float) -> float:
    gain, _, rank = pseudo_inverse(A / noise)
    return float(np.linalg.norm(gain, axis=1).max()) if rank == A.shape[1] else float("inf")


CRITERIA = {"index": _index, "deviation": _deviation}


def _grown(fields: list[np.ndarray], count: int) -> list[int]:
    """Places added one by one, each with the least sum over postures of tr (AᵀA + εI)⁻¹."""
    n, forces = fields[0].shape[0], fields[0].shape[2]
    own = [np.einsum("nki,nkj->nij", f, f) for f in fields]
    total = [REGULARISED * np.trace(g.sum(axis=0)) / forces * np.eye(forces) for g in own]
    chosen: list[int] = []
    for _ in range(count):
        cost = sum(np.einsum("nii->n", np.linalg.inv(t + g)) for t, g in zip(total, own, strict=True))
        cost = np.asarray(cost)
        cost[chosen] = np.inf
        chosen.append(int(cost.argmin()))
        total = [t + g[chosen[-1]] for t, g in zip(total, own, strict=True)]
    return [c for c in chosen if c < n]


def _exchanged(chosen: list[int], total: int, measure: Any) -> np.ndarray:
    now = measure(np.array(chosen))
    for _ in range(EXCHANGE_SWEEPS):
        before = now
        for k in range(len(chosen)):
            for other in range(total):
                if other in chosen:
                    continue
                trial = [*chosen[:k], other, *chosen[k + 1 :]]
                value = measure(np.array(trial))
                if value < now * (1.0 - BETTER):
                    chosen, now = trial, value
        if now >= before:
            break
    return np.array(chosen)

"""Can this model have made these readings? What is left of them, tested against noise.

With residuals r over their noise and their Jacobian A at the best fit, a model that is right leaves nothing
but noise: ‖r‖² is χ² with n − p degrees of freedom, and so is the part of r along any patterns U that the
parameters do not make, (I − A A⁺) U. The patterns are what losses and laws that were left out would leave:

    hold    drift while commands stand, by their size    creep, lag, a leak
    way     the side that each command came from         friction, backlash
    size    the square of each command                   material law, geometry, mesh

each free for every reading of a step. What is left shows a discrepancy of the size d = √(statistic − degrees
of freedom) standard deviations. Twice as much may lie along what the parameters do, where no residual shows
it: so their deviations are √(1 + 4 d²) times those of noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.laws import Known, Law, Valve
from pliant.sensing.record import Loop, Record

CHANCE = 1e-3  # of taking noise for a misfit, in each test
HIDDEN = 2.0  # of what is left: how much more may lie along what the parameters do
STILL = 1e-9  # of the largest command: less is no motion
ALONG = 1e-6  # of a pattern's length: what is left of it, if the parameters make it
NOISE = "is more than noise"
MEANINGS = {  # the most telling first: what creeps looks as if it had friction, not the other way round
    "hold": "drifts while the commands stand: creep, lag or a leak may be left out",
    "way": "depends on which way the commands came: friction or backlash may be left out",
    "size": "bends with the commands: the material's law, the geometry or the mesh may be another",
}


@dataclass(frozen=True)
class Misfit:
    """What is left: its `size` d in standard deviations, and what it looks like, the most telling first."""

    size: float = 0.0
    signs: tuple[str, ...] = ()

    @property
    def widening(self) -> float:
        """By what deviations of noise are to be multiplied."""
        return float(np.sqrt(1.0 + (HIDDEN * self.size) ** 2))


def judged(
    residual: np.ndarray,
    fitted: tuple[np.ndarray, np.ndarray],
    freedom: int,
    patterns: dict[str, np.ndarray],
    places: tuple[np.ndarray, np.ndarray],
) -> Misfit:
    """The misfit of residuals (n,) of a fit with A (n, p) and A⁺.

    patterns (steps, k) by kind; places: of each residual the step and the channel.
    """
    found = []
    (step, channel), (A, inverse) = places, fitted
    for kind, pattern in patterns.items():
        U = _by_channel(pattern[step], channel)
        U -= A @ (inverse @ U)
        Q, s, _ = np.linalg.svd(U, full_matrices=False)
        Q = Q[:, s > ALONG * max(1.0, float(s.max(initial=0.0)))]
        if 0 < Q.shape[1] < freedom:
            found.append((_excess(float(((Q.T @ residual) ** 2).sum()), Q.shape[1]), MEANINGS[kind]))
    found.append((_excess(float(residual @ residual), freedom), NOISE))
    shown = [f for f in found if f[0] > 0.0]
    return Misfit(float(np.sqrt(max(f[0] for f in shown))), tuple(f[1] for f in shown)) if shown else Misfit()


def _excess(statistic: float, freedom: int) -> float:
    """d²; 0 where noise alone may be so large."""
    from scipy.special import chdtri  # slow to import

    return statistic - freedom if freedom > 0 and statistic > chdtri(freedom, CHANCE) else 0.0


def _by_channel(pattern: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Each column (n,) once for every channel, (n, k · channels)."""
    own = channel[:, None] == np.unique(channel)[None]
    return (pattern[:, :, None] * own[:, None, :]).reshape(len(channel), -1)


def patterns(records: Sequence[Record | Loop]) -> dict[str, np.ndarray]:
    """By kind (steps, k), over all records."""
    commands = _commands(records)
    ways, holds, begin = [], [], 0
    for record in records:
        own = commands[begin : begin + len(record.steps)]
        begin += len(own)
        ways.append(_ways(own))
        holds.append(_drift(own))
    bent = np.array([len(np.unique(np.round(c, 9))) > 2 for c in commands.T], bool)
    found = {"hold": np.concatenate(holds), "way": np.concatenate(ways), "size": commands[:, bent] ** 2}
    turned = {kind: p[:, np.ptp(p, axis=0) > 0.0] for kind, p in found.items()}
    return {kind: p for kind, p in turned.items() if p.size}


def _commands(records: Sequence[Record | Loop]) -> np.ndarray:
    """Every scalar that a law imposes (steps, c), over the largest of its own."""
    steps = [step for record in records for step in record.steps]
    rows: list[dict[tuple[str, int], float]] = []
    for step in steps:
        given = {name: _imposed(law) for name, law in step.laws.items()}
        rows.append({(name, k): v for name, values in given.items() for k, v in enumerate(values)})
    names = sorted({name for row in rows for name in row})
    out = np.array([[row.get(name, 0.0) for name in names] for row in rows]).reshape(len(steps), len(names))
    largest = np.abs(out).max(axis=0, initial=0.0)
    return out[:, largest > 0.0] / largest[largest > 0.0]


def _imposed(law: Law) -> list[float]:
    if isinstance(law, Valve):
        return [law.opening]
    if not isinstance(law, Known):
        return []
    return np.asarray(law.displacement if law.effort is None else law.effort, float).ravel().tolist()


def _ways(commands: np.ndarray) -> np.ndarray:
    """±1, as each command last moved; it begins at 0. Only those that turn round tell anything."""
    out = np.zeros(commands.shape)
    before, way = np.zeros(commands.shape[1]), np.zeros(commands.shape[1])
    for k, now in enumerate(commands):
        moved = now - before
        way = np.where(np.abs(moved) > STILL, np.sign(moved), way)
        out[k], before = way, now
    return np.where((out.min(axis=0) < 0.0) & (out.max(axis=0) > 0.0), out, 0.0)


def _drift(commands: np.ndarray) -> np.ndarray:
    """How long a command has stood (steps, 1), less the mean of the hold, times the commands' size."""
    out = np.zeros((len(commands), 1))
    moved = np.abs(np.diff(commands, axis=0)).max(axis=1, initial=0.0) > STILL
    starts = np.concatenate([[0], np.flatnonzero(moved) + 1])
    for begin, end in zip(starts, [*starts[1:], len(commands)], strict=True):
        since = np.log1p(np.arange(end - begin))
        out[begin:end, 0] = (since - since.mean()) * np.linalg.norm(commands[begin])
    return out

"""Emio: how near the simplest fits come to the recorded positions, which a simulator has to beat."""

from __future__ import annotations

import numpy as np

from pliant.io.table import Table
from pliant.studies.check import Check
from pliant.studies.real.lab import Lab
from pliant.studies.real.recordings import emio
from pliant.studies.study import Findings

DRAWS = 40  # of poses to fit on
INCUMBENT = "incumbent less its mean error"
COUNTS = {"affine": 4, "quadratic": 10}  # numbers of each coordinate's fit
TEXT = (
    "A map from the targets to the measured positions, affine or quadratic, is fitted on some poses and "
    "scored on the others: on poses drawn at random, and on inner poses, scored on the outer half; shown "
    "are means of 40 draws. Beside it the recorders' own simulation as it is, and less its mean error on the "
    "same poses. Ours is in a part of its own."
)


def features(x: np.ndarray, kind: str) -> np.ndarray:
    """Columns of a fit: 1 and x, and for a quadratic one all products, of positions (n, 3) in 0.1 m."""
    x = 10.0 * (x - np.array([0.0, -0.13, 0.0]))
    columns = [np.ones(len(x)), *x.T]
    if kind == "quadratic":
        columns += [x[:, i] * x[:, j] for i in range(3) for j in range(i, 3)]
    return np.stack(columns, axis=1)


def missed(
    kind: str,
    model: np.ndarray,
    target: np.ndarray,
    real: np.ndarray,
    known: np.ndarray,
    scored: np.ndarray,
) -> float:
    """Mean distance [m] on the scored poses of a fit on the known ones."""
    if kind == INCUMBENT:
        return distance(model[scored] + (real - model)[known].mean(axis=0), real[scored])
    fit = np.linalg.lstsq(features(target[known], kind), real[known], rcond=None)[0]
    return distance(features(target[scored], kind) @ fit, real[scored])


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Mean distance [m] of positions (n, 3)."""
    return float(np.linalg.norm(a - b, axis=1).mean())


def inner_first(target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Poses in the order of how far their targets (n, 3) are from the middle."""
    far = np.abs((target - target.mean(axis=0)) / np.ptp(target, axis=0)).max(axis=1)
    return np.argsort(far + 1e-9 * rng.random(len(far)))


def baselines(lab: Lab) -> Findings:
    """Affine, quadratic and the incumbent on random and on inner poses."""
    target, model, real = emio()
    rng, everyone = lab.setup.rng("emio"), np.arange(len(target))
    order = inner_first(target, rng)
    half = len(order) // 2
    table = Table("Emio: mean distance from the measured position", ("poses", "who", "on others", "on outer"))
    checks = []
    for count in (10, 20, 51):
        drawn = [rng.choice(everyone, count, replace=False) for _ in range(DRAWS)]
        inner = [order[rng.choice(half, count, replace=False)] for _ in range(DRAWS)]
        kinds = [kind for kind, numbers in COUNTS.items() if count > numbers]
        for kind in [*kinds, INCUMBENT]:
            others = [missed(kind, model, target, real, n, np.setdiff1d(everyone, n)) for n in drawn]
            outer = [missed(kind, model, target, real, n, order[half:]) for n in inner]
            outer = 1e3 * float(np.mean(outer))
            table.add(poses=count, who=kind, **{"on others": 1e3 * float(np.mean(others)), "on outer": outer})
            checks.append(Check(f"{kind} from {count} inner poses, on the outer half", outer, unit="mm"))
    table.notes.append("In millimetres.")
    raw = 1e3 * distance(model, real)
    checks.append(
        Check.compared(
            "incumbent's simulation as it is", raw, paper=3.25, why="theirs is against the target", unit="mm"
        )
    )
    return Findings("Emio: the simplest fits", TEXT, [table], checks)

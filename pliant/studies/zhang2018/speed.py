"""Part 9: how long one frame takes, with allocation of twenty unlabelled markers, over dgemm(1500)."""

from __future__ import annotations

import numpy as np

from pliant.laws import Known
from pliant.sensing import ForceEstimator, MarkerTracker
from pliant.sensing import places as spread
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.study import Findings
from pliant.studies.zhang2018.lab import Lab
from pliant.timing import paired

MARKERS, NOISE = 20, 1e-4
LIMIT = 0.08  # 100 Hz where the product takes 125 ms
# Layout of the candidates, spacing of the markers [m], above which height [m], and the paper's rate [Hz].
CASES = {
    "sheet": ("s4", 0.018, 0.0, 16),
    "robot": ("r4", 0.014, 0.02, 20),
}
TEXT = (
    "One linearisation per frame with 18 unknown components, 60 readings in random order, 0.1 mm of noise; "
    "the mesh sizes of the paper."
)


def speed(lab: Lab) -> Findings:
    """Both objects."""
    checks = []
    for what, (name, spacing, height, hertz) in CASES.items():
        ms, ratio = paired(_frame(lab, name, spacing, height), rounds=5)
        asked = f"≤ {LIMIT:g}"
        checks += [
            Check(f"{what}: one frame over dgemm(1500)", ratio, ratio <= LIMIT, asked),
            Check.compared(
                f"{what}: frames per second, here and now",
                1e3 / ms,
                paper=hertz,
                unit="Hz",
                why="another machine, another code, and it was perhaps busy",
            ),
        ]
    return Findings("Speed", TEXT, checks=checks)


def _frame(lab: Lab, name: str, spacing: float, height: float):
    """A function that takes one frame."""
    rng, robot, layout = lab.setup.rng("speed"), lab.build(name[0]), lab.layout(name)
    markers = spread(robot, spacing, lambda x: x[:, 2] > height).points[np.arange(MARKERS)]
    estimator = ForceEstimator(robot, markers, layout.candidates, laws=lab.laws(name), noise=NOISE)
    laws = {**lab.laws(name), "forces": Known(effort=layout.applied.ravel())}
    shown = static(estimator.robot, laws).displacement["markers"].reshape(-1, 3)
    tracker = MarkerTracker(estimator)

    def frame() -> object:
        cloud = shown + NOISE * rng.normal(size=shown.shape)
        return estimator.step(tracker.frame(cloud[rng.permutation(MARKERS)]))

    return frame

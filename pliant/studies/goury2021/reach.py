"""The finger over its whole range, forwards and backwards, with one setting (Fig. 8 everywhere)."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pliant.inverse import Inverse
from pliant.io.table import Table
from pliant.robot import Robot
from pliant.studies.check import Check
from pliant.studies.figures import heading, new_figure
from pliant.studies.goury2021.drawing import GOAL, show
from pliant.studies.goury2021.fingers import FULL, NONE, PAPER, POINTS, SMOOTH, Finger
from pliant.studies.goury2021.lab import Lab
from pliant.studies.study import Findings, Picture
from pliant.timing import Yardstick

SHARE = 0.01  # of the pull: the largest error asked
MOST_STEPS = 60  # that a model may take to come to rest at a target …
STILL = 1e-5  # … where its tip moves less than this share of the robot's length in a step
LEAST_SPEEDUP = 1.5  # of a step of the inverse model with points, over full contact
COLUMNS = {PAPER: "paper's method here", SMOOTH: "ours: 5 smooth modes", POINTS: "ours: points", FULL: FULL}


def reach(lab: Lab) -> Findings:
    """Tip errors of all models at pulls that nobody chose, over the whole range."""
    tables, pictures, data = [], [], {}
    checks = [Check("pulls drawn over the whole range", lab.setting.pulls)]
    for finger in lab.fingers():
        pulls = np.sort(lab.setup.rng("pulls").uniform(0.0, finger.pull, lab.setting.pulls))
        true = finger.tips(finger.full, pulls)
        forward = {n: _share(finger.tips(r, pulls), true, pulls) for n, r in finger.models.items()}
        runs = {n: Run.of(lab, finger, r, pulls, true) for n, r in finger.models.items()}
        tables.append(_table(finger, forward, runs))
        pictures.append(_postures(lab, finger, runs, true[-1], len(pictures)))
        data[finger.name] = {
            "pulls": pulls,
            "forward": forward,
            "inverse": {n: run.share for n, run in runs.items()},
            "pushing": (finger.shots.contact > 0).sum(axis=1),
        }
    text = (
        "The tip at pulls drawn by the study's seed, beside that of the full model. Forwards: by statics. "
        "Backwards: the target goes to where the full model's tip is at each pull, and waits there until the "
        "inverse model says that it has arrived and the tip rests, or for 60 steps. Errors are shares of the "
        "pull. The paper's method has rows Ψᵀδ and five modes of clipped ALS. All bases come from the same "
        "snapshots over the whole range, with default settings."
    )
    return Findings("The finger over its range", text, tables, checks, pictures, data)


@dataclass(frozen=True)
class Run:
    """The inverse model at all pulls: errors (n,) as shares of the pull, depth [m], time of a step, end."""

    share: np.ndarray
    depth: float
    ratio: float  # of a step over dgemm(1500), CPU time
    q: np.ndarray

    @classmethod
    def of(cls, lab: Lab, finger: Finger, robot: Robot, pulls: np.ndarray, true: np.ndarray) -> Run:
        controller, missed, depths, steps = Inverse(robot), [], [], 0
        path, at = _path(finger, lab.setting.frames), 0
        yard, begin = Yardstick.measure(clock=process_time).milliseconds, process_time()
        for pull, target in zip(pulls, true, strict=True):
            while at < len(path) and path[at][0] < pull:
                controller.step(targets={"tip": path[at][1]})
                at, steps = at + 1, steps + 1
            tip = np.full(3, np.inf)
            for _ in range(MOST_STEPS):
                out = controller.step(targets={"tip": target})
                before, tip, steps = tip, out.displacement["tip"], steps + 1
                still = bool(np.linalg.norm(tip - before) <= STILL * robot.length)
                if still and out.certificate.status == "reached":
                    break
            missed.append(float(np.linalg.norm(tip - target)))
            depths.append(out.q)
        spent = 1e3 * (process_time() - begin) / steps
        depth = max(lab.depth(finger.full, q) for q in depths)
        return cls(np.array(missed) / pulls, depth, spent / yard, out.q)


def _path(finger: Finger, frames: int) -> list[tuple[float, np.ndarray]]:
    """Pulls [m] and tips of snapshots on the way, `frames` of them over the range."""
    shots, robot = finger.shots, finger.full
    some = np.unique(np.linspace(0, len(shots) - 1, frames).astype(int))
    row = lambda q: robot.bundle.delta(robot.bundle.positions(q))[robot.spans["tip"]]
    return [(float(shots.commands[k, 0]), row(shots.coordinates[k])) for k in some]


def _share(tips: np.ndarray, true: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Errors (n,) as shares of the pull; infinite where a model has no equilibrium."""
    error = np.linalg.norm(tips - true, axis=1) / pulls
    return np.where(np.isnan(tips).any(axis=1), np.inf, error)


def _table(finger: Finger, forward: dict[str, np.ndarray], runs: dict[str, Run]) -> Table:
    table = Table(
        f"{finger.name}: errors in % of the pull",
        ("what", "paper", *COLUMNS.values(), NONE, "asked", "check", "why"),
    )
    names = {**COLUMNS, NONE: NONE}
    row = lambda values: {column: float(values[name]) for name, column in names.items() if name in values}
    worst = {n: 100 * e.max() for n, e in forward.items()}
    back = {n: 100 * run.share.max() for n, run in runs.items()}
    ratio = {n: run.ratio for n, run in runs.items()}
    limit = 100 * SHARE
    within = lambda values: {"asked": f"points ≤ {limit:g}", "check": bool(values[POINTS] <= limit)}
    add = lambda what, values, **more: table.add(what=what, **row(values), **more)
    add("forwards, worst", worst, **within(worst))
    add("forwards, mean", {n: 100 * e.mean() for n, e in forward.items()})
    add("backwards, worst", back, **within(back))
    add("backwards, mean", {n: 100 * run.share.mean() for n, run in runs.items()})
    add("backwards, deepest point [mm]", {n: 1e3 * run.depth for n, run in runs.items()})
    faster = bool(ratio[FULL] >= LEAST_SPEEDUP * ratio[POINTS])
    asked = {"asked": f"points {LEAST_SPEEDUP:g} × faster than full", "check": faster}
    spared = 1.0 - ratio[NONE] / ratio[FULL]  # by leaving contact out
    why = f"without any contact a step takes {100 * abs(spared):.0f} % {'less' if spared > 0.0 else 'more'}"
    add("one step backwards over dgemm(1500)", ratio, **asked, why="" if faster else why)
    rows = {n: len(fit.basis) for n, fit in finger.fits.items()}
    add("rows", {FULL: len(finger.full.surroundings.samples), **rows})  # type: ignore[arg-type]
    table.notes.append(
        "The paper prints no errors of the finger: 5 modes, chosen arbitrarily, and pictures (Figs 7 and 8)."
    )
    return table


def _postures(lab: Lab, finger: Finger, runs: dict[str, Any], goal: np.ndarray, number: int) -> Picture:
    shown = (NONE, PAPER, POINTS)
    figure, axes = new_figure(9.6, 3.4, 1, len(shown))
    for ax, name in zip(axes.ravel(), shown, strict=True):
        camera = show(ax, finger.full, runs[name].q, finger.view)
        at = camera.project(goal)
        ax.plot(at[0], at[1], "o", color=GOAL, markersize=9, zorder=6)
        ax.set_xlim(min(ax.get_xlim()[0], at[0] - 0.01), max(ax.get_xlim()[1], at[0] + 0.01))
        ax.set_ylim(min(ax.get_ylim()[0], at[1] - 0.01), max(ax.get_ylim()[1], at[1] + 0.01))
        heading(ax, f"{name}: {100 * runs[name].share[-1]:.2g} % of the pull off")
    caption = f"At the last target (ball) of {finger.name}, as in Fig. 8."
    return Picture(f"inverse-{number + 1}", caption, figure)

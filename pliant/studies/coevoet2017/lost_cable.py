"""Part 4: Fig. 11. One of the trunk's eight cables breaks while its tip is to stay in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.figures import BAD, INK, LINES, heading, line, new_figure
from pliant.studies.log import Log
from pliant.studies.study import Findings, Picture

SCENE = "trunk, lost cable"
LARGEST_ERROR = 1e-3  # of the length: how far from the target the tip may be in the end
DRAWN_STEPS = 60  # before and after the loss
MOST_STEPS = 30  # after which the tip must be there again: a second or less at interactive rates
LEAST_TENSION = 0.1  # [N] of the lost cable before: one that does nothing would not be missed


def lost_cable(lab: Lab) -> Findings:
    """The scene of the gallery: the tip is to stay where it is, and a cable that pulls is lost."""
    log, (event,) = lab.log(SCENE), lab.scene(SCENE).events
    step = math.ceil(event.begin * (len(log) - 1))
    error, after = log.error / log.length, log.error[step:] / log.length
    lost = int(np.argmax(log.effort[step - 1] * (log.effort[step:] == 0.0).all(axis=0)))
    back = np.flatnonzero(after > LARGEST_ERROR)
    steps = int(back[-1]) + 1 if len(back) else 0
    checks = [
        Check.at_most(
            "tip error before the loss", 100 * float(error[step - 1]), 100 * LARGEST_ERROR, unit="% of length"
        ),
        Check.at_most(
            "tip error after it, in the end", 100 * error[-1], 100 * LARGEST_ERROR, unit="% of length"
        ),
        Check.at_most("steps until the tip stays there", steps, MOST_STEPS, paper="in real time"),
        Check.at_least(
            "tension of the lost cable before", log.effort[step - 1, lost], LEAST_TENSION, unit="N"
        ),
        Check.at_most("and after", float(np.abs(log.effort[step:, lost]).max()), 0.0, unit="N"),
        Check("largest excursion of the tip", float(100 * after.max()), unit="% of length"),
        Check("largest tension before", float(log.effort[step - 1].max()), unit="N"),
        Check("largest tension in the end", float(log.effort[-1].max()), unit="N"),
    ]
    name = log.names[lost]
    text = (
        f"The trunk holds its tip in place; at step {step} {name!r} is lost, and the others take over. The "
        "paper removes the top cable of the second section and shows the trunk before and after (Fig. 11)."
    )
    picture = Picture(
        "lost-cable", f"Fig. 11: tensions and tip error when {name} is lost.", _figure(log, step, name)
    )
    data = {"lost": name, "step": step, "error": log.error, "effort": log.effort, "names": log.names}
    return Findings("Fig. 11: a cable lost while running", text, checks=checks, pictures=[picture], data=data)


def _figure(log: Log, lost_at: int, lost: str) -> Any:
    figure, axes = new_figure(9.5, 6.2, 2, 1, sharex=True, height_ratios=(2, 1))
    (top,), (below,) = axes
    shown = slice(max(0, lost_at - DRAWN_STEPS), lost_at + DRAWN_STEPS)
    steps = np.arange(len(log))[shown] - lost_at
    for k, name in enumerate(log.names):
        if name == lost:
            top.plot(steps, log.effort[shown, k], color=BAD, linewidth=2.4, label=f"{name} (lost)", zorder=4)
        elif name.startswith("cable"):
            top.plot(steps, log.effort[shown, k], **line(k), linewidth=1.4, label=name)
    top.set_ylabel("tension [N]")
    top.legend(fontsize=8, frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    heading(top, "Tensions of the eight cables")
    allowed = 1e3 * LARGEST_ERROR * log.length
    below.semilogy(steps, 1e3 * np.maximum(log.error[shown], 1e-9), color=LINES[1], linewidth=1.5)
    below.axhline(allowed, color=INK, linewidth=0.8, linestyle=":")
    below.annotate(
        "0.1 % of the length", (steps[-1], allowed), xytext=(0, 3), textcoords="offset points", fontsize=8,
        ha="right", va="bottom", color=INK,
    )  # fmt: skip
    below.set_ylabel("tip error [mm]")
    below.set_xlabel("steps after the loss")
    for ax in (top, below):
        ax.axvline(0, color=BAD, linewidth=1.0, linestyle="--")
    return figure

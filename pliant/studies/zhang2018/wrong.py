"""Parts 2 and 3, tables II and III: the inverse model is wrong in its modulus, its markers, its tensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.sensing import usual_doubts
from pliant.studies.check import Check
from pliant.studies.figures import heading, line, new_figure
from pliant.studies.study import Findings, Picture
from pliant.studies.zhang2018.lab import Lab
from pliant.studies.zhang2018.paper import (
    I_W,
    MODULI,
    OFFSETS,
    ROBOT,
    SHEET,
    TABLE_II,
    TABLE_III,
    TENSIONS,
)

SIZES = {
    "modulus": [f"{m / 1e3:.0f} kPa" for m in MODULI],
    "offset": [f"{1e3 * o:.2f} mm" for o in OFFSETS],
    "tension": [f"{t:.2f} N" for t in TENSIONS],
}
FIRST_AND_LAST = {"modulus": (20.0, 60.0), "offset": (0.05, 0.15), "tension": (0.1, 0.2)}  # errors
LINEAR = 0.15  # how far the growth may be from proportional
NOISE = 1e-5  # [m] stated with doubts: the markers of a simulation have none but what is wrong
TEXT = (
    "I_e in mN, the paper's in brackets. 'As in the paper': the estimator trusts its model; errors must "
    "grow in proportion. They are then (s − 1)(f + W_ef⁺ W_ea λ_a) for a modulus off by s, and so on: a "
    "property of the robot's geometry, whatever the estimator. 'With the usual doubts': one setting for all "
    "cases, not told which is wrong: the modulus known to 5 %, the tensions to a common 10 % and each to 5 "
    "%, a common offset of the markers of a thousandth of the robot's length, marker noise of 10 µm; no "
    "error may exceed the paper's in its layout of the nearest I_w. On an object without known loads, as "
    "the sheet, a wrong modulus scales all forces: no marker tells."
)
HOW = {"as in the paper": False, "with the usual doubts": True}


def on_sheet(lab: Lab) -> Findings:
    """Table II."""
    return _compared(lab, "Table II: soft sheet", SHEET, TABLE_II)


def on_robot(lab: Lab) -> Findings:
    """Table III."""
    return _compared(lab, "Table III: parallel soft robot", ROBOT, TABLE_III)


def _compared(lab: Lab, title: str, names: Sequence[str], paper: Mapping[str, Any]) -> Findings:
    tables, checks = [], []
    figure, axes = new_figure(4.0 * len(paper), 3.4, 1, len(paper))
    index = {name: lab.estimator(name).identifiability().index for name in names}
    for how, doubting in HOW.items():
        table = Table(f"{title}, {how}", ("case", "what", *names))
        for n, (case, reported) in enumerate(paper.items()):
            errors = np.array([[_error(lab, name, case, k, doubting) for name in names] for k in range(3)])
            for k in range(3):
                cells = {name: f"{errors[k, m]:.1f} ({reported[k][m]:g})" for m, name in enumerate(names)}
                table.add(case=case, what=SIZES[case][k], **cells)
            worst = _over_paper(names, errors, np.array(reported), index)
            words = f"{case}, {how}: I_e over the paper's at comparable I_w"
            if doubting:
                checks.append(Check.at_most(words, worst, 1.0))
            else:
                checks += [_linear(case, errors), Check(words, worst)]
                _plot(axes[0, n], case, names, errors)
        tables.append(table)
    tables[0].notes.append(
        "I_w: " + ", ".join(f"{name} {index[name]:.3g} ({I_W[name]:g})" for name in names) + " N/mm."
    )
    kind = names[0][0]
    picture = Picture(f"wrong_{kind}", "I_e against the error of the model, as in the paper.", figure)
    return Findings(title, TEXT, tables, checks, [picture])


def _error(lab: Lab, name: str, case: str, k: int, doubting: bool) -> float:
    doubts: dict[str, Any] = {}
    if doubting:
        doubts = {"noise": NOISE, **usual_doubts(lab.build(name[0]), lab.laws(name))}
    frame = lab.shown(name)
    if case == "modulus":
        estimator = lab.estimator(name, modulus=MODULI[k], **doubts)
    elif case == "tension":
        estimator = lab.estimator(name, more=TENSIONS[k], **doubts)
    else:
        estimator, frame = lab.estimator(name, **doubts), frame + np.array([0.0, 0.0, OFFSETS[k]])
    return lab.error(name, estimator.converge(frame))


def _linear(case: str, errors: np.ndarray) -> Check:
    first, last = FIRST_AND_LAST[case]
    growth = errors[2] / errors[0] / (last / first)
    return Check.at_most(f"{case}: growth, off proportional", float(np.abs(growth - 1.0).max()), LINEAR)


def _over_paper(
    names: Sequence[str], errors: np.ndarray, reported: np.ndarray, index: Mapping[str, float]
) -> float:
    """Our error over the paper's in its layout of the nearest I_w, the largest."""
    theirs = np.log([I_W[name] for name in names])
    nearest = [int(np.abs(theirs - np.log(index[name])).argmin()) for name in names]
    return float((errors / reported[:, nearest]).max())


def _plot(ax: Any, case: str, names: Sequence[str], errors: np.ndarray) -> None:
    size = {"modulus": [20, 40, 60], "offset": [0.05, 0.1, 0.15], "tension": [0.1, 0.15, 0.2]}[case]
    for m, name in enumerate(names):
        ax.plot([0, *size], [0, *errors[:, m]], "o", markersize=3, label=name, **line(m))
    ax.set_xlabel(
        {
            "modulus": "modulus too low by [kPa]",
            "offset": "offset along z [mm]",
            "tension": "tension too high by [N]",
        }[case]
    )
    ax.set_ylabel("I_e [mN]")
    heading(ax, case)
    ax.legend(frameon=False, fontsize=8)

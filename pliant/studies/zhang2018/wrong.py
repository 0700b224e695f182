"""Parts 2 and 3, tables II and III: the inverse model is wrong in its modulus, its markers, its tensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.bench.table import Table
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

SIZES = {"modulus": [f"{m / 1e3:.0f} kPa" for m in MODULI], "offset": [f"{1e3 * o:.2f} mm" for o in OFFSETS], "tension": [f"{t:.2f} N" for t in TENSIONS]}  # fmt: skip
GROWTH = {
    "modulus": (20.0, 60.0),
    "offset": (0.05, 0.15),
    "tension": (0.1, 0.2),
}  # the first and the last error
LINEAR = 0.15  # how far the growth may be from proportional
NOISE = 1e-6  # [m] stated where doubts are told: the markers have none but what is wrong
TEXT = (
    "I_e in mN, the paper's in brackets. 'As in the paper': the estimator trusts its model; errors must grow in proportion. 'Told of that "
    "doubt': it is told that what is wrong may be (the modulus by 20 %, tensions by 0.2 N, all markers by a common 0.2 mm), and finds the "
    "error along with the forces, or gives less weight to what it could explain (markers are exact otherwise, stated as 1 µm); no error may exceed the paper's in its layout of the "
    "nearest I_w. 'Told of all doubts': of all three at once, as one would in an experiment; nothing is asked. A modulus that is "
    "wrong scales all forces on an object without known loads, as the sheet: no marker tells. With known tensions, it does; but a "
    "modulus and tensions that are all off alike cannot be told apart."
)
HOW = {"as in the paper": "", "told of that doubt": "one", "told of all doubts": "all"}


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
    for how, told in HOW.items():
        table = Table(f"{title}, {how}", ("case", "what", *names))
        for n, (case, reported) in enumerate(paper.items()):
            found = np.array([[_error(lab, name, case, k, told) for name in names] for k in range(3)])
            for k in range(3):
                cells = {name: f"{found[k, m]:.1f} ({reported[k][m]:g})" for m, name in enumerate(names)}
                table.add(case=case, what=SIZES[case][k], **cells)
            if not told:
                checks.append(_linear(case, found))
                _plot(axes[0, n], case, names, found)
            elif told == "one":
                checks.append(_no_worse(case, names, found, np.array(reported), index))
        tables.append(table)
    tables[0].notes.append(
        "I_w: " + ", ".join(f"{name} {index[name]:.3g} ({I_W[name]:g})" for name in names) + " N/mm."
    )
    kind = names[0][0]
    picture = Picture(f"wrong_{kind}", "I_e against the error of the model, as in the paper.", figure)
    return Findings(title, TEXT, tables, checks, [picture])


def _error(lab: Lab, name: str, case: str, k: int, told: str) -> float:
    doubts = _doubts(lab, name, case, told)
    frame = lab.shown(name)
    if case == "modulus":
        estimator = lab.estimator(name, modulus=MODULI[k], **doubts)
    elif case == "tension":
        estimator = lab.estimator(name, more=TENSIONS[k], **doubts)
    else:
        estimator, frame = lab.estimator(name, **doubts), frame + np.array([0.0, 0.0, OFFSETS[k]])
    return lab.error(name, estimator.converge(frame))


def _doubts(lab: Lab, name: str, case: str, told: str) -> dict[str, Any]:
    """What the estimator is told may be wrong: nothing, what is (one), or everything (all)."""
    if not told:
        return {}
    out: dict[str, Any] = {"noise": NOISE}
    if case == "offset" or told == "all":
        out["offset"] = 2e-4
    if case == "modulus" or told == "all":
        out |= {"young": 0.2, "estimate_young": bool(lab.laws(name))}
    if lab.laws(name) and (case == "tension" or told == "all"):
        out |= {"command_error": dict.fromkeys(lab.laws(name), 0.2), "estimate_commands": True}
    return out


def _linear(case: str, found: np.ndarray) -> Check:
    first, last = GROWTH[case]
    growth = found[2] / found[0] / (last / first)
    return Check.at_most(f"{case}: growth, off proportional", float(np.abs(growth - 1.0).max()), LINEAR)


def _no_worse(
    case: str, names: Sequence[str], found: np.ndarray, reported: np.ndarray, index: Mapping[str, float]
) -> Check:
    """Our error over the paper's in its layout of the nearest I_w, the largest."""
    theirs = np.log([I_W[name] for name in names])
    nearest = [int(np.abs(theirs - np.log(index[name])).argmin()) for name in names]
    return Check.at_most(
        f"{case}, told: I_e over the paper's at comparable I_w",
        float((found / reported[:, nearest]).max()),
        1.0,
    )


def _plot(ax: Any, case: str, names: Sequence[str], found: np.ndarray) -> None:
    size = {"modulus": [20, 40, 60], "offset": [0.05, 0.1, 0.15], "tension": [0.1, 0.15, 0.2]}[case]
    for m, name in enumerate(names):
        ax.plot([0, *size], [0, *found[:, m]], "o", markersize=3, label=name, **line(m))
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

"""The report of a reduction: one folder with a page, pictures, the numbers, and the model itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io import page
from pliant.io.picture import View, picture
from pliant.io.table import Table
from pliant.reduction.held_out import HeldOut
from pliant.reduction.model import ReducedModel
from pliant.result import Certificate, Result
from pliant.robot import Robot
from pliant.state import State

SHOWN_MODES = 6
SWING = 0.15  # of the robot's length: how far a mode is drawn


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured of a reduced model.

    `errors` are those on held-out motions that nothing was chosen by, `full` and `reduced` [ms] the times of
    a step of both robots, `snapshots` the number used, `validation` the error (share of the stroke) on the
    motions by which cells were chosen.
    """

    model: ReducedModel
    errors: HeldOut
    full: float
    reduced: float
    snapshots: int
    skipped: tuple[str, ...] = ()
    yardstick: float = float("nan")  # [ms] dgemm(1500) in the same run
    validation: float = float("nan")

    @property
    def speedup(self) -> float:
        """Time of a full step over that of a reduced one."""
        return self.full / self.reduced


def table(findings: Findings, asked: float | None) -> Table:
    """The numbers; a check where an error was `asked` for (a share of the stroke)."""
    model, errors = findings.model, findings.errors
    out = Table(f"Reduced model of {model.fingerprint.robot!r}", ("what", "value", "check"))
    every = model.fingerprint.coordinates
    out.add(what="snapshots, and left out", value=f"{findings.snapshots}, {len(findings.skipped)}")
    out.add(what="modes, instead of coordinates", value=f"{len(model.basis)} of {every}")
    if model.sampling is not None:
        s = model.sampling
        out.add(what="cells, instead of all", value=f"{len(s)} of {s.every}")
        out.add(what="error of their forces on snapshots", value=f"{s.error:.2%}")
    if np.isfinite(findings.validation):
        out.add(
            what="error on motions that chose the cells", value=f"{findings.validation:.2%} of the stroke"
        )
    out.add(what="held-out motions", value=f"{len(errors.effector)}, {len(errors.failed)} failed")
    if len(errors.effector):
        out.add(what="stroke", value=f"{1e3 * errors.stroke:.1f} mm")
        out.add(what="effector error, median", value=f"{1e3 * np.median(errors.effector):.3f} mm")
        share = f"{1e3 * errors.effector.max():.3f} mm, {errors.share:.2%} of the stroke"
        good = None if asked is None else bool(errors.share <= asked)
        out.add(what="effector error, largest", value=share, check=good)
        out.add(what="worst node, largest", value=f"{1e3 * errors.field.max():.3f} mm")
    out.add(what="one step, full", value=f"{findings.full:.3g} ms")
    out.add(what="one step, reduced", value=f"{findings.reduced:.3g} ms")
    out.add(what="speed-up", value=f"{findings.speedup:.1f} ×")
    return out


def write(
    findings: Findings, robot: Robot, reduced: Robot, folder: Path, *, asked: float | None, view: Any
) -> Path:
    """Write index.html, result.json and the pictures; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    _spectrum(findings, folder / "spectrum.png")
    pictures = [
        (
            folder / "spectrum.png",
            "How much of the snapshots each mode holds, and how far held-out motions are off.",
        )
    ]
    shown = _modes(reduced, findings.model.body, folder, View(*view))
    pictures += [
        (path, f"Mode {k + 1}, drawn {SWING:.0%} of the robot's length large.")
        for k, path in enumerate(shown)
    ]
    numbers = table(findings, asked)
    data = {"table": numbers.as_dict(), "numbers": _numbers(findings)}
    (folder / "result.json").write_text(json.dumps(data, indent=1, ensure_ascii=False), "utf-8")
    index = folder / "index.html"
    index.write_text(_html(findings, numbers, pictures), "utf-8")
    return index


def _numbers(findings: Findings) -> dict[str, Any]:
    model, errors = findings.model, findings.errors
    sampling = model.sampling
    return {
        "robot": model.fingerprint.data(),
        "singular_values": model.basis.values.tolist(),
        "modes": len(model.basis),
        "cells": None if sampling is None else sampling.cells.tolist(),
        "weights": None if sampling is None else sampling.weights.tolist(),
        "effector_error": errors.effector.tolist(),
        "node_error": errors.field.tolist(),
        "stroke": errors.stroke,
        "failed": list(errors.failed),
        "skipped": list(findings.skipped),
        "full_ms": findings.full,
        "reduced_ms": findings.reduced,
        "speedup": findings.speedup,
        "dgemm_1500_ms": findings.yardstick,
        "validation": findings.validation if np.isfinite(findings.validation) else None,
        "facts": dict(model.facts),
    }


def _spectrum(findings: Findings, path: Path) -> None:
    from pliant.studies.figures import line, new_figure, save_png

    figure, axes = new_figure(9.0, 3.4, 1, 2)
    values, count = findings.model.basis.values, len(findings.model.basis)
    left, right = axes[0]
    relative = values / values[0]
    left.semilogy(
        np.arange(1, len(relative) + 1),
        np.maximum(relative, 1e-10),
        ".",
        markersize=4,
        **line(1) | {"linestyle": ""},
    )
    left.axvline(count + 0.5, linewidth=1.2, **line(0))
    left.set_xlim(0, min(len(relative), 4 * count) + 1)
    left.set_ylim(max(relative[: 4 * count].min(), 1e-8) / 2, 2.0)
    left.set_xlabel(f"mode ({count} kept)")
    left.set_ylabel("singular value, relative")
    errors = np.sort(findings.errors.effector)
    if len(errors):
        right.plot(
            1e3 * errors, np.arange(1, len(errors) + 1) / len(errors), marker="o", markersize=3.5, **line(0)
        )
        right.set_xlim(left=0.0)
        right.set_ylim(0.0, 1.05)
    right.set_xlabel("error of the effector [mm]")
    right.set_ylabel("share of held-out motions")
    save_png(figure, path)


def _modes(reduced: Robot, body: int, folder: Path, view: View) -> list[Path]:
    """Pictures of the first modes."""
    own, span, paths = reduced.bodies[body], reduced.q_spans[body], []
    for k in range(min(SHOWN_MODES, own.count)):
        q = reduced.rest.q.copy()
        q[span.start + k] = SWING * reduced.length
        paths.append(
            picture(
                _posed(reduced, q),
                folder / f"mode_{k + 1}.png",
                field="displacement",
                view=view,
                axes=False,
                scale=False,
                size=(3.2, 3.2),
            )
        )
    return paths


def _posed(robot: Robot, q: np.ndarray) -> Result:
    """A posture as a result, for drawing: no equilibrium."""
    state = State(q, np.zeros(robot.ndof), robot.rest.effort, robot.rest.internal)
    delta = robot.split(robot.bundle.delta(robot.bundle.positions(q)))
    none = Certificate("drawn", 0.0, 0.0, 0.0, 0, 0)
    return Result(robot, state, robot.split(robot.rest.effort), delta, none)


def _html(findings: Findings, numbers: Table, pictures: Sequence[tuple[Path, str]]) -> page.Markup:
    model = findings.model
    good = numbers.passed and not findings.errors.failed
    words = "Every check passed." if good else "Some held-out motions are farther off than asked."
    rows = [[str(r["what"]), str(r["value"])] for r in numbers.rows]
    photos = [page.photo(p.read_bytes(), caption) for p, caption in pictures]
    parts = [
        page.heading(f"Reduced model of {model.fingerprint.robot}", 1),
        page.paragraph(
            f"{len(model.basis)} modes in place of {model.fingerprint.coordinates} coordinates.", "lead"
        ),
        page.paragraph(words, "status" if good else "status bad"),
        page.table(("what", "value"), rows),
        page.heading("Singular values and errors"),
        photos[0],
        page.heading("Modes"),
        page.side_by_side(photos[1:]),
    ]
    if findings.skipped:
        parts += [page.heading("Left out"), *(page.paragraph(text) for text in findings.skipped[:20])]
    parts.append(page.footer("pliant reduce. The model: model.npz. Numbers: result.json."))
    return page.page(f"Reduced {model.fingerprint.robot} · pliant", parts)

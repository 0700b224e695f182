"""The table of shells: every problem of `sheets`, thin and thick, with its error and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from time import process_time
from typing import Any

from pliant.bench.validation.sheets import (
    TWISTED,
    Answer,
    pinched_cylinder,
    pinched_hemisphere,
    plate,
    pulled_hemisphere,
    slit_annulus,
    twisted_beam,
)
from pliant.io.table import Table
from pliant.timing import Yardstick

THIN_PLATE, PLATES = 0.001, (0.001, 0.1, 0.2)  # thickness over width
FOIL = {"largest_strain": 0.01}
COST = "÷ dgemm(1500)"


@dataclass(frozen=True)
class Case:
    """A problem, the error allowed on each of its meshes, and the theories that it is for."""

    name: str
    solve: Callable[..., Answer]
    cells: dict[Any, float]
    options: dict[str, Any] = field(default_factory=dict)
    theories: tuple[str, ...] = ("thin", "thick")


def shell_values() -> Table:
    """Errors of thin and thick shells, the worst where there are several; the cost includes building."""
    columns = ("case", "cells", "coordinates", "thin", "thick", "allowed", "iterations", COST, "check")
    table, yardstick = Table("Shells: published values and closed forms", columns), Yardstick.measure()
    pulled_hemisphere(2)  # compiles
    for case in (*published(), *plates()):
        for cells, allowed in case.cells.items():
            start = process_time()
            answers = {t: case.solve(cells, theory=t, **case.options) for t in case.theories}
            seconds = (process_time() - start) / len(answers)
            table.add(
                case=case.name,
                cells="×".join(map(str, cells)) if isinstance(cells, tuple) else str(cells),
                coordinates=answers["thick"].coordinates,
                allowed=allowed,
                iterations=max(answer.iterations for answer in answers.values()),
                check=all(abs(answer.worst) <= allowed for answer in answers.values()),
                **{theory: f"{answer.worst:+.2%}" for theory, answer in answers.items()},
                **{COST: yardstick.ratio(1e3 * seconds)},
            )
    table.notes.append("Foil: largest_strain=0.01. One iteration: K u = f.")
    return table


def published() -> list[Case]:
    """The obstacle course and large rotations."""
    cases = [
        Case("pinched cylinder", pinched_cylinder, {8: 0.12, 16: 0.02, 32: 0.02}),
        Case("pinched cylinder, foil", pinched_cylinder, {8: 0.07, 16: 0.01, 32: 0.02}, FOIL),
        Case("hemisphere", pinched_hemisphere, {8: 0.02, 16: 0.02, 32: 0.02}),
        Case("hemisphere, foil", pinched_hemisphere, {8: 0.03, 16: 0.01, 32: 0.01}, FOIL),
        Case("hemisphere, 100 to 400", pulled_hemisphere, {16: 0.08, 32: 0.02}),
        Case("hemisphere, 100 to 400, foil", pulled_hemisphere, {16: 0.05, 32: 0.015}, FOIL),
        Case("slit annulus", slit_annulus, {(6, 30): 0.12, (10, 80): 0.03}),
        Case("slit annulus, foil", slit_annulus, {(6, 30): 0.05, (10, 80): 0.01}, FOIL),
    ]
    meshes = {(12, 2): 0.015, (24, 4): 0.015, (48, 8): 0.01}
    for h in TWISTED:
        for word, options in (("", {}), (", foil", FOIL)):
            solve = lambda cells, h=h, **given: twisted_beam(cells, h, **given)
            cases.append(Case(f"twisted beam, h = {h}{word}", solve, meshes, options))
    return cases


def plates() -> list[Case]:
    """Thin theory is for the thinnest only."""
    cases = []
    for shape, support, h in product(("round", "square"), ("clamped", "supported"), PLATES):
        solve = partial(_plate, shape, support, h)
        theories = ("thin", "thick") if h <= THIN_PLATE else ("thick",)
        cells = {8 if shape == "round" else 16: 0.01}
        cases.append(Case(f"{shape} plate, {support}, h/a = {h}", solve, cells, theories=theories))
    return cases


def _plate(shape: str, support: str, slenderness: float, cells: int, **options: Any) -> Answer:
    return plate(shape, support, cells, slenderness, **options)

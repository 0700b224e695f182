"""How the answers of Figs 2 and 3 depend on ε, and on where balls and target are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.io.table import Table
from pliant.studies.check import Check
from pliant.studies.coevoet2017.two_cables import Answers, TwoCables, answers

WEIGHTS = (0.01, 0.1, 1.0, 10.0)  # ε over that of the paper
ALONG = 0.02  # of the length: balls stand up to so far from their places …
SHARE = 0.2  # … their gaps and radii, and the target, differ by up to so much of themselves
BY_WEIGHT = (
    "figure",
    "ε ÷ paper's",
    "minima [N]",
    "global",
    "crossed by the paper's method",
    "it finds the global",
)
OVER_PLACES = ("figure", "draws", "what", "5 %", "median", "95 %", "share")
FOUND = 0.99  # share of the draws in which the default must find the global minimum


def by_weight(problems: Mapping[str, TwoCables]) -> Table:
    """Minima and the way of the paper's method at several ε."""
    table = Table("How the figures depend on ε", BY_WEIGHT)
    for name, p in problems.items():
        condensed = p.condensed
        for weight in WEIGHTS:
            found = answers(condensed, p.most, weight=weight)
            efforts = [m.effort for m in found.exact.minima]
            row = (
                name,
                weight,
                "; ".join(f"({x:.0f}, {y:.0f})" for x, y in efforts),
                f"{'upper' if efforts[0][1] > efforts[0][0] else 'lower'} cable",
                len(found.paper.certificate.path),
                "yes" if found.is_global(found.paper) else "no",
            )
            table.add(**dict(zip(BY_WEIGHT, row, strict=True)))
    return table


def over_places(name: str, p: TwoCables, rng: np.random.Generator, draws: int) -> tuple[Table, list[Check]]:
    """What so many draws of places, gaps, radii and target give at the paper's ε."""
    problems = [moved(p, rng) for _ in range(draws)]
    found = [answers(one.condensed, one.most) for one in problems]
    table = Table(f"{name} over random places, at the paper's ε", OVER_PLACES)
    table.notes.append(
        f"Places of the balls ± {ALONG:.0%} of the length; gaps, radii and target ± {SHARE:.0%}; all uniform."
    )
    numbers = {
        "minima": [len(a.exact.minima) for a in found],
        "regions": [a.exact.pieces for a in found],
        "regions crossed by the paper's method": [len(a.paper.certificate.path) for a in found],
        "global minimum, lower cable [N]": [a.exact.best.effort[0] for a in found],
        "global minimum, upper cable [N]": [a.exact.best.effort[1] for a in found],
        "minimum with the lower cable alone [N]": [x for a in found for x in lower_alone(a)],
    }
    for what, values in numbers.items():
        low, middle, high = np.percentile(values, (5, 50, 95)) if values else np.full(3, np.nan)
        cells = {"5 %": float(low), "median": float(middle), "95 %": float(high)}
        table.add(figure=name, draws=len(values), what=what, **cells)
    shares = {
        "two minima or more": [len(a.exact.minima) > 1 for a in found],
        "the upper cable is the better one": [a.exact.best.effort[1] > a.exact.best.effort[0] for a in found],
        "seven regions or more crossed": [len(a.paper.certificate.path) >= 7 for a in found],
        "the paper's method, from zero, finds the global minimum": [a.is_global(a.paper) for a in found],
        "the default finds the global minimum": [a.is_global(a.default) for a in found],
    }
    for what, truths in shares.items():
        table.add(figure=name, draws=draws, what=what, share=f"{np.mean(truths):.0%}")
    complete = sum(a.exact.complete for a in found)
    best = float(np.mean(shares["the default finds the global minimum"]))
    return table, [
        Check.at_least(f"{name}: draws whose minima are all known", complete, draws),
        Check.at_least(f"{name}: share of draws in which the default finds the global one", best, FOUND),
    ]


def moved(p: TwoCables, rng: np.random.Generator) -> TwoCables:
    """The same with balls, gaps, radii and target elsewhere; wider gaps are looked over as well."""
    options = dict(p.options)
    for ball in ("above", "below"):
        along, gap, radius = options[ball]
        by = rng.uniform(-1.0, 1.0, 3)
        options[ball] = along + ALONG * by[0], gap * (1.0 + SHARE * by[1]), radius * (1.0 + SHARE * by[2])
    wider = max(options[ball][1] - p.options[ball][1] for ball in ("above", "below"))
    options["alarm"] += max(wider, 0.0)
    return TwoCables(options, p.height * (1.0 + SHARE * rng.uniform(-1.0, 1.0)), p.most)


def lower_alone(found: Answers) -> list[float]:
    """Tensions of the lower cable [N] at minima in which the upper one is slack."""
    return [float(m.effort[0]) for m in found.exact.minima if m.effort[1] == 0.0 < m.effort[0]]

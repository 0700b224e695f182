"""Part 3: Figs 2 and 3, the cost over the tensions of two opposite cables of the beam between obstacles."""

from __future__ import annotations

import numpy as np

from pliant.solvers import lcp
from pliant.studies.check import Check
from pliant.studies.coevoet2017.cost_map import CostMap, cost_map, map_figure
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.paper import LOWER, REGIONS, UPPER, work_weight
from pliant.studies.coevoet2017.spread import by_weight, over_places
from pliant.studies.coevoet2017.two_cables import TwoCables, figure2, figure3
from pliant.studies.study import Findings, Picture

NAMES = ("tension of the lower cable", "tension of the upper cable")
REACHED = "no places are printed: the target was chosen, in whole millimetres, so that this comes near"
TOUCHED = "no places are printed, and that of the ball below decides it: see the random places"
CROSSED = "no places are printed: balls and target were chosen, in few digits, so that it comes out like this"
SAME_EFFORT = 1e-4  # of the largest tension
COARSE = 101  # points along an axis of the map in which contacts count in the work
TEXT = (
    "The beam at rest, linearised: for every pair of tensions the contact forces follow, and with them the "
    "cost c = ‖δ_e‖² + ε λ_aᵀW_aa λ_a with the paper's ε. Each colour is one set of pushing contacts; c is "
    "quadratic on it. Minima by enumeration of all regions; the black line joins the optima of the programs "
    "that the paper's method solves, from zero. The paper's text has E = Δδ_a λ_a, to which contacts would "
    "add λ_aᵀW_ac λ_c; what that would change is a row of its own. Random places, drawn with the study's "
    "seed, say how typical the two figures are of such beams."
)


def maps(lab: Lab) -> Findings:
    """Both maps at the paper's ε; how they depend on it, and on where balls and targets are."""
    problems = {"Fig. 2": figure2(), "Fig. 3": figure3()}
    two, three = (draw(p, lab.setting.grid) for p in problems.values())
    tables, checks = [by_weight(problems)], [*_figure_2(two), *_figure_3(three)]
    for name, p in problems.items():
        table, claims = over_places(name, p, lab.setup.rng(f"places of {name}"), lab.setting.places)
        tables.append(table)
        checks += claims
    data = {name: _data(m) for name, m in (("fig2", two), ("fig3", three))}
    pictures = [
        _picture("fig2", "Fig. 2", two, "two opposite cables, λ ∈ [0, 500]² N"),
        _picture("fig3", "Fig. 3", three, "other obstacles, λ ∈ [0, 2000]² N"),
    ]
    return Findings("Figs 2 and 3: the cost over the tensions", TEXT, tables, checks, pictures, data)


def _figure_2(two: CostMap) -> list[Check]:
    (lower, upper), (local, other) = _minimum(two, 0), _minimum(two, 1)
    compared = lambda what, force, paper, why: Check.compared(
        f"Fig. 2: {what}", float(force), paper=paper, unit="N", why=why
    )
    working = with_contact_work(figure2(), COARSE)
    return [
        Check.compared("Fig. 2: local minima", len(two.minima), paper=2, why=""),
        compared("local minimum, lower cable", local, LOWER, TOUCHED),
        compared("the upper cable there", other, 0.0, ""),
        compared("global minimum, upper cable", upper, UPPER, REACHED),
        compared("the lower cable there", lower, 0.0, ""),
        compared("global minimum if W_ac λ_c counts, upper cable", working[1], UPPER, "the largest is 500 N"),
        Check.holds("Fig. 2: the default solver finds the global minimum", _global(two, two.default)),
    ]


def _figure_3(three: CostMap) -> list[Check]:
    return [
        Check.compared("Fig. 3: regions crossed from zero", len(three.visited), paper=REGIONS, why=CROSSED),
        Check.holds("Fig. 3: the paper's method ends in the global minimum", _global(three, three.path[-1])),
        Check.at_least("Fig. 3: local minima, where another pivot could have ended", len(three.minima), 2),
        Check.holds("Fig. 3: the default solver finds the global minimum", _global(three, three.default)),
    ]


def draw(p: TwoCables, size: int) -> CostMap:
    """The map of a problem at the paper's ε, size × size points."""
    condensed = p.condensed
    return cost_map(condensed, p.most, size=size, eps=work_weight(condensed.Wea, condensed.Waa))


def with_contact_work(p: TwoCables, size: int) -> np.ndarray:
    """(2,) [N] the best of size × size tensions where the work is λ_aᵀ(W_aa λ_a + W_ac λ_c)."""
    c, best, least = p.condensed, np.zeros(2), np.inf
    eps, efforts = work_weight(c.Wea, c.Waa), np.linspace(0.0, p.most, size)
    for effort in np.stack(np.meshgrid(efforts, efforts), axis=-1).reshape(-1, 2):
        contact = lcp(c.Wcc, c.Wac.T @ effort + c.dc).effort
        error = c.Wea @ effort + c.Wec @ contact + c.de
        cost = error @ error + eps * effort @ (c.Waa @ effort + c.Wac @ contact)
        if cost < least:
            best, least = effort, cost
    return best


def _minimum(m: CostMap, which: int) -> np.ndarray:
    """A minimum (2,) [N], NaN if there are not so many."""
    return m.minima[which] if which < len(m.minima) else np.full(2, np.nan)


def _global(m: CostMap, effort: np.ndarray) -> bool:
    return bool(np.abs(effort - m.minima[0]).max() <= SAME_EFFORT * m.efforts[-1])


def _picture(file: str, name: str, m: CostMap, title: str) -> Picture:
    minima = "; ".join(f"({x:.0f}, {y:.0f}) N" for x, y in m.minima)
    caption = (
        f"{name}: {m.total} regions, minima at {minima} (the global one first); the paper's method crosses "
        f"{len(m.visited)} regions from zero. Left the surface √c, right the same from above with contours "
        "of √c."
    )
    return Picture(file, caption, map_figure(m, title=f"{name}: {title}", names=NAMES))


def _data(m: CostMap) -> dict[str, object]:
    return {
        "minima": m.minima,
        "costs": m.costs,
        "path": m.path,
        "visited": m.visited,
        "regions": m.total,
        "default": m.default,
    }

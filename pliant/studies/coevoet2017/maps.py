"""Part 3: Figs 2 and 3, the cost over the tensions of two opposite cables of the beam between obstacles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra import factorise
from pliant.bench.instances import Instance
from pliant.core.view import linearise
from pliant.interactions import Position
from pliant.laws import Target
from pliant.robot import Robot, Row
from pliant.robots.beam import FIGURE_2, beam
from pliant.solvers import work_scale
from pliant.studies.check import Check
from pliant.studies.coevoet2017.cost_map import CostMap, cost_map, map_figure
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.paper import LOWER, REGIONS, UPPER
from pliant.studies.study import Findings, Picture

NAMES = ("tension of the lower cable", "tension of the upper cable")
CHOSEN = "obstacles, target and an ε of a tenth of the paper's were chosen so that it comes out like this"
SAME_EFFORT = 1e-4  # of the largest tension


@dataclass(frozen=True, eq=False)
class Problem:
    """A beam with two cables, the target of its tip [m], the largest tension [N], and ε over `work_scale`."""

    robot: Robot
    target: tuple[float, ...]
    most: float
    energy: float


def figure2() -> Problem:
    """The beam of the scene, with all possible contacts near at rest: the tip should sink by 14.4 mm."""
    return Problem(beam(**FIGURE_2), (-0.0144,), 500.0, 1e-4)


def figure3() -> Problem:
    """The same beam with its balls elsewhere, and a target for all three coordinates of its tip."""
    above, below = (0.47076, 0.00053, 0.37585), (0.37679, 0.00167, 0.52731)
    robot = beam(above=above, below=below, aside=0.0, tension=2000.0, alarm=0.00454)
    tip = Position(robot.rows["tip"].interaction.points)
    rows = {**robot.rows, "tip": Row(tip, Target())}
    free = Robot(robot.bodies, rows, name=robot.name, surroundings=robot.surroundings)
    return Problem(free, (0.376064, 0.0, -0.010984), 2000.0, 1e-4)


def maps(lab: Lab) -> Findings:
    """Both maps, with the minima by enumeration and the path of the paper's method from zero."""
    two, three = (draw(p, lab.setting.grid) for p in (figure2(), figure3()))
    checks = [
        Check.compared("Fig. 2: local minima", len(two.minima), paper=2, why=CHOSEN),
        *(
            Check.compared(f"Fig. 2: {what}", float(force), paper=paper, unit="N", why=CHOSEN)
            for what, force, paper in (
                ("local minimum, lower cable", _largest(two, 1)[0], LOWER),
                ("the upper cable there", _largest(two, 1)[1], 0.0),
                ("global minimum, upper cable", _largest(two, 0)[1], UPPER),
                ("the lower cable there", _largest(two, 0)[0], 0.0),
            )
        ),
        Check.holds("Fig. 2: the default solver finds the global minimum", _global(two, two.default)),
        Check.compared("Fig. 3: regions crossed from zero", len(three.visited), paper=REGIONS, why=CHOSEN),
        Check.holds("Fig. 3: ends in the global minimum", _global(three, three.path[-1])),
        Check.at_least("Fig. 3: local minima, where another pivot could have ended", len(three.minima), 2),
        Check.holds("Fig. 3: the default solver finds the global minimum", _global(three, three.default)),
    ]
    text = (
        "The beam at rest, linearised: for every pair of tensions the contact forces follow, and with them "
        "the cost c = ‖δ_e‖² + ε λ_aᵀW_aa λ_a. Each colour is one set of pushing contacts; c is quadratic "
        "on it. Obstacles and targets are chosen so that the minima of Fig. 2 lie where the paper has them "
        "and the way of Fig. 3 is as long. Minima by enumeration of all regions; the black line joins the "
        "optima of the programs that the paper's method solves, from zero."
    )
    pictures = [
        Picture(
            "fig2",
            _caption("Fig. 2", two),
            map_figure(two, title="Fig. 2: two opposite cables, λ ∈ [0, 500]² N", names=NAMES),
        ),
        Picture(
            "fig3",
            _caption("Fig. 3", three),
            map_figure(three, title="Fig. 3: other obstacles, λ ∈ [0, 2000]² N", names=NAMES),
        ),
    ]
    data = {name: _data(m) for name, m in (("fig2", two), ("fig3", three))}
    return Findings(
        "Figs 2 and 3: the cost over the tensions", text, checks=checks, pictures=pictures, data=data
    )


def draw(p: Problem, size: int) -> CostMap:
    """The map of a problem, size × size points."""
    condensed = at_rest(p.robot, p.target)
    eps = p.energy * work_scale(condensed.Wea, condensed.Wec, condensed.Waa, condensed.Wac, condensed.Wcc)
    return cost_map(condensed, p.most, size=size, eps=eps)


def at_rest(robot: Robot, target: tuple[float, ...]) -> Instance:
    """W and δ_free of the tip (less its target), the two cables and the contacts, linearised at rest."""
    rest = robot.rest
    linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
    assert linear is not None and linear.K is not None
    factor = factorise(robot.symbolic, linear.K)
    contacts = robot.surroundings.detector(robot).detect(rest.q)
    rows = np.concatenate([np.arange(robot.bundle.rows)[robot.named(n)] for n in ("tip", "lower", "upper")])
    H = linear.H.take(rows).above(contacts.rows(rest.q))
    W = factor.compliance(H)
    delta = np.concatenate([linear.delta[rows], contacts.gap]) + H.dot(factor.solve(linear.r))
    n, endless = len(target), np.full(2, np.inf)
    e, a, c = slice(0, n), slice(n, n + 2), slice(n + 2, None)
    return Instance(
        W[e, a], W[e, c], W[a, a], W[a, c], W[c, c], delta[e] - target, delta[a], delta[c],
        effort=(np.zeros(2), endless), displacement=(-endless, endless),
    )  # fmt: skip


def _largest(m: CostMap, which: int) -> np.ndarray:
    """A minimum (2,) [N], NaN if there are not so many."""
    return m.minima[which] if which < len(m.minima) else np.full(2, np.nan)


def _global(m: CostMap, effort: np.ndarray) -> bool:
    return bool(np.abs(effort - m.minima[0]).max() <= SAME_EFFORT * m.efforts[-1])


def _caption(name: str, m: CostMap) -> str:
    minima = "; ".join(f"({x:.0f}, {y:.0f}) N" for x, y in m.minima)
    return (
        f"{name}: {m.total} regions, minima at {minima} (the global one first); the paper's method crosses "
        f"{len(m.visited)} regions from zero. Left the surface √c, right the same from above with contours "
        "of √c."
    )


def _data(m: CostMap) -> dict[str, object]:
    return {
        "minima": m.minima,
        "costs": m.costs,
        "path": m.path,
        "visited": m.visited,
        "regions": m.total,
        "default": m.default,
    }

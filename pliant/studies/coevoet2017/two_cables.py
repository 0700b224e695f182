"""The inverse problem of Figs 2 and 3: the beam between two balls, at rest, with two opposite cables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra import factorise
from pliant.bench.instances import Instance
from pliant.core.view import linearise
from pliant.robot import Robot
from pliant.robots.beam import FIGURE_2, FIGURE_3, HEIGHT_2, HEIGHT_3, beam
from pliant.solvers import qpcc, qpcc_global
from pliant.solvers.qpcc.enumeration import GlobalSolution
from pliant.solvers.qpcc.solution import QpccSolution
from pliant.studies.coevoet2017.paper import work_weight

SAME_COST = 1e-6  # relative: what costs no more than this beside the best is the global minimum


@dataclass(frozen=True, eq=False)
class TwoCables:
    """A beam between two balls: options of `beam`, the height of its tip [m] and the largest tension [N]."""

    options: Mapping[str, Any]
    height: float
    most: float

    @property
    def condensed(self) -> Instance:
        """W and δ_free at rest."""
        return at_rest(beam(**self.options), (self.height,))


@dataclass(frozen=True, eq=False)
class Answers:
    """What three methods say of one problem: enumeration, the paper's method from zero, and the default."""

    exact: GlobalSolution
    paper: QpccSolution
    default: QpccSolution

    def is_global(self, found: QpccSolution) -> bool:
        """Whether a method found the global minimum."""
        return bool(found.cost <= (1.0 + SAME_COST) * self.exact.best.cost)


def figure2() -> TwoCables:
    """The tip should sink by 20 mm, with up to 500 N."""
    return TwoCables(FIGURE_2, HEIGHT_2, FIGURE_2["tension"])


def figure3() -> TwoCables:
    """The balls elsewhere: the tip should sink by 60 mm, with up to 2000 N."""
    return TwoCables(FIGURE_3, HEIGHT_3, FIGURE_3["tension"])


def answers(p: Instance, most: float, *, weight: float = 1.0) -> Answers:
    """The answers with tensions in [0, most] [N], and ε so many times that of the paper."""
    limits: dict[str, Any] = {"effort": (0.0, most), "eps": weight * work_weight(p.Wea, p.Waa)}
    paper = qpcc(*p.matrices, **limits, method="decomposition", starts=1)
    return Answers(qpcc_global(*p.matrices, **limits), paper, qpcc(*p.matrices, **limits))


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

"""Part 6: the problems that the scenes themselves pose. How often is the answer the global optimum, and how soon is it there?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.bench.instances import solve_reference
from pliant.io.table import Table
from pliant.solvers.qpcc import descent
from pliant.solvers.qpcc.problem import Problem
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.study import Findings
from pliant.timing import microseconds

SHARE = 0.99
SAME = 1e-6  # costs nearer than this to the best, in units of the cost without effort, are global
PIECES, SECONDS = 3000, 0.05  # of one enumeration …
LONGER, OFTEN = 0.5, 20  # … and of every twentieth
MANY, DEFAULT = 60, 8  # starts of the search that stands in where the enumeration does not end, and of `qpcc`
COLUMNS = (
    "case", "problems", "actuators", "contacts", "proven", "best known", "one start", "default", "cold start [µs]", "check",
)  # fmt: skip


class Found(NamedTuple):
    """Of one problem: whether one descent and the default reach the reference, whether that is proven, microseconds."""

    one: bool
    default: bool
    exact: bool
    time: float


def optima(lab: Lab) -> Findings:
    """Solve what was recorded again, cold, by one descent and by the default, against exact or best-known references."""
    table = Table("Problems recorded along the paths", COLUMNS)
    for name in lab.thorough:
        chosen = lab.course(name).problems
        patience = [LONGER if k % OFTEN == 0 else SECONDS for k in range(len(chosen))]
        found = np.array([judge(p, seconds) for p, seconds in zip(chosen, patience)], float).reshape(-1, 4)
        one, default, exact, _ = found.mean(axis=0) if len(found) else np.full(4, np.nan)
        table.add(
            case=name,
            problems=len(found),
            actuators=chosen[0].na if chosen else None,
            contacts=round(float(np.mean([p.nc for p in chosen]))) if chosen else None,
            proven=round(float(exact * len(found))) if chosen else 0,
            default=float(default),
            check=bool(default >= SHARE and len(found) >= lab.setting.problems),
            **{
                "best known": round(float((1.0 - exact) * len(found))) if chosen else 0,
                "one start": float(one),
                "cold start [µs]": float(np.median(found[:, 3])) if chosen else None,
            },
        )
    table.notes.append(
        f"proven: the visit of all contact modes ended within {SECONDS} s (every {OFTEN}th: {LONGER} s); best known: the best of {MANY} starts (181 descents "
        "or so). Global: within 10⁻⁶ of the cost without effort. Cold: one descent from zero, problem to solution."
    )
    text = (
        "Every inverse problem with contact that came up along the paths, as it was posed: with its ε, ρ and bounds, but solved cold. "
        f"Asked: {lab.setting.problems} problems at least, {SHARE:.0%} of them solved to the global optimum by the default of "
        f"{DEFAULT} starts."
    )
    return Findings("Global optima of the scenes' own problems", text, [table])


def judge(p: Problem, seconds: float) -> Found:
    """Solve one problem in three ways; its contact modes are visited for at most so long."""
    cold = p._replace(warm=False)
    reference = solve_reference(p, pieces=PIECES, seconds=seconds, starts=MANY)
    one, default = (descent(cold, starts).cost for starts in (1, DEFAULT))
    enough = min(reference.cost, default) + SAME * float(p.weights @ p.de**2)
    time = microseconds(lambda: descent(cold, 1), repeats=5)
    return Found(one <= enough, default <= enough, reference.exact, time)

"""The inverse solver with contact: time of one descent, share of global optima, full against reduced programs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from pliant.bench.instances import SIZES, Instance, instances
from pliant.bench.table import Table
from pliant.solvers.decomposition import Program, full, reduced
from pliant.solvers.enumeration import qpcc_global
from pliant.solvers.modes import Modes
from pliant.solvers.multistart import INTEGERS, TRAIL, solve_starts, workspace
from pliant.solvers.problem import problem
from pliant.solvers.qpcc import SHIFT, qpcc
from pliant.solvers.results import layout

COLD = dict(zip(SIZES, (10.0, 20.0, 30.0, 90.0)))  # [µs] asked of one cold descent
DEFAULT = 1000.0  # [µs] asked of the default at the largest size
SHARE = 0.99  # of global optima asked of the default
SAME = 1e-6  # costs nearer than this to the best, in units of the task's cost without effort, are global
LONG = 150  # starts of the search that stands in for the enumeration where that does not end
PAPER = {(3, 3): 1.25, (3, 10): 1.88, (3, 50): 7.82}  # full ÷ reduced, Coevoet et al. 2017


def qpcc_bench(count: int = 100) -> list[Table]:
    """Three tables over `count` instances of every size and kind."""
    return [speed(count), optima(count), formulations()]


def speed(count: int) -> Table:
    """Median times over instances of the realistic kind, easy and hard."""
    columns = (
        "what",
        "contacts",
        "solver [µs]",
        "call [µs]",
        "asked",
        "8 starts [µs]",
        "worst of them",
        "check",
    )
    table = Table("One cold descent, and the default of eight starts", columns)
    for size in SIZES:
        cold, call, eight = [], [], []
        for hard in (False, True):
            for one in instances(size, count // 2, hard=hard):
                cold.append(_microseconds(_compiled(one)))
                call.append(_microseconds(lambda p=one: qpcc(*p.matrices, **p.limits, starts=1)))
                eight.append(_microseconds(lambda p=one: qpcc(*p.matrices, **p.limits), repeats=5))
        asked = COLD[size]
        last = size == SIZES[-1]
        table.add(
            what=f"{size[0]} actuators",
            contacts=size[1],
            asked=asked,
            check=bool(
                np.median(cold) <= asked
                and (not last or (np.median(call) <= asked and np.median(eight) <= DEFAULT))
            ),
            **{
                "solver [µs]": float(np.median(cold)),
                "call [µs]": float(np.median(call)),
                "8 starts [µs]": float(np.median(eight)),
                "worst of them": float(np.max(eight)),
            },
        )
    table.notes.append("solver: compiled, with scaling; call: from Python arrays to a Solution.")
    return table


def optima(count: int) -> Table:
    """How often the default ends in the global optimum."""
    columns = ("what", "contacts", "instances", "exact", "pieces", "one descent", "default", "asked", "check")
    table = Table("Share of global optima", columns)
    _found(instances(SIZES[0], 1)[0])  # compile before the enumeration is timed
    for kind in ("rod", "random"):
        for size in SIZES:
            found = np.array(
                [
                    _found(p)
                    for hard in (False, True)
                    for p in instances(size, count // 2, kind=kind, hard=hard)
                ]
            )
            one, default, exact, pieces = found.T
            table.add(
                what=f"{kind}, {size[0]} actuators",
                contacts=size[1],
                instances=len(found),
                exact=int(exact.sum()),
                pieces=int(np.median(pieces)),
                default=float(default.mean()),
                asked=SHARE,
                check=bool(default.mean() >= SHARE),
                **{"one descent": float(one.mean())},
            )
    table.notes.append(f"exact: enumeration ended; otherwise the best of {LONG} starts is the reference.")
    return table


def _found(p: Instance) -> tuple[bool, bool, bool, int]:
    """Whether one descent and the default are global, whether that is proven, and the number of pieces seen."""
    proof = qpcc_global(*p.matrices, **p.limits, limit=3000, seconds=0.5)
    costs = [qpcc(*p.matrices, **p.limits, starts=starts).cost for starts in (1, 8)]
    best = proof.best.cost if proof.complete else qpcc(*p.matrices, **p.limits, starts=LONG).cost
    best = min(best, *costs)
    enough = best + SAME * float(p.de @ p.de)
    return costs[0] <= enough, costs[1] <= enough, proof.complete, proof.pieces


def formulations() -> Table:
    """Time of one program with λ_c among the unknowns, over that with λ_c eliminated; matrices included."""
    columns = ("what", "contacts", "reduced [µs]", "full [µs]", "ratio", "paper")
    table = Table("Full against reduced programs, both by DAQP", columns)
    for size in (*PAPER, *SIZES):
        times = np.median([_programs(p) for p in instances(size, 9, hard=True)], axis=0)
        table.add(
            what=f"{size[0]} actuators",
            contacts=size[1],
            ratio=float(times[1] / times[0]),
            paper=PAPER.get(size),
            **{"reduced [µs]": float(times[0]), "full [µs]": float(times[1])},
        )
    return table


def _programs(p: Instance) -> tuple[float, float]:
    """Microseconds of the reduced and the full program at zero effort."""
    modes = Modes.of(problem(*p.matrices, **p.limits), SHIFT)
    x = np.zeros(len(p.da))

    def build(program: Program) -> Callable[[], object]:
        def action() -> object:
            modes.settle(x)
            return program(modes, x)

        return action

    return _microseconds(build(reduced)), _microseconds(build(full))


def _compiled(p: Instance) -> Callable[[], object]:
    """The compiled part of one cold descent."""
    q = problem(*p.matrices, **p.limits)
    sizes = q.ne, q.na, q.nc
    costs, numbers = np.empty(1), np.empty(layout(*sizes).length)
    integers = np.zeros(INTEGERS + 2 * q.na + q.nc + TRAIL, np.int64)
    buffers = workspace(*sizes)
    return lambda: solve_starts(
        q.data, *sizes, q.eps, q.rho, SHIFT, 1, False, *buffers, costs, numbers, integers
    )


def _microseconds(action: Callable[[], object], repeats: int = 15) -> float:
    """Median time of an action [µs] after one warm-up run."""
    action()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        action()
        times.append(perf_counter() - begin)
    return 1e6 * float(np.median(times))

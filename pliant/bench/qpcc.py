"""The inverse solver with contact: time of a descent, share of global optima, full and reduced programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pliant.bench.instances import KINDS, SIZES, instances, load, solve_reference
from pliant.io.table import Table
from pliant.solvers.qp import run
from pliant.solvers.qpcc import descent, qpcc
from pliant.solvers.qpcc.contact_mode import ContactMode
from pliant.solvers.qpcc.decomposition import Program, full, reduced, scaled, state_full, state_reduced
from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.qpcc.scaled import scaled as unit_rows
from pliant.solvers.qpcc.search import search
from pliant.solvers.qpcc.solve import SHIFT
from pliant.timing import Yardstick, microseconds

COLD = dict.fromkeys(SIZES, 100.0)  # [µs] asked of one cold descent …
DEFAULT = 1000.0  # [µs] … and of the default at the largest size …
YARD = 125.0  # [ms] … where a product of 1500 × 1500 matrices takes this
SHARE = 0.99  # of global optima asked of the default
SAME = 1e-6  # costs nearer than this to the best, in units of the task's cost without effort, are global
STARTS = 8  # the default
PROVEN = 10  # instances of each kind for which every contact mode is visited, if that ends
PAPER = {(3, 3): 1.25, (3, 10): 1.88, (3, 50): 7.82}  # full ÷ reduced, Coevoet et al. 2017


def qpcc_bench(path: Path | None = None, *, count: int = 200) -> list[Table]:
    """Tables over `count` random instances of every size and kind, or over those of a file."""
    if path is not None:
        return [recorded(path)]
    return [speed(count // 4), optima(count), formulations()]


def speed(count: int) -> Table:
    """Median times over instances, half of them hard."""
    columns = (
        "what", "contacts", "solver [µs]", "÷ dgemm(1500)", "asked [µs]", "call [µs]", "default [µs]", "95 %",
        "check",
    )  # fmt: skip
    table = Table(f"One cold descent, and the default of {STARTS} starts", columns)
    for kind in KINDS:
        for size in SIZES:
            yard = Yardstick.measure()
            chosen = [p for hard in (False, True) for p in instances(size, count // 2, kind=kind, hard=hard)]
            cold = [microseconds(compiled(p.problem)) for p in chosen]
            call = [microseconds(lambda p=p: qpcc(*p.matrices, **p.limits, starts=1)) for p in chosen]
            default = [microseconds(lambda p=p: qpcc(*p.matrices, **p.limits), repeats=5) for p in chosen]
            pace = 2.0 * YARD / (yard.milliseconds + Yardstick.measure().milliseconds)
            quick = np.median(cold) * pace <= COLD[size]
            table.add(
                what=f"{kind}, {size[0]} actuators",
                contacts=size[1],
                check=bool(quick and (size != SIZES[-1] or np.median(default) * pace <= DEFAULT)),
                **{
                    "solver [µs]": float(np.median(cold)),
                    "÷ dgemm(1500)": float(np.median(cold) * pace / (1e3 * YARD)),
                    "asked [µs]": COLD[size],
                    "call [µs]": float(np.median(call)),
                    "default [µs]": float(np.median(default)),
                    "95 %": float(np.percentile(default, 95)),
                },
            )
    table.notes += [
        "solver: one descent with scaling; call: from Python arrays to a Solution.",
        f"Times are asked where dgemm(1500) takes {YARD:g} ms; the default at most {DEFAULT:g} µs at the "
        "largest size.",
    ]
    return table


def optima(count: int) -> Table:
    """How often the default ends in the global optimum."""
    columns = ("what", "contacts", "instances", "proven", "one descent", "default", "asked", "check")
    table = Table("Share of global optima", columns)
    for kind in KINDS:
        for size in SIZES:
            chosen = [
                p.problem for hard in (False, True) for p in instances(size, count // 2, kind=kind, hard=hard)
            ]
            table.add(what=f"{kind}, {size[0]} actuators", contacts=size[1], **_shares(chosen))
    table.notes.append(
        "proven: every contact mode was visited; otherwise the best of many starts is the reference."
    )
    return table


def recorded(path: Path) -> Table:
    """Times and share of global optima over the problems that a run left in a file (see `instances.save`)."""
    columns = (
        "what", "contacts", "instances", "proven", "one descent", "default", "asked", "solver [µs]",
        "default [µs]", "check",
    )  # fmt: skip
    table = Table(f"Problems of {path.name}", columns)
    problems = load(path)
    sizes = sorted({(p.na, p.nc) for p in problems})
    edges = np.unique(np.quantile([nc for _, nc in sizes], np.linspace(0.0, 1.0, 5)).astype(int))
    for na in sorted({na for na, _ in sizes}):
        for least, most in zip((-1, *edges[:-1]), edges):
            chosen = [p for p in problems if p.na == na and least < p.nc <= most]
            if chosen:
                times = [microseconds(compiled(p), repeats=5) for p in chosen]
                whole = [microseconds(lambda p=p: descent(p, STARTS), repeats=3) for p in chosen]
                table.add(
                    what=f"{na} actuators",
                    contacts=f"{least + 1} … {most}",
                    **{"solver [µs]": float(np.median(times)), "default [µs]": float(np.median(whole))},
                    **_shares(chosen),
                )
    return table


def _shares(problems: Sequence[Problem]) -> dict[str, object]:
    """Cells: how many of the problems one descent and the default solve to the global optimum."""
    one = default = proven = solvable = 0
    for n, p in enumerate(problems):
        best = solve_reference(p, starts=60, seconds=0.5 if n % max(len(problems) // PROVEN, 1) == 0 else 0.0)
        found = [descent(p, starts) for starts in (1, STARTS)]
        if not found[1].certificate.solved:
            continue
        enough = min(best.cost, found[1].cost) + SAME * float(p.weights @ p.de**2)
        solvable, proven = solvable + 1, proven + best.exact
        one, default = one + (found[0].cost <= enough), default + (found[1].cost <= enough)
    share = default / max(solvable, 1)
    return {
        "instances": solvable,
        "proven": proven,
        "one descent": one / max(solvable, 1),
        "default": share,
        "asked": SHARE,
        "check": share >= SHARE,
    }


def formulations() -> Table:
    """Time of one program with λ_c among the unknowns, over that with λ_c eliminated."""
    columns = (
        "what", "contacts", "reduced [µs]", "full [µs]", "ratio", "DAQP: reduced", "full", "ratio of DAQP",
        "paper",
    )  # fmt: skip
    table = Table("Full against reduced programs, both by DAQP", columns)
    for size in (*PAPER, *SIZES):
        times = np.median([_programs(p.problem) for p in instances(size, 9, hard=True)], axis=0)
        table.add(
            what=f"{size[0]} actuators",
            contacts=size[1],
            ratio=float(times[1] / times[0]),
            full=float(times[3]),
            paper=PAPER.get(size),
            **{
                "reduced [µs]": float(times[0]),
                "full [µs]": float(times[1]),
                "DAQP: reduced": float(times[2]),
            },
            **{"ratio of DAQP": float(times[3] / times[2])},
        )
    table.notes.append("First with the matrices, which are put together in Python; then DAQP alone.")
    return table


def _programs(p: Problem) -> tuple[float, ...]:
    """Microseconds of the reduced and the full program at zero effort, then of DAQP's part of both."""
    mode = ContactMode.of(p, SHIFT)
    x = np.zeros(p.na)

    def build(program: Program) -> Callable[[], object]:
        def action() -> object:
            mode.settle(x)
            return program(mode, x)

        return action

    mode.settle(x)
    programs = [scaled(state(mode, x))[0] for state in (state_reduced, state_full)]
    alone = [microseconds(lambda program=program: run(program, None)) for program in programs]
    return microseconds(build(reduced)), microseconds(build(full)), *alone


def compiled(p: Problem) -> Callable[[], object]:
    """One descent with scaling, without checks before and a solution after it, as an action to time."""
    descent(p, 1)  # compiles, and says what is wrong with the problem
    start = p.start / unit_rows(p, SHIFT).units[p.nc + p.ne :] if p.warm else None
    return lambda: search(unit_rows(p, SHIFT), start, p.guess, 1)

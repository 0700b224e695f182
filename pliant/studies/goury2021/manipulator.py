"""The manipulator: error against the size of the basis (Fig. 12), and steps per second (Table II)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.manipulator import DAMPING, YARDSTICK
from pliant.contact import ContactBasis
from pliant.dynamics import Simulation
from pliant.io.table import Table
from pliant.reduction.contact_fit import with_contact_basis
from pliant.robot import Robot
from pliant.robots.manipulator import manipulator
from pliant.state import State
from pliant.studies.check import Check
from pliant.studies.figures import BAD, SOFT, heading, line, new_figure
from pliant.studies.goury2021.held_out import LARGEST_SHARE, falling, held_out
from pliant.studies.goury2021.lab import PULL, Lab
from pliant.studies.goury2021.paper import MANIPULATOR_MODES, STEPS_PER_SECOND, TIP_ERROR
from pliant.studies.goury2021.postures import bend
from pliant.studies.study import Findings, Picture
from pliant.timing import in_turns, paired

OTHER_ROBOT = "a manipulator of our own: the paper prints no sizes and no forces"
ROUNDS = 12  # of fifteen steps each, in every process
WARMING_STEPS = 20  # before a rate is measured
ASKED = {"full": 5.0, "reduced": 150.0}  # steps per second


def basis(lab: Lab) -> Findings:
    """Fig. 12, and the same on held-out bends."""
    setting = lab.setting
    sizes = [k for k in sorted({*setting.sizes, setting.modes}) if k <= _rank(lab)]
    tip = lab.bent(lab.manipulator()).displacement["tip"]
    missed = lambda robot: float(np.linalg.norm(lab.bent(robot).displacement["tip"] - tip))
    none = missed(lab.manipulator(False))
    nested = {k: missed(lab.fit(k).robot) for k in sizes}
    paper = {k: missed(lab.fit(k, "als").robot) for k in sizes}
    tables, more, data = held_out(lab, sizes)
    mean_shares = {int(k): float(np.mean(shares)) for k, shares in data["held-out shares"].items()}
    data |= {
        "no contact": none,
        "hals": {str(k): e for k, e in nested.items()},
        "als": {str(k): e for k, e in paper.items()},
    }
    text = (
        f"Fully bent: tendons 1, 4 and 7 at {PULL:g} N, by statics; it is none of the design, but the "
        "default fade was chosen on it. Held out: bends of every section to other sides with other forces, "
        "from a Halton sequence by the study's seed, and modes of patches with the default fade. Errors are "
        "distances of the tip to that of the full model. With 4 and 8 modes of nested HALS the error of this "
        "one posture depends on rounding in the snapshots, which are swings with contact: there it falls by "
        "chance. The paper's method is rows Ψᵀδ with modes of clipped ALS from one random start."
    )
    checks = [*_bent_checks(lab, none, nested, paper), *more]
    picture = _figure_12(none, nested, paper, mean_shares)
    return Findings("Error against size of the basis", text, tables, checks, [picture], data)


def _bent_checks(lab: Lab, none: float, nested: dict[int, float], als: dict[int, float]) -> list[Check]:
    setting, full = lab.setting, lab.manipulator()
    doubled = [nested[k] for k in setting.sizes if k in nested]
    falls = falling(doubled)
    chosen, words = nested[setting.modes], f"with {setting.modes} modes"
    paper = TIP_ERROR["no contact"], TIP_ERROR["23 modes"]
    deep = lambda robot: 1e3 * lab.depth(full, lab.bent(robot).q)
    millimetres = lambda errors: " ".join(f"{1e3 * e:.1f}" for e in errors)
    return [
        Check.compared(
            "snapshots with contact, images included",
            len(lab.spine_shots()),
            paper=1440,
            why="ours are of the same design; those without contact are left out, those turned by 120° added",
        ),
        Check("snapshots left out", len(lab.spine_shots().skipped)),
        Check.compared(
            "fully bent: error without contact", 1e3 * none, paper=1e3 * paper[0], unit="mm", why=OTHER_ROBOT
        ),
        Check.compared(
            f"fully bent: error {words}, the paper's method",
            1e3 * als[setting.modes],
            paper=1e3 * paper[1],
            unit="mm",
            why=f"{OTHER_ROBOT}; here one contact that is open keeps a mode open",
        ),
        Check(f"fully bent: the paper's method by size, {_sizes(als)}", millimetres(als.values()), unit="mm"),
        Check.compared(
            f"fully bent: error {words}, ours", 1e3 * chosen, paper=1e3 * paper[1], unit="mm", why=OTHER_ROBOT
        ),
        Check.at_most("fully bent: share", chosen / none, LARGEST_SHARE, paper=round(paper[1] / paper[0], 3)),
        Check.holds("falls with every doubling", falls, measured=millimetres(doubled)),
        Check("deepest penetration without contact", deep(lab.manipulator(False)), unit="mm"),
        Check(f"deepest penetration {words}", deep(lab.fit(setting.modes).robot), unit="mm"),
    ]


def _sizes(errors: dict[int, float]) -> str:
    return " ".join(str(k) for k in errors)


def _rank(lab: Lab) -> int:
    return int(np.linalg.matrix_rank(lab.spine_shots().contact))


def speed(lab: Lab) -> Findings:
    """Table II."""
    fit, robots = lab.fit(lab.setting.modes), {"full": lab.manipulator()}
    robots["reduced"] = fit.robot
    table = Table(
        "Table II: time steps of 10 ms",
        ("model", "posture", "ms", "÷ dgemm(1500)", "steps/s", "paper", "asked", "check"),
    )
    for model, robot in robots.items():
        for posture, force in (("straight", 0.0), ("bent", PULL)):
            ms, ratio = paired(
                _steps(robot, lab.bent(robot).state if force else None, force), clock=process_time
            )
            rate = 1.0 / (YARDSTICK * ratio)
            asked = ASKED[model] if posture == "bent" else None
            table.add(
                model=model,
                posture=posture,
                ms=ms,
                paper=STEPS_PER_SECOND[model, posture],
                asked=asked,
                check=None if asked is None else rate >= asked,
                **{"÷ dgemm(1500)": ratio, "steps/s": round(rate)},
            )
    table.notes.append(f"CPU time. Steps/s where a dgemm(1500) takes {1e3 * YARDSTICK:.0f} ms.")
    states = lab.bent(fit.robot).state, lab.bent(lab.manipulator(False)).state
    given = lab.setting.spine, fit.basis, states
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        ratios = [pool.submit(_compared, *given).result() for _ in range(lab.setting.processes)]
    none, straight = np.median(ratios, axis=0).tolist()
    name = "rate of the reduced model, bent, over that without contact, bent too"
    checks = [
        Check(name, none),
        Check.compared(
            "the same over the full model's, straight",
            straight,
            paper=round(17 / 18, 3),
            why="another code: there contact is all of the time, here a part of it",
        ),
    ]
    data = {"rates over those without contact and of the full model, straight, by process": ratios}
    return Findings(f"Speed with {MANIPULATOR_MODES} modes", tables=[table], checks=checks, data=data)


def _compared(spine: dict[str, Any], basis: ContactBasis, states: tuple[State, State]) -> tuple[float, float]:
    """Rates of the reduced model bent, over that without contact and over the full model straight.

    They are measured in turns, and in processes of their own: rates depend on what else a process holds.
    """
    full, (bent, free) = manipulator(**spine), states
    reduced = _steps(with_contact_basis(full, basis), bent, PULL)
    alone, straight = _steps(manipulator(**spine, contact=False), free, PULL), _steps(full, None, 0.0)
    over = lambda other: 1.0 / in_turns(reduced, other, rounds=ROUNDS, clock=process_time)
    return over(alone), over(straight)


def _steps(robot: Robot, state: State | None, force: float) -> Callable[[], object]:
    """A function that takes one step, after the robot has come to rest."""
    simulation = Simulation(robot, time_step=0.01, scheme="euler", damping=DAMPING, state=state)
    step = lambda: simulation.step(bend(force))
    for _ in range(WARMING_STEPS):
        step()
    return step


def _figure_12(
    none: float, nested: dict[int, float], als: dict[int, float], mean_shares: dict[int, float]
) -> Picture:
    figure, axes = new_figure(6.4, 3.6)
    ax = axes[0, 0]
    ax.axhline(100.0, color=BAD, linestyle="--", linewidth=1.2, label="no contact")
    share = lambda errors: [100.0 * e / none for e in errors]
    ax.plot(list(nested), share(nested.values()), marker="o", label="fully bent, nested HALS", **line(1))
    style = {"color": SOFT, "linewidth": 0.9, "label": "fully bent, the paper's method"}
    ax.plot(list(als), share(als.values()), ".-", **style)
    held = [100.0 * h for h in mean_shares.values()]
    ax.plot(list(mean_shares), held, marker="s", label="held out, patches, mean", **line(0))
    ax.axhline(100.0 * LARGEST_SHARE, color=SOFT, linestyle=":", linewidth=1.0, label="asked with 23 modes")
    ax.set_xscale("log", base=2)
    ax.set_xticks(list(nested), [str(k) for k in nested])
    ax.set_yscale("log")
    ax.set_xlabel("modes")
    ax.set_ylabel("tip error [% of no contact]")
    ax.legend(frameon=False, fontsize=7)
    heading(ax, f"Tip error; fully bent, no contact errs by {1e3 * none:.0f} mm")
    return Picture(
        "error", "Tip error against the size of the contact basis, as in the paper's Fig. 12.", figure
    )

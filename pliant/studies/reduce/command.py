"""`pliant reduce`: from a robot of the gallery to a saved reduced model with a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bench.golden import one_step
from pliant.bench.reduced import shortest
from pliant.bodies.reduced_inputs import checked_body
from pliant.errors import InputError, unknown_name
from pliant.laws import Known
from pliant.reduction import plans
from pliant.reduction.campaign import collect
from pliant.reduction.held_out import HeldOut, held_out
from pliant.reduction.model import ReducedModel, reduced_model
from pliant.reduction.plans import Plan
from pliant.reduction.responses import responses
from pliant.reduction.saved import save
from pliant.reduction.snapshots import Snapshots
from pliant.reduction.symmetry import Symmetry, multiplied
from pliant.reduction.workspace import Reach, few, reaches
from pliant.robot import Robot
from pliant.studies.reduce.report import Findings, table, write
from pliant.timing import Yardstick

TRIES = 3  # tolerances of the cells
TIGHTENED = 3.0  # by which each tolerance is smaller than the last
MARGIN = 0.8  # of the error asked for: what the motions of the choice must meet, as others will be worse
HELD_OUT_SEEDS = {"validation": 1000, "held out": 2000}  # cells are chosen on the first
PLANS = ("few", "halton", "latin-hypercube", "plackett-burman", "grid", "pull")


@dataclass(frozen=True)
class Options:
    """Options of `pliant reduce`.

    `plan` says how the robot is driven: "few" pulls a few actuators at a time (see `workspace.few`), the
    others are those of `plans`, with `postures` and `steps`. `scale` is that of the demonstration's commands.
    `held` postures are held out for the errors, and as many others for the choice of the cells. With `turns`
    = n the robot looks the same after each n-th of a turn about the vertical through the origin, and its
    snapshots count n times.

    `tolerance` and `modes` are those of the basis, `force_tolerance` and `cells` those of the sampling, whose
    tolerance is tightened, down to a ninth, until the motions of the choice are as good as asked.
    `contact_modes` is the number of modes of contact forces: 0 leaves contacts as they are, None chooses it.
    `error` is the share of the stroke that is asked for.
    """

    plan: str = "few"
    postures: int = 48
    steps: int = 3
    scale: float = 0.5
    held: int = 8
    turns: int = 1
    tolerance: float = 1e-4
    modes: int | None = None
    force_tolerance: float = 0.003
    cells: int | None = None
    contact_modes: int | None = 0
    error: float = 0.01
    seed: int = 0


def reduce_robot(
    robot: Robot,
    laws: Mapping[str, Known],
    folder: Path,
    options: Options = Options(),
    *,
    view: tuple[float, float] = (-60.0, 16.0),
    progress: bool = False,
) -> tuple[Findings, Path]:
    """Snapshots, basis, sampling, held-out errors and speed-up; writes model.npz and a report into `folder`.

    `laws` are commands of a demonstration, which say how far the actuators go. Snapshots stay in
    folder/snapshots: a second call with the same plan continues where the first was stopped, and other
    tolerances need no new ones.
    """
    checked_body(robot.bodies[0])  # before hours of snapshots
    training = collect(
        robot,
        the_plan(robot, laws, options),
        folder=folder / "snapshots",
        probe=responses,
        progress=progress,
    )
    choice, trial = (
        collect(robot, held_plan(robot, laws, options, seed), folder=folder / name, progress=progress)
        for name, seed in HELD_OUT_SEEDS.items()
    )
    used = turned(robot, training, options.turns)
    model, reduced, chosen = _good_enough(robot, used, choice, options)
    errors = held_out(robot, reduced, trial)
    full, small, yardstick = step_times(robot, reduced)
    facts = {"options": vars(options), "error": errors.share if np.isfinite(errors.share) else None}
    model = replace(model, facts=facts)
    skipped = (*model.basis.skipped, *choice.skipped, *trial.skipped)
    findings = Findings(model, errors, full, small, len(used), skipped, yardstick, chosen.share)
    save(model, folder / "model.npz")
    return findings, write(findings, robot, reduced, folder, asked=options.error, view=view)


def _good_enough(
    robot: Robot, used: Snapshots, choice: Snapshots, options: Options
) -> tuple[ReducedModel, Robot, HeldOut]:
    """The model with the fewest cells whose error on the motions of the choice is MARGIN of that asked for.

    The tolerance of the cells is tightened until it is, at most TRIES are tried.
    """
    for tries in range(TRIES):
        model = reduced_model(
            robot,
            used,
            tolerance=options.tolerance,
            modes=options.modes,
            force_tolerance=options.force_tolerance / TIGHTENED**tries,
            cells=options.cells,
            contact_modes=options.contact_modes,
        )
        reduced = model.on(robot)
        errors = held_out(robot, reduced, choice)
        if errors.share <= MARGIN * options.error or len(model.sampling or ()) == options.cells:
            break
    return model, reduced, errors


def the_plan(robot: Robot, laws: Mapping[str, Known], options: Options) -> Plan:
    """The commands that the options ask for."""
    reach = _scaled(robot, laws, options)
    limits = {n: (0.0, r.most) for n, r in reach.items()}
    drives = {r.drive for r in reach.values()}
    if options.plan == "few":
        return few(robot, reach, postures=options.postures, steps=options.steps, seed=options.seed)
    if options.plan not in PLANS:
        raise unknown_name("plan", options.plan, PLANS)
    how: dict[str, Any] = {"steps": options.steps, "drive": drives.pop() if len(drives) == 1 else None}
    if options.plan in ("halton", "latin-hypercube"):
        how |= {"postures": options.postures, "seed": options.seed}
    if options.plan == "grid":
        how["levels"] = max(2, round(options.postures ** (1.0 / len(limits))))
    return getattr(plans, options.plan.replace("-", "_"))(robot, limits, **how)


def held_plan(robot: Robot, laws: Mapping[str, Known], options: Options, seed: int) -> Plan:
    """Commands that the model is not made from: other shares of the reach, other actuators together."""
    reach = _scaled(robot, laws, options)
    return few(robot, reach, postures=options.held, steps=1, seed=options.seed + seed, ends=False)


def _scaled(robot: Robot, laws: Mapping[str, Known], options: Options) -> dict[str, Reach]:
    c = options.scale
    return {n: replace(r, rest=c * r.rest, most=c * r.most) for n, r in reaches(robot, laws).items()}


def turned(robot: Robot, snapshots: Snapshots, turns: int) -> Snapshots:
    """The snapshots with their responses, and their images when the robot is turned about the vertical."""
    if turns < 1:
        raise InputError("turns", expected="at least 1", got=turns)
    if turns == 1:
        return snapshots
    up = robot.gravity if robot.gravity.any() else np.array([0.0, 0.0, 1.0])
    around = [Symmetry.turn(robot, 2 * np.pi * k / turns, up) for k in range(1, turns)]
    answers = [snapshots.extra["responses"], *(_answers(s, snapshots) for s in around)]
    return replace(multiplied(snapshots, around), extra={"responses": np.concatenate(answers)})


def _answers(symmetry: Symmetry, snapshots: Snapshots) -> np.ndarray:
    """The images of the snapshots' responses (s, a, nq)."""
    pairs = zip(snapshots.coordinates, snapshots.extra["responses"], strict=True)
    return np.array([[symmetry.image(q + r) - symmetry.image(q) for r in several] for q, several in pairs])


def step_times(robot: Robot, reduced: Robot) -> tuple[float, float, float]:
    """[ms] of a step of the full and of the reduced robot, shortest of several, and of dgemm(1500)."""
    return shortest(one_step(robot), 5), shortest(one_step(reduced), 200), Yardstick.measure().milliseconds


def reduce_named(
    name: str, folder: Path | None, options: Options, *, json: Path | None = None
) -> tuple[Path, bool]:
    """A robot of the gallery, with progress bars and a table: what the command line calls.

    Returns the page and whether it passed.
    """
    from pliant.robots import entry

    chosen = entry(name)
    out = folder or Path("results") / f"{name} reduced"
    findings, page = reduce_robot(
        chosen.build(), dict(chosen.laws), out, options, view=chosen.view, progress=True
    )
    numbers = table(findings, options.error)
    numbers.show()
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_bytes((out / "result.json").read_bytes())
    return page, numbers.passed and not findings.errors.failed

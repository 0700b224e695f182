"""Fast: a robot and its reduced stand-in, made from the robot alone: commands come from its rows' limits.

    quick = pl.reduction.fast(robot)
    quick.robot                      # a Robot, on reduced bodies
    print(quick)                     # modes, cells, and its error on held-out motions

Each solid body is reduced; rods, shells and what they carry stay as they are, beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.bodies.reduced_inputs import checked_body
from pliant.errors import InputError
from pliant.reduction.campaign import collect
from pliant.reduction.held_out import HeldOut, held_out
from pliant.reduction.model import ReducedModel, reduced_model
from pliant.reduction.plans import Plan
from pliant.reduction.reduce import reduce
from pliant.reduction.responses import responses
from pliant.reduction.saved import load, save
from pliant.reduction.snapshots import Snapshots
from pliant.reduction.workspace import Reach, attainable, few, limit_reaches, toward_limits
from pliant.robot import Robot

ASKED = 0.01  # of the stroke: the error on held-out motions
MARGIN = 0.6  # of the error asked for: what the motions of the choice must meet, as others will be worse
TRUST = 2.0  # times the error asked for, or of that measured if it is more: a larger one is not trusted
STEPS = 6  # on the way to each posture
# Postures at least, for the errors and for the choice: what is chosen by a few is worse for others.
HELD = {"trial": 6, "choice": 12}
SEEDS = {"training": 0, "choice": 1, "trial": 2}
# Tolerances of modes and of the cells' forces, from the fastest model to the most accurate.
CHOICES = ((1e-3, 1e-2), (3e-4, 3e-3), (1e-4, 1e-3), (3e-5, 1e-3), (3e-5, 1e-4), (1e-5, 1e-4))


@dataclass(frozen=True, eq=False)
class Fast:
    """A robot, and models of its solid bodies; `facts` are errors on held-out motions, as plain data."""

    full: Robot
    models: tuple[ReducedModel, ...]

    @cached_property
    def robot(self) -> Robot:
        """The reduced robot: rows, laws, gravity and surroundings of the full one."""
        self.models[0].fingerprint.check(self.full, "reduced model", coordinates=False)
        robot = self.full
        for model in self.models:
            robot = reduce(robot, model.basis, model.sampling, body=model.body)
        return robot

    @property
    def facts(self) -> Mapping[str, Any]:
        """error, stroke [m] and asked (a share) of held-out motions, how many, and which failed.

        `short`: which actuators have no equilibrium at their limits, in words.
        """
        return self.models[0].facts

    @property
    def share(self) -> float:
        """The largest error on held-out motions, of the stroke; infinite if one failed."""
        return float("inf") if self.facts["failed"] else self.facts["error"] / self.facts["stroke"]

    @property
    def bound(self) -> float:
        """[m]: a larger error, seen while it runs, is outside of what the model is trusted with."""
        return max(TRUST * self.facts["asked"] * self.facts["stroke"], TRUST * self.facts["error"])

    def __str__(self) -> str:
        modes = sum(len(model.basis) for model in self.models)
        cells = [model.sampling for model in self.models if model.sampling is not None]
        kept = f"{sum(map(len, cells))} of {sum(s.every for s in cells)} cells"
        error, stroke = 1e3 * self.facts["error"], 1e3 * self.facts["stroke"]
        said = (
            f"{error:.2g} mm off on held-out motions, {100 * self.share:.2g} % of the {stroke:.3g} mm moved"
        )
        if self.facts["failed"]:
            said = f"{len(self.facts['failed'])} of {self.facts['held']} held-out motions fail"
        return f"{modes} modes instead of {self.full.ndof} coordinates, {kept}; {said}"

    def save(self, path: str | Path) -> Path:
        """Write each model: the first to `path`, others beside it."""
        path = Path(path)
        for k, model in enumerate(self.models):
            save(model, _beside(path, k))
        return path

    @classmethod
    def load(cls, path: str | Path, full: Robot) -> Fast:
        """What `save` wrote, for the robot that it was made from; another is refused."""
        first = load(path)
        others = [load(_beside(Path(path), k)) for k in range(1, int(first.facts.get("models", 1)))]
        made = cls(full, (first, *others))
        missing = {"error", "stroke", "asked", "failed", "held"} - set(first.facts)
        if missing:
            expected = "a model of pliant.reduction.fast, with its errors"
            raise InputError(str(path), expected=expected, got=f"none of {sorted(missing)}")
        first.fingerprint.check(full, "reduced model", coordinates=False)
        return made


def fast(
    robot: Robot,
    *,
    error: float = ASKED,
    folder: str | Path | None = None,
    executor: Any = None,
    progress: Any = False,
    seed: int = 0,
) -> Fast:
    """Drive a robot as far as the limits of its rows go, and reduce it until held-out motions are followed.

    Where an actuator has no equilibrium at its limit, it is driven as far as it has some (`attainable`).
    `error` is the share of the stroke that they may miss. They choose nothing: modes and cells are chosen on
    other ones. Where none of the choices is good enough, twice as many snapshots are taken, and the best is
    returned. `folder`, `executor` and `progress` are those of `collect`.
    """
    if not 0 < error < 1:
        raise InputError("error", expected="a share of the stroke, between 0 and 1", got=error)
    bodies = _reducible(robot)
    limits = limit_reaches(robot)
    reach = attainable(robot, limits)
    short = [_short(name, limits[name], of) for name, of in reach.items() if of != limits[name]]
    probe = partial(responses, rows=[*reach, *robot.by_role("effector")])
    shots: list[Snapshots] = []
    share, models = float("inf"), ()
    for turn in range(2):
        plans = {"training": toward_limits(robot, reach, steps=STEPS, seed=seed + 3 * turn)}
        if not turn:
            plans |= {name: _held(robot, reach, least, seed + SEEDS[name]) for name, least in HELD.items()}
        there = None if folder is None else Path(folder) / f"snapshots {turn + 1}"
        taken = _collected(robot, plans, there, executor, probe, progress)
        shots.append(taken["training"])
        if not turn:
            choice, trial = taken["choice"], taken["trial"]
        for found, candidates in _choices(robot, bodies, Snapshots.join(shots), choice):
            if found < share or not models:
                share, models = found, candidates
            if share <= MARGIN * error:
                break
        if share <= MARGIN * error:
            break
    made = Fast(robot, models)
    errors = held_out(robot, made.robot, trial)
    first, *others = made.models
    facts = _facts(errors, error, share, sum(map(len, shots)), len(made.models)) | {"short": short}
    return Fast(robot, (replace(first, facts=facts), *others))


def _short(name: str, limit: Reach, reach: Reach) -> str:
    """That an actuator has no equilibrium at its limit, in words."""
    return f"{name}: no equilibrium beyond {_ends(reach)} of {_ends(limit)}"


def _ends(reach: Reach) -> str:
    return f"{reach.most:.3g}" if reach.least is None else f"{reach.least:.3g} … {reach.most:.3g}"


def _reducible(robot: Robot) -> list[int]:
    """Which bodies are reduced; an InputError that says why where none can be."""
    out = [k for k, body in enumerate(robot.bodies) if isinstance(body, Solid)]
    for k in out or [0]:
        checked_body(robot.bodies[k])
    return out


def _held(robot: Robot, reach: Mapping[str, Reach], least: int, seed: int) -> Plan:
    """Commands that the model is not made from: other shares of the reach, others together."""
    postures = max(least, 2 * len(reach))
    plan = few(robot, reach, postures=postures, steps=2, seed=1000 + seed, ends=False)
    return replace(plan, kind="held out")


def _collected(
    robot: Robot, plans: Mapping[str, Plan], folder: Path | None, executor: Any, probe: Any, progress: Any
) -> dict[str, Snapshots]:
    """The snapshots of several plans, taken in one campaign."""
    first = next(iter(plans.values()))
    every = sum((plan.trajectories for plan in plans.values()), ())
    whole = Plan(first.actuators, first.drives, every)
    shots = collect(robot, whole, executor=executor, folder=folder, probe=probe, progress=progress)
    out, begin = {}, 0
    for name, plan in plans.items():
        number = shots.trajectory
        chosen = shots.take((number >= begin) & (number < begin + len(plan)))
        if not len(chosen):
            hint = "Are the limits of its rows meant for it? " + "; ".join(shots.skipped[:3])
            raise InputError(f"{name} motions", expected="some equilibria", got="none", hint=hint)
        out[name], begin = chosen, begin + len(plan)
    return out


def _choices(
    robot: Robot, bodies: list[int], shots: Snapshots, choice: Snapshots
) -> Iterator[tuple[float, tuple[ReducedModel, ...]]]:
    """Models from the fastest on, and their errors (shares of the stroke) on the motions of the choice."""
    for tolerance, force_tolerance in CHOICES:
        models = tuple(
            reduced_model(robot, shots, tolerance=tolerance, force_tolerance=force_tolerance, body=body)
            for body in bodies
        )
        yield held_out(robot, Fast(robot, models).robot, choice).share, models


def _facts(errors: HeldOut, asked: float, choice: float, snapshots: int, models: int) -> dict[str, Any]:
    return {
        "error": float(errors.effector.max(initial=0.0)),
        "stroke": errors.stroke,
        "asked": asked,
        "held": len(errors.effector) + len(errors.failed),
        "failed": list(errors.failed),
        "choice": choice if np.isfinite(choice) else None,
        "snapshots": snapshots,
        "models": models,
    }


def _beside(path: Path, k: int) -> Path:
    return path if not k else path.with_name(f"{path.stem}.{k + 1}{path.suffix}")

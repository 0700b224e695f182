"""Which mesh a part gets: the finest that is lively on this machine; and what it costs in accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.errors import InputError, PliantError, PliantWarning
from pliant.mesh import Mesh
from pliant.project.fit import ACCURATE, LIVELY, STEEPNESS, Fit, percent, rates
from pliant.project.mesh_error import ORDER, difference, estimated, field, limit, on_two_meshes
from pliant.project.project import Project
from pliant.units import quantity

TRIALS = 4  # meshes that are made and measured
AIM = 1.2  # times LIVELY: the rate that the next trial is meant to have
NEAR = 1.6  # times LIVELY: a mesh whose rate is below need not be finer
FINEST, COARSEST = 1 / 80, 1 / 5  # of the longest extent
SAME = 0.02  # of an edge: a trial that is nearer to one before is none
REDUCIBLE = 30_000  # coordinates of the finest mesh that is offered: its reduction takes some minutes
EACH = 5  # coordinates of a quadratic tetrahedron in a mesh, about
SHARE = 1 / 20  # of the diagonal: edges of the first mesh
Told = Callable[[float, float], object]


@dataclass(frozen=True, eq=False)
class Trial:
    """A mesh of edges [m], its project, and its steps a second [Hz] free and in contact."""

    edge: float
    free: float
    touching: float
    mesh: Mesh
    project: Project

    @property
    def slowest(self) -> float:
        """The lower of its rates."""
        return min(self.free, self.touching)


def finest(
    meshed: Callable[[float | None], Mesh],
    draft: Callable[[Mesh, Path], Project],
    folder: Path,
    size: float | None = None,
    told: Told | None = None,
) -> Trial:
    """The mesh of a `size` [m], or the finest that is lively here, with its rates.

    `meshed` makes a mesh of edges of a size, `draft` a project of it in a part of the folder; `told` hears
    the edges of each and its rate. Without a size, the time of a step being about size^−4, meshes are tried
    until one is between LIVELY and NEAR times that; those too large to reduce are not measured. The finest
    that reaches LIVELY is taken, or the fastest of all if none does.
    """
    tried: list[Trial] = []
    edge = size
    for k in range(TRIALS if size is None else 1):
        mesh = meshed(edge)
        if edge is None:
            edge = SHARE * float(np.linalg.norm(np.ptp(mesh.nodes, axis=0)))
        longest = float(np.ptp(mesh.nodes, axis=0).max())
        heavy = EACH * len(mesh.cells) > REDUCIBLE and edge < COARSEST * longest
        if heavy and size is None and k < TRIALS - 1:  # nobody need wait for its rate
            edge = min(2.0 * edge, COARSEST * longest)
            continue
        place = folder / str(k)
        place.mkdir()
        project = draft(mesh, place)
        tried.append(Trial(edge, *rates(project.robot), mesh, project))
        speed = tried[-1].slowest
        if told is not None:
            told(edge, speed)
        if not np.isfinite(speed) or LIVELY <= speed <= NEAR * LIVELY:
            break
        wanted = edge * (AIM * LIVELY / speed) ** (1.0 / STEEPNESS)
        edge = float(np.clip(wanted, FINEST * longest, COARSEST * longest))
        if any(abs(edge - before.edge) < SAME * before.edge for before in tried):
            break
    lively = [trial for trial in tried if trial.slowest >= LIVELY]
    if lively:
        return min(lively, key=lambda trial: trial.edge)
    return max(tried, key=lambda trial: np.nan_to_num(trial.slowest))


def described(trial: Trial) -> tuple[Fit, tuple[str, ...]]:
    """The figures of a trial, the error of its mesh among them, and sentences for the head of a file."""
    robot, error, reason, other = trial.project.robot, None, "", ()
    try:
        error, linear = both_elements(trial.project)
        share = percent(linear)
        other = (f"Its tetrahedra are quadratic: linear ones with as many nodes err by about {share}.",)
    except InputError as refusal:
        reason = f"expected {refusal.expected}, got {refusal.got}"
    except PliantError as trouble:
        reason = str(trouble).rstrip(".")
    nodes = len(robot.bodies[0].mesh.nodes)
    found = Fit(nodes, robot.ndof, trial.free, trial.touching, error, reason)
    lines = (f"Mesh: edges of {quantity(trial.edge, 'm', digits=2)}. {found}", *other)
    return found, (lines if error is None or error <= ACCURATE else (*lines, _offer(trial, error)))


def _offer(trial: Trial, error: float) -> str:
    """A finer mesh to reduce: of ACCURATE, or the finest that is REDUCIBLE."""
    least = (trial.project.robot.ndof / REDUCIBLE) ** (1.0 / 3.0)
    finer = min(max((ACCURATE / error) ** (1.0 / ORDER), least), 1.0)
    there = percent(error * finer**ORDER)
    size = quantity(finer * trial.edge, "m", digits=2).replace(" ", "")
    return f"With `--size {size}` it is about {there}, and `pliant reduce` makes a fast model of that mesh."


def both_elements(project: Project) -> tuple[float, float]:
    """Estimated errors of a project of quadratic tetrahedra: its own, and that of linear ones with as many
    nodes, half as long.
    """
    coarse, fine, volume = on_two_meshes(project)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)  # that they lock is what is measured
        linear = field(project.refined(order=1), like=project.robot)
    return estimated(coarse, fine, volume), difference(linear, limit(coarse, fine), volume)

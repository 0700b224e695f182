"""Which mesh a part gets: the finest that is lively on this machine; and what it costs in accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pliant.errors import PliantError, PliantWarning
from pliant.mesh import Mesh
from pliant.project.fit import (
    ACCURATE,
    LIVELY,
    ORDER,
    STEEPNESS,
    Fit,
    difference,
    discretisation_error,
    motions,
    rate,
)
from pliant.project.project import Project
from pliant.units import quantity

TRIALS = 4  # meshes that are made and measured
AIM = 1.2  # times LIVELY: the rate that the next trial is meant to have
NEAR = 1.6  # times LIVELY: a mesh whose rate is below need not be finer
FINEST, COARSEST = 1 / 80, 1 / 5  # of the longest extent
SAME = 0.02  # of an edge: a trial that is nearer to one before is none
FINER = 0.25  # of the edge: the finest mesh that is offered
SHARE = 1 / 20  # of it: edges of the first mesh


def fitting(
    meshed: Callable[[float | None], Mesh], draft: Callable[[Mesh, Path], Project], size: float | None
) -> tuple[Mesh, tuple[str, ...]]:
    """A mesh, and what is measured of it in sentences for the head of a file.

    `meshed` makes a mesh of edges of a size [m], `draft` a project of it in a folder. Without a size, the
    time of a step being about size^−4, meshes are tried until one is between LIVELY and NEAR times that; the
    finest that reaches LIVELY is taken, or the fastest of all if none does.
    """
    with TemporaryDirectory() as folder:
        tried: list[tuple[float, float, Mesh, Project]] = []
        edge = size
        for k in range(TRIALS if size is None else 1):
            mesh = meshed(edge)
            if edge is None:
                edge = SHARE * float(np.linalg.norm(np.ptp(mesh.nodes, axis=0)))
            place = Path(folder) / str(k)
            place.mkdir()
            project = draft(mesh, place)
            speed = rate(project.robot)
            tried.append((edge, speed, mesh, project))
            if not np.isfinite(speed) or LIVELY <= speed <= NEAR * LIVELY:
                break
            longest = float(np.ptp(mesh.nodes, axis=0).max())
            wanted = edge * (AIM * LIVELY / speed) ** (1.0 / STEEPNESS)
            edge = float(np.clip(wanted, FINEST * longest, COARSEST * longest))
            if any(abs(edge - before) < SAME * before for before, *_ in tried):
                break
        lively = [trial for trial in tried if trial[1] >= LIVELY]
        best = min(lively, key=lambda t: t[0]) if lively else max(tried, key=lambda t: np.nan_to_num(t[1]))
        edge, speed, mesh, project = best
        return mesh, _described(edge, speed, project)


def _described(edge: float, speed: float, project: Project) -> tuple[str, ...]:
    robot, error, reason, other = project.robot, None, "", ()
    try:
        error, linear = both_elements(project)
        share = f"{100 * linear:.2g} %"
        other = (f"Quadratic tetrahedra: linear ones with as many nodes err by about {share} there.",)
    except PliantError as trouble:
        reason = str(trouble).rstrip(".")
    found = Fit(len(robot.bodies[0].mesh.nodes), robot.ndof, speed, error, reason)
    lines = (f"Mesh: edges of {quantity(edge, 'm', digits=2)}. {found}", *other)
    if error is None or error <= ACCURATE:
        return lines
    finer = 1e3 * max(edge * (ACCURATE / error) ** (1.0 / ORDER), FINER * edge)
    offer = f"`pliant new` with `--size {finer:.2g}mm`, then `pliant reduce` for a fast model of that mesh."
    return (*lines, f"Its error is above {100 * ACCURATE:g} %. More accurate: {offer}")


def both_elements(project: Project) -> tuple[float, float]:
    """Estimated errors of the motions of a project of quadratic tetrahedra: its own, and that of linear ones
    with as many nodes, half as long.

    Both against u ≈ u_h/2 + (u_h/2 − u_h) / (2ᵖ − 1), which the first error estimates too.
    """
    error = discretisation_error(project)  # refuses what is too large
    coarse, fine = motions(project.robot), motions(project.refined())
    limit = fine + (fine - coarse) / (2.0**ORDER - 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)  # that they lock is what is measured
        linear = motions(project.refined(order=1))
    return error, difference(linear, limit)

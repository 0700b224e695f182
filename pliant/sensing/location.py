"""Where external forces act: few among many candidates on the skin, then between candidates.

Every linearisation chooses which candidates may act (`sparse`), so that the choice follows the robot as it deforms; where the force lies
between candidates is then searched for on the skin that they stand for (`refine`), and the forces there are found again from the converged model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, PliantWarning, is_number, unknown_name
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing import readings as reading
from pliant.sensing.estimate import Estimate
from pliant.sensing.estimator import ITERATIONS, ForceEstimator
from pliant.sensing.inputs import check_influence
from pliant.sensing.instruments import FORCES, material_points
from pliant.sensing.places import Places, Skin
from pliant.sensing.refine import refined
from pliant.sensing.sparse import Candidates, chi_square, greedy, lasso, threshold

METHODS = ("greedy", "l1", "threshold")
CHOOSING = 15  # linearisations in which candidates are chosen anew
PASSES, SETTLED = (
    3,
    1e-3,
)  # of refinement; places that move less, as a share of the robot's length, have settled
INF = float("inf")


@dataclass(frozen=True)
class Location:
    """Forces found: `places` (k, 3) at rest [m], `forces` (k, 3) [N], `candidates` (k,) nearest to them, and the estimate there.

    `deviation` (k,) [N] is that of each force's length, along it. Without refinement the places are those of the candidates.
    """

    places: np.ndarray
    forces: np.ndarray
    deviation: np.ndarray
    candidates: np.ndarray
    estimate: Estimate

    def __len__(self) -> int:
        return len(self.places)


class ForceLocator(ForceEstimator):
    """Estimates forces at few of many candidate places.

    candidates: material points or positions at rest (n, 3), or `Places` (see `places`). direction: None for forces of any direction,
    "normal" for pushes along the inward normals of `Places`, or vectors. method: "greedy", "l1", or "threshold", the paper's: all
    candidates at once, and those of more than `level` [N]. most: how many forces at most. chance: of taking noise for a force,
    over all candidates. Further options are those of `ForceEstimator`.
    """

    def __init__(
        self,
        robot: Robot,
        markers: Any,
        candidates: Any,
        *,
        direction: ArrayLike | str | None = None,
        method: str = "greedy",
        most: int = 4,
        chance: float = 1e-3,
        level: float | None = None,
        **options: Any,
    ) -> None:
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        if method == "threshold" and not (is_number(level) and float(level or 0.0) > 0.0):
            raise InputError("level", expected="a force in newtons, for method='threshold'", got=repr(level))
        if isinstance(direction, str):
            if direction != "normal" or not isinstance(candidates, Places):
                expected = "vectors, or 'normal' with candidates from places(robot, spacing)"
                raise InputError("direction", expected=expected, got=repr(direction))
            direction = candidates.inward
            options.setdefault("effort", (0.0, INF))
        points = (
            candidates.points
            if isinstance(candidates, Places)
            else material_points(robot, candidates, "candidates")
        )
        self.method, self.most, self.chance, self.level = method, most, chance, level
        self._directed = direction is not None
        self._where = candidates.where if isinstance(candidates, Places) else None
        super().__init__(robot, markers, points, direction=direction, **options)
        roles = self.model.roles
        if set(roles.unknown_spans) != {FORCES}:
            names = sorted(roles.unknown_spans)
            raise InputError("robot", expected="no Unknown rows beside the candidates", got=str(names))
        self.width = len(roles.unknown) // len(points)
        self.rest = points.rest
        self._choose = self._select

    def converge(
        self,
        frame: Mapping[str, Any] | ArrayLike | None = None,
        commands: Mapping[str, Law] | None = None,
        *,
        iterations: int = ITERATIONS,
    ) -> Estimate:
        """As for known places; a choice that goes to and fro is kept after some linearisations."""
        estimate = super().converge(frame, commands, iterations=min(iterations, CHOOSING))
        if iterations > CHOOSING and estimate.certificate.status == "not converged":
            mask = np.repeat(estimate.effort[FORCES].reshape(-1, self.width).any(axis=1), self.width)
            self._choose = lambda A, b: mask
            try:
                estimate = super().converge(frame, iterations=iterations - CHOOSING)
            finally:
                self._choose = self._select
        return estimate

    def _select(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Which unknown rows act."""
        problem = Candidates(A, b, *self.model.roles.effort, self.width)
        if self.method == "greedy":
            groups = greedy(problem, most=self.most, chance=self.chance)
        elif self.method == "l1":
            groups = lasso(problem, most=self.most, chance=self.chance)
        else:
            groups = threshold(problem, float(self.level or 0.0))
        mask = np.zeros(A.shape[1], bool)
        mask[problem.columns(groups)] = True
        return mask

    def found(self, estimate: Estimate) -> Location:
        """The candidates that carry a force in an estimate."""
        lam = estimate.effort[FORCES].reshape(-1, self.width)
        which = np.flatnonzero(lam.any(axis=1))
        forces, spread = estimate.forces(FORCES)[which], _lengths(estimate, self.width, which)
        return Location(self.rest[which], forces, spread, which, estimate)

    def locate(
        self, frame: Mapping[str, Any] | ArrayLike, commands: Any = None, *, refine: bool = True
    ) -> Location:
        """Converged forces and places for one frame; with `refine`, between candidates."""
        found = self.found(self.converge(frame, commands))
        return self._refined(found, frame) if refine and len(found) else found

    def _refined(self, found: Location, frame: Any) -> Location:
        """The fewest forces between candidates that leave nothing but noise; those that fit best where none do."""
        best = found
        for most in range(1, self.most + 1):
            trial = self._settled(found, frame, most)
            if trial is found or len(trial) < most:
                break
            best = trial
            if self._explained(trial):
                break
        return best

    def _settled(self, found: Location, frame: Any, most: int) -> Location:
        """At most so many forces, searched for again where the forces found lead, while their places move."""
        here, best, where = self, found, np.zeros((0, 3))
        for _ in range(PASSES):
            before, where = where, self._between(here, frame, most)
            if not len(where):
                break
            here = self._with(where)
            estimate = here.converge(frame)
            if estimate.certificate.converged:
                best = self._location(where, estimate)
            if where.shape == before.shape and np.abs(where - before).max() < SETTLED * self.robot.length:
                break
        return best

    def _explained(self, found: Location) -> bool:
        """Whether noise would leave as much, by chance."""
        sure = found.estimate.certificate
        freedom = sure.readings - sure.rank - 2 * len(found)
        squares = sure.misfit**2 * (sure.readings - sure.rank)
        return freedom < 1 or squares <= chi_square(freedom, self.chance)

    def _between(self, here: ForceEstimator, frame: Any, most: int) -> np.ndarray:
        """Places (k, 3) of the fewest forces that explain a frame, by the linear model where an estimator stands."""
        model, roles = here.model, here.model.roles
        values = reading.vector(here.robot, roles, frame)
        seen = np.isfinite(values) & np.isfinite(roles.noise)
        skin = Skin(here.robot, self._where)
        field, b = model.field(here.pose, values, skin)
        return refined(
            skin,
            model.weights.whitened(field, seen),
            model.weights.whitened(b, seen),
            self._skin_directions(skin) if self._directed else None,
            most=most,
            chance=self.chance,
            pushing=bool((roles.effort[0] >= 0.0).all()),
        )

    def _skin_directions(self, skin: Skin) -> np.ndarray:
        """Directions (n, 3) on the skin's nodes: the inward normal where candidates push along it, else that of the nearest candidate."""
        candidates = self.robot.rows[FORCES].interaction.gradient(self.rest)
        nearest = np.linalg.norm(skin.rest[:, None] - self.rest[None], axis=2).argmin(axis=1)
        given = candidates[nearest]
        own = np.linalg.norm(self.rest[:, None] - skin.rest[None], axis=2).argmin(axis=1)
        normal = np.allclose(skin.inward[own], candidates, atol=1e-6)
        return skin.inward if normal else given

    def _with(self, where: np.ndarray) -> ForceEstimator:
        """The same estimator for forces at given places (k, 3)."""
        old, direction = self.robot, None
        rows = {name: row for name, row in old.rows.items() if name != FORCES}
        bare = Robot(old.bodies, rows, gravity=old.gravity, name=old.name, surroundings=old.surroundings)
        if self._directed:
            skin = Skin(old, self._where)
            near = np.linalg.norm(skin.rest[None] - where[:, None], axis=2).argmin(axis=1)
            direction = self._skin_directions(skin)[near]
        low, high = float(self.model.roles.effort[0][0]), float(self.model.roles.effort[1][0])
        options = {"laws": self.model.laws, **self._doubts}
        with (
            warnings.catch_warnings()
        ):  # two forces side by side are hardly told apart: their deviations say so
            warnings.simplefilter("ignore", PliantWarning)
            return ForceEstimator(bare, None, where, direction=direction, effort=(low, high), **options)

    def _location(self, where: np.ndarray, estimate: Estimate) -> Location:
        spread = _lengths(estimate, self.width, np.arange(len(where)))
        nearest = np.linalg.norm(self.rest[None] - where[:, None], axis=2).argmin(axis=1)
        return Location(where, estimate.forces(FORCES), spread, nearest, estimate)

    def _check_question(self) -> None:
        """Candidates may outnumber readings here; those without any influence are still an error."""
        check_influence(self.identifiability())


def _lengths(estimate: Estimate, width: int, groups: np.ndarray) -> np.ndarray:
    """Standard deviation (k,) [N] of each force along itself."""
    lam, covariance, out = estimate.effort[FORCES].reshape(-1, width), estimate.covariance_of(FORCES), []
    for g in groups:
        way = lam[g] / max(float(np.linalg.norm(lam[g])), 1e-300)
        own = slice(g * width, (g + 1) * width)
        out.append(np.sqrt(way @ covariance[own, own] @ way))
    return np.array(out)

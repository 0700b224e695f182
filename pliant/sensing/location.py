"""Where external forces act: few among many candidates on the skin, then between candidates.

Every linearisation chooses which candidates may act (`sparse`), so that the choice follows the robot as it
deforms. Where the forces lie between candidates is then searched for on the skin that they stand for
(`refine`), and the forces there are estimated again with the converged model.
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
from pliant.sensing.estimator import MOST_ITERATIONS, ForceEstimator
from pliant.sensing.identifiability import check_influence
from pliant.sensing.instruments import FORCES, material_points
from pliant.sensing.places import Places, Skin
from pliant.sensing.refine import refined
from pliant.sensing.sparse import Candidates, chi_square, greedy, lasso, threshold

METHODS = ("greedy", "l1", "threshold")
CHOOSING_ITERATIONS = 15  # linearisations in which candidates are chosen anew
REFINEMENT_PASSES = 3
SETTLED_PLACE = 1e-3  # of the robot's length: places that move less between passes have settled
SAME_DIRECTION = 1e-6  # largest difference of unit vectors that count as equal
INF = float("inf")


@dataclass(frozen=True)
class Location:
    """Where forces act: `places` (k, 3) at rest [m], `forces` (k, 3) [N], and the estimate there.

    `candidates` (k,) are those nearest to the places; without refinement the places are theirs. `deviation`
    (k,) [N] is that of each force's length, along it.
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

    `candidates` are material points or positions at rest (n, 3), or `Places` (see `places`). `direction` is
    None for forces of any direction, "normal" for pushes along the inward normals of `Places`, or vectors.
    `method` is "greedy", "l1", or "threshold", the paper's: all candidates at once, and those of more than
    `level` [N]. There are at most `most` forces; `chance` is that of taking noise for a force, over all
    candidates. Further options are those of `ForceEstimator`.
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
        iterations: int = MOST_ITERATIONS,
    ) -> Estimate:
        """As for known places; a choice that goes to and fro is kept after some linearisations."""
        estimate = super().converge(frame, commands, iterations=min(iterations, CHOOSING_ITERATIONS))
        if iterations > CHOOSING_ITERATIONS and estimate.certificate.status == "not converged":
            mask = np.repeat(estimate.effort[FORCES].reshape(-1, self.width).any(axis=1), self.width)
            self._choose = lambda A, b: mask
            try:
                estimate = super().converge(frame, iterations=iterations - CHOOSING_ITERATIONS)
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
        forces, deviation = estimate.forces(FORCES)[which], _deviations(estimate, self.width, which)
        return Location(self.rest[which], forces, deviation, which, estimate)

    def locate(
        self, frame: Mapping[str, Any] | ArrayLike, commands: Any = None, *, refine: bool = True
    ) -> Location:
        """Converged forces and places for one frame; with `refine`, between candidates."""
        start = self.found(self.converge(frame, commands))
        return self._refined(start, frame) if refine and len(start) else start

    def _refined(self, start: Location, frame: Any) -> Location:
        """The fewest forces between candidates that leave nothing but noise, or those that fit best."""
        best = start
        for most in range(1, self.most + 1):
            trial = self._settled(start, frame, most)
            if trial is start or len(trial) < most:
                break
            best = trial
            if self._explained(trial):
                break
        return best

    def _settled(self, start: Location, frame: Any, most: int) -> Location:
        """At most so many forces, their places searched for again from each estimate while they move."""
        here, best, where = self, start, np.zeros((0, 3))
        for _ in range(REFINEMENT_PASSES):
            before, where = where, self._between(here, frame, most)
            if not len(where):
                break
            here = self._with(where)
            estimate = here.converge(frame)
            if estimate.certificate.converged:
                best = self._location(where, estimate)
            tolerance = SETTLED_PLACE * self.robot.length
            if where.shape == before.shape and np.abs(where - before).max() < tolerance:
                break
        return best

    def _explained(self, location: Location) -> bool:
        """Whether noise would leave as much, by chance."""
        certificate = location.estimate.certificate
        freedom = certificate.readings - certificate.rank - 2 * len(location)
        squares = certificate.misfit**2 * (certificate.readings - certificate.rank)
        return freedom < 1 or squares <= chi_square(freedom, self.chance)

    def _between(self, here: ForceEstimator, frame: Any, most: int) -> np.ndarray:
        """Places (k, 3) of the fewest forces that explain a frame, by an estimator's linear model."""
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
        """Directions (n, 3) of forces on the skin's nodes.

        They are the inward normals where candidates push along these, else the direction of the nearest
        candidate.
        """
        candidates = self.robot.rows[FORCES].interaction.gradient(self.rest)
        nearest = np.linalg.norm(skin.rest[:, None] - self.rest[None], axis=2).argmin(axis=1)
        given = candidates[nearest]
        own = np.linalg.norm(self.rest[:, None] - skin.rest[None], axis=2).argmin(axis=1)
        normal = np.allclose(skin.inward[own], candidates, atol=SAME_DIRECTION)
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
        options = {"laws": self.model.laws, **self._options}
        with warnings.catch_warnings():  # of forces side by side, whose deviations are large anyway
            warnings.simplefilter("ignore", PliantWarning)
            return ForceEstimator(bare, None, where, direction=direction, effort=(low, high), **options)

    def _location(self, where: np.ndarray, estimate: Estimate) -> Location:
        deviation = _deviations(estimate, self.width, np.arange(len(where)))
        nearest = np.linalg.norm(self.rest[None] - where[:, None], axis=2).argmin(axis=1)
        return Location(where, estimate.forces(FORCES), deviation, nearest, estimate)

    def _check_question(self) -> None:
        """Candidates may outnumber readings here; those without any influence are still an error."""
        check_influence(self.identifiability())


def _deviations(estimate: Estimate, width: int, groups: np.ndarray) -> np.ndarray:
    """Standard deviation (k,) [N] of each force along itself."""
    lam, covariance, out = estimate.effort[FORCES].reshape(-1, width), estimate.covariance_of(FORCES), []
    for g in groups:
        direction = lam[g] / max(float(np.linalg.norm(lam[g])), 1e-300)
        own = slice(g * width, (g + 1) * width)
        out.append(np.sqrt(direction @ covariance[own, own] @ direction))
    return np.array(out)

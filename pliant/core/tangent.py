"""The tangent of a view, factorised and condensed to some rows, whatever state it is in.

    W = H K⁻¹ Hᵀ,      δ_free = δ + H K⁻¹ (r + Hᵀλ_given)

An exact tangent may be of no use: a robot that would slip off what it touches, buckle, or is past a limit
point. The ladder goes from the exact tangent to the nearest one that is of use, and what was done is part of
the answer. Nobody else catches a bad pivot.

| treatment | what K is |
|---|---|
| exact | the tangent as it is |
| flat | without contact stiffness, as if all that is touched were flat |
| indefinite | as it is, with negative pivots, where the rows that are solved for support those motions |
| unstable | the same where nothing supports them: for an equilibrium that would buckle |
| clamped | without the terms that can make it indefinite |
| shifted | raised on its diagonal until it is positive definite |
| barely shifted | the same by the least that does, which is dearer: for bodies far softer than their cells |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.algebra import Condensation, Factor, NotPositiveDefinite, SparseRows, Updated, factorise
from pliant.core.view import View
from pliant.robot import Robot
from pliant.timing import Stopwatch

if TYPE_CHECKING:
    from pliant.core.scene import Scene

EXACT, FLAT, INDEFINITE, UNSTABLE = "exact", "flat", "indefinite", "unstable"
CLAMPED, SHIFTED, BARELY = "clamped", "shifted", "barely shifted"
SMALLEST_SHIFT, SHIFT_GROWTH, LARGEST_SHIFT = 1e-6, 8.0, 1e3  # of the mean diagonal of K
LEAST_SHIFT, REDUCTION = 1e-13, 30.0  # of a barely shifted tangent, and how it is looked for


class Rows(Protocol):
    """Which rows of a view are condensed, and what loads it besides."""

    def parted(self, view: View) -> tuple[SparseRows, np.ndarray, np.ndarray]:
        """H of the condensed rows, their δ now, and the load (ndof,) with the efforts that are given."""
        ...

    def support(self, condensed: Condensed) -> bool:
        """Whether these rows support all motions in which K is negative, so that it may be used as it is."""
        ...


@dataclass(frozen=True)
class Condensed:
    """A view as its condensed rows see it: δ⁺ = free + W λ.

    here: their δ before the step. shift: by how much the diagonal of K was raised, of its mean.
    """

    view: View
    H: SparseRows
    here: np.ndarray
    rows: Condensation
    factor: Factor
    treatment: str
    shift: float

    @property
    def W(self) -> np.ndarray:
        """H K⁻¹ Hᵀ."""
        return self.rows.W

    @property
    def free(self) -> np.ndarray:
        """δ of the condensed rows where they have no effort."""
        return self.here + self.rows.motion

    @property
    def negative(self) -> int:
        """Negative pivots of K: more than none past a limit point."""
        return self.factor.negative


def condensed(
    scene: Scene,
    view: View,
    rows: Rows,
    ladder: Sequence[str],
    work: Stopwatch,
    finish: Callable[[View, Factor], View] | None = None,
) -> Condensed | None:
    """The view condensed by the first treatment of the ladder that is of use; None if there is none.

    `finish` turns a view and its factor into the view that is condensed: for forces that need the factor.
    """
    for treatment in ladder:
        try:
            treated = work.timed("factorise", _TREATMENTS[treatment], scene, view)
            if treated is None:
                continue
            factor, used, shift = treated
            if finish is not None:
                used = work.timed("condense", finish, used, factor)
            found = work.timed("condense", condense, rows, used, factor, treatment, shift)
            if found.negative == 0 or treatment == UNSTABLE or rows.support(found):
                return found
        except NotPositiveDefinite:
            continue
    return None


def condense(rows: Rows, view: View, factor: Factor, treatment: str = EXACT, shift: float = 0.0) -> Condensed:
    """A view that is factorised, condensed to some rows."""
    H, here, load = rows.parted(view)
    return Condensed(view, H, here, factor.condense(H, load), factor, treatment, shift)


def factor_or_none(robot: Robot, K: np.ndarray, *, indefinite: bool = False) -> Factor | None:
    """K = L S Lᵀ, or None if it is not positive definite (with `indefinite`: if it is singular)."""
    try:
        return factorise(robot.symbolic, K, indefinite=indefinite)
    except NotPositiveDefinite:
        return None


# The treatments: each returns the factor, the view it belongs to, and the shift; None if it does not apply.

Treated = tuple[Factor, View, float] | None


def _changed(factor: Factor, view: View, *, indefinite: bool = False) -> Factor:
    return factor if view.change is None else Updated(factor, *view.change, indefinite=indefinite)


def _exact(scene: Scene, view: View) -> Treated:
    assert view.K is not None
    return _changed(factorise(scene.robot.symbolic, view.K), view), view, 0.0


def _flat(scene: Scene, view: View) -> Treated:
    if view.flat is None:
        return None
    return factorise(scene.robot.symbolic, view.flat), view, 0.0


def _indefinite(scene: Scene, view: View) -> Treated:
    assert view.K is not None
    if scene.support.proximal is not None:  # contacts support it, which come and go
        return None
    factor = factorise(scene.robot.symbolic, view.K, indefinite=True)
    return _changed(factor, view, indefinite=True), view, 0.0


def _clamped(scene: Scene, view: View) -> Treated:
    clamped = scene.clamped(view)
    assert clamped.K is not None
    return factorise(scene.robot.symbolic, clamped.K), clamped, 0.0


def _shifted(scene: Scene, view: View) -> Treated:
    """With the smallest tried multiple of its mean diagonal that makes it positive definite."""
    shift = SMALLEST_SHIFT
    while shift <= LARGEST_SHIFT:
        factor = _raised(scene, view, shift)
        if factor is not None:
            return factor, view, shift
        shift *= SHIFT_GROWTH
    return None


def _barely_shifted(scene: Scene, view: View) -> Treated:
    """With less than that where less will do: slender and nearly incompressible bodies bend at 1e-10."""
    found = _shifted(scene, view)
    while found is not None and LEAST_SHIFT < found[2] <= SMALLEST_SHIFT:
        less = found[2] / REDUCTION
        factor = _raised(scene, view, less)
        if factor is None:
            break
        found = factor, view, less
    return found


def _raised(scene: Scene, view: View, shift: float) -> Factor | None:
    """K raised on its diagonal by a multiple of its mean, factorised; None if it is not positive definite."""
    assert view.K is not None
    K, diagonal = view.K.copy(), scene.robot.pattern.diagonal
    K[diagonal] += shift * diagonal_scale(scene, view)[:, :, None] * np.eye(3)
    return factor_or_none(scene.robot, K)


def diagonal_scale(scene: Scene, view: View) -> np.ndarray:
    """The mean diagonal of K (nb, 3) [N/m]; rotations have what turns the robot as far."""
    assert view.K is not None
    units, diagonal = scene.robot.reach.reshape(-1, 3) ** 2, view.K[scene.robot.pattern.diagonal]
    return units * float((np.abs(np.einsum("bii->bi", diagonal)) / units).mean())


_TREATMENTS: dict[str, Callable[[Scene, View], Treated]] = {
    EXACT: _exact,
    FLAT: _flat,
    INDEFINITE: _indefinite,
    UNSTABLE: _indefinite,
    CLAMPED: _clamped,
    SHIFTED: _shifted,
    BARELY: _barely_shifted,
}

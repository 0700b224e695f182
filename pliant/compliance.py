"""The compliance of a robot at a state, by row names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.algebra import Factor
from pliant.conditions import REDUNDANT
from pliant.core.support import Support
from pliant.core.tangent import factor_or_none
from pliant.core.view import View, linearise
from pliant.errors import InputError, SingularError
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True)
class Compliance:
    """W = H K⁻¹ Hᵀ over all rows: how much δ of one row moves per unit effort of another.

    Where rows hold a body that nothing else does, such as joints and motors at an imposed angle, W is that
    of the robot with the δ of these rows as it is: they themselves do not give way.
    """

    robot: Robot
    matrix: np.ndarray  # (m, m)
    lent: np.ndarray | None = None  # W (m, m) with the stiffness that the rows which hold it lend to K
    holding: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # these rows

    def block(self, row: str, column: str) -> np.ndarray:
        """W of two named rows, (m_row, m_column)."""
        return self.matrix[self.robot.named(row), self.robot.named(column)]

    def __getitem__(self, names: tuple[str, str]) -> np.ndarray:
        if not isinstance(names, tuple) or len(names) != 2:
            raise InputError("block of W", expected="two names, of a row and a column", got=repr(names))
        return self.block(*names)

    def jacobian(self, effectors: Sequence[str] | str, actuators: Sequence[str] | str) -> np.ndarray:
        """J = W_ea W_aa⁻¹: motion of the effectors per displacement imposed on the actuators.

        Rows that hold the robot may be among them; the others of these keep their δ.
        """
        e, a = self._indices(effectors), self._indices(actuators)
        matrix = self.matrix
        if np.isin(a, self.holding).any():
            assert self.lent is not None
            matrix = _with_kept(self.lent, np.setdiff1d(self.holding, a))
        W = matrix[np.ix_(a, a)]
        size = np.sqrt(np.abs(np.diagonal(W)))
        if (size == 0).any() or np.linalg.cond(W / np.outer(size, size)) > 1e12:
            raise SingularError(
                f"Rows {actuators!r} move together: how they share a motion is not determined."
            )
        return np.linalg.solve(W, matrix[np.ix_(a, e)]).T

    def _indices(self, names: Sequence[str] | str) -> np.ndarray:
        names = [names] if isinstance(names, str) else names
        everything = np.arange(len(self.matrix))
        if not isinstance(names, (list, tuple)):
            raise InputError("row names", expected="a name or a list of names", got=repr(names))
        return np.concatenate([everything[:0], *(everything[self.robot.named(n)] for n in names)])


def compliance(robot: Robot, state: State | None = None, laws: Mapping[str, Law] | None = None) -> Compliance:
    """W at a state (default: rest), with the geometric stiffness of the efforts it carries.

    `laws` say, as in `static`, which rows hold a robot that its supports do not: those with an imposed
    displacement.
    """
    state = robot.checked(state)
    linear, factor, support = _factored(robot, state, laws)
    lent = factor.compliance(linear.H)
    matrix = _with_kept(lent, support.rows)
    for array in (matrix, lent):
        array.setflags(write=False)
    return Compliance(robot, matrix, lent if len(support.rows) else None, support.rows)


def answers(robot: Robot, names: Sequence[str]) -> np.ndarray:
    """dq (k, ndof) at rest by a unit effort of each scalar row of `names`, K⁻¹Hᵀ.

    Rows that hold the robot keep their δ, as in `compliance`.
    """
    linear, factor, support = _factored(robot, robot.rest, None)
    held, W = support.rows, factor.compliance(linear.H)
    inverse = _inverse(W[np.ix_(held, held)])
    out = []
    for row in np.concatenate([np.arange(robot.bundle.rows)[robot.named(name)] for name in names]):
        efforts = np.zeros(robot.bundle.rows)
        efforts[row] = 1.0
        efforts[held] -= inverse @ W[held, row]
        out.append(factor.solve(linear.H.transpose_dot(efforts)))
    return np.array(out)


def _factored(robot: Robot, state: State, laws: Mapping[str, Law] | None) -> tuple[View, Factor, Support]:
    """The robot linearised at a state, its K with what rows lend to it factorised, and these rows."""
    support = Support.of(robot, robot.forward(laws).supporting)
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity)
    if linear is None or linear.K is None:
        raise SingularError(f"{robot.name!r}: the state has inverted elements, it has no compliance.")
    support.stiffen(linear.K, linear.H)
    factor = factor_or_none(robot, linear.K, indefinite=True)
    if factor is None:
        raise SingularError(f"{robot.name!r}: the stiffness has no inverse at this state.")
    return linear, factor, support


def _with_kept(W: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """W − W_r W_rr⁻¹ W_rᵀ: the compliance where some rows keep their δ; redundant ones among them may be."""
    if not len(rows):
        return W.copy()
    kept = W - W[:, rows] @ _inverse(W[np.ix_(rows, rows)]) @ W[rows]
    kept[rows] = 0.0
    kept[:, rows] = 0.0
    return 0.5 * (kept + kept.T)


def _inverse(W: np.ndarray) -> np.ndarray:
    """The inverse of W (k, k), scaled; of redundant rows the pseudo-inverse."""
    size = np.sqrt(np.abs(np.diagonal(W)))
    scale = np.where(size > 0.0, size, 1.0)
    units = np.outer(scale, scale)
    return np.linalg.pinv(W / units, rcond=REDUNDANT, hermitian=True) / units if len(W) else W

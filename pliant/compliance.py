"""The compliance of a robot at a state, by row names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.core.tangent import factor_or_none
from pliant.core.view import linearise
from pliant.errors import InputError, SingularError
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True)
class Compliance:
    """W = H K⁻¹ Hᵀ over all rows: how much δ of one row moves per unit effort of another."""

    robot: Robot
    matrix: np.ndarray  # (m, m)

    def block(self, row: str, column: str) -> np.ndarray:
        """W of two named rows, (m_row, m_column)."""
        return self.matrix[self.robot.named(row), self.robot.named(column)]

    def __getitem__(self, names: tuple[str, str]) -> np.ndarray:
        if not isinstance(names, tuple) or len(names) != 2:
            raise InputError("block of W", expected="two names, of a row and a column", got=repr(names))
        return self.block(*names)

    def jacobian(self, effectors: Sequence[str] | str, actuators: Sequence[str] | str) -> np.ndarray:
        """J = W_ea W_aa⁻¹: motion of the effectors per displacement imposed on the actuators."""
        e, a = self._indices(effectors), self._indices(actuators)
        W = self.matrix[np.ix_(a, a)]
        size = np.sqrt(np.abs(np.diagonal(W)))
        if (size == 0).any() or np.linalg.cond(W / np.outer(size, size)) > 1e12:
            raise SingularError(
                f"Rows {actuators!r} move together: how they share a motion is not determined."
            )
        return np.linalg.solve(W, self.matrix[np.ix_(a, e)]).T

    def _indices(self, names: Sequence[str] | str) -> np.ndarray:
        names = [names] if isinstance(names, str) else names
        everything = np.arange(len(self.matrix))
        if not isinstance(names, (list, tuple)):
            raise InputError("row names", expected="a name or a list of names", got=repr(names))
        return np.concatenate([everything[:0], *(everything[self.robot.named(n)] for n in names)])


def compliance(robot: Robot, state: State | None = None) -> Compliance:
    """W at a state (default: rest), with the geometric stiffness of the efforts it carries."""
    state = robot.checked(state)
    robot.check_supported()
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity)
    if linear is None or linear.K is None:
        raise SingularError(f"{robot.name!r}: the state has inverted elements, it has no compliance.")
    factor = factor_or_none(robot, linear.K, indefinite=True)
    if factor is None:
        raise SingularError(f"{robot.name!r}: the stiffness has no inverse at this state.")
    matrix = factor.compliance(linear.H)
    matrix.setflags(write=False)
    return Compliance(robot, matrix)

"""What a body is to the rest of the package: coordinates, an energy, and material points."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.points import Points


class Body(Protocol):
    """A deformable body with coordinates q and changes dq of ndof numbers (rotations: dim q ≠ dim dq).

    It also is a `pliant.points.PointOwner`.
    """

    variational: bool  # r is the gradient of an energy, K its Hessian

    @property
    def q0(self) -> np.ndarray: ...  # coordinates at rest
    @property
    def z0(self) -> np.ndarray: ...  # internal variables at rest, maybe none
    @property
    def ndof(self) -> int: ...
    @property
    def pattern(self) -> Pattern: ...  # sparsity of K, in blocks of three
    @property
    def block_position(self) -> np.ndarray: ...  # (size, 3) [m] where each block acts, for orderings
    @property
    def free(self) -> np.ndarray: ...  # (ndof,) False for locked coordinates

    def linearise(
        self,
        q: np.ndarray,
        gravity: Any,
        z: np.ndarray | None = None,
        *,
        tangent: bool = True,
        clamp: bool = False,
    ) -> tuple[float, np.ndarray | None, np.ndarray | None]:
        """Energy [J], r = f_ext − f_int (ndof,), K = −∂r/∂dq (nb, 3, 3); (inf, None, None) if inadmissible."""
        ...

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq."""
        ...

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes (k, 3) [m], a view."""
        ...

    def points(self, where: Any) -> Points:
        """Material points at rest positions (P, 3) [m]."""
        ...

    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points."""
        ...

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg], at rest unless q says how rotations stand."""
        ...

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: forces of inertia that rotations add; None where nothing turns."""
        ...

    def rigid_modes(self) -> int:
        """Rigid motions that no support holds."""
        ...

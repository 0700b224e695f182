"""What a body is to the rest of the package: coordinates, an energy, and material points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.overstress import Overstress
from pliant.points import Points

Linearised = tuple[float, np.ndarray | None, np.ndarray | None]


class Body(ABC):
    """A deformable body with coordinates q and changes dq of ndof numbers (rotations: dim q ≠ dim dq).

    q holds geometry and nothing else. This is all that is ever asked of a body; what has a value here need not be said
    by every kind. A body also is a `pliant.points.PointOwner`.
    """

    # Coordinates

    q0: np.ndarray  # coordinates at rest
    z0: np.ndarray  # internal variables at rest, maybe none
    ndof: int  # size of dq
    free: np.ndarray  # (ndof,) False for locked coordinates
    pattern: Pattern  # sparsity of K, in blocks of three
    block_position: np.ndarray  # (size, 3) [m] where each block acts, for orderings

    # Where points hang, see `PointOwner`

    node_block: np.ndarray
    node_region: np.ndarray
    node_arm: np.ndarray
    region_block: np.ndarray
    region_frame: np.ndarray
    carriers: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    modes: np.ndarray | None = None

    # What it is made of

    mesh: Any  # nodes (k, 3) [m] and cells, for contact and pictures
    input_mesh: Any = None  # the mesh that was given; None for a body that was made of something else
    material: Any = None  # one, or a dictionary from region to material
    total_mass: float  # [kg]
    node_mass: np.ndarray | None = (
        None  # (k,) [kg] at the nodes; None for a rod, whose mass lies between them
    )
    two_sided: bool = False  # a sheet: both sides of its surface are outside, `half_thickness` from it
    node_fields: tuple[str, ...] = ()  # which of stress and strain it tells at its nodes
    penalty: float = 0.0  # κ [Pa] of incompressible materials
    predicted_size: int = 0  # numbers that `predict` gives

    @property
    def element(self) -> str:
        """The kind of its elements, in a word."""
        return self.mesh.kind

    @property
    def volume(self) -> float:
        """Of the material at rest [m³]."""
        return self.mesh.volume

    # Forces

    @abstractmethod
    def linearise(
        self,
        q: np.ndarray,
        gravity: Any,
        z: np.ndarray | None = None,
        *,
        tangent: bool = True,
        clamp: bool = False,
        predicted: np.ndarray | None = None,
        viscous: Overstress | None = None,
    ) -> Linearised:
        """Energy [J], r = f_ext − f_int (ndof,), K = −∂r/∂dq (nb, 3, 3); (inf, None, None) if inadmissible.

        clamp=True limits the terms of K that can make it indefinite, such as the geometric stiffness of what is
        squeezed. `predicted` is what `predict` said of the change that led to q: the geometric stiffness is then taken
        from there, without it from the forces at q. `viscous` is what a viscoelastic material adds to its stress
        during a step in time. r is always that of the forces at q.
        """

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """(predicted_size,) What a change dq of q is to bring, to first order; at dq = 0 what is there.

        These are section forces of rods and strains of shells. A step of Newton's method turns slender parts and
        thereby stretches them, to second order: the forces after it are far from those that it was meant to bring, and
        K with the latter is the better tangent on the way (Magisano, Leonetti and Garcea 2017). In balance both are the same.
        """
        return np.zeros(0)

    @abstractmethod
    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg], at rest unless q says how rotations stand."""

    @abstractmethod
    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: forces of inertia that rotations add; None where nothing turns."""

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray | None:
        """The elastic stress as a viscous material remembers it, see `Overstress`; None where no viscosity is known."""
        return None

    def update_internal(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Internal variables after an update at q; nothing to update by default."""
        return z

    def volume_error(self, q: np.ndarray) -> np.ndarray:
        """Relative change of volume of the cells that keep a pressure, in the order of z; none by default."""
        return self.z0

    # Motion

    @abstractmethod
    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq."""

    def turned(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq as far as `mass` and `gyroscopic` depend on it."""
        return self.retract(q, dq)

    @abstractmethod
    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes of the mesh (k, 3) [m], a view where q holds them."""

    @abstractmethod
    def rigid_modes(self) -> int:
        """Rigid motions that no support holds."""

    # Material points

    @abstractmethod
    def points(self, where: Any, *, outside: str = "error") -> Points:
        """Material points at rest positions (P, 3) [m]; outside: "error" or "nearest" for those off the body."""

    @abstractmethod
    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points."""

    def half_thickness(self, points: Points) -> np.ndarray:
        """How far (P,) [m] the body reaches on either side of points on its surface: not at all, but for sheets."""
        return np.zeros(len(points))

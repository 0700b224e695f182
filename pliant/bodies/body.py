"""What a body is to the rest of the package: coordinates, an energy, and material points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.overstress import Overstress
from pliant.bodies.support_motion import SupportMotion
from pliant.points import Points

Linearised = tuple[float, np.ndarray | None, np.ndarray | None]


class Body(ABC):
    """A deformable body with coordinates q and changes dq of ndof numbers (rotations: dim q ≠ dim dq).

    q is geometry and nothing else. This class says all that is ever asked of a body; what has a value here
    is the same for most kinds. A body is also a `pliant.points.PointOwner`.
    """

    # Coordinates

    q0: np.ndarray  # coordinates at rest
    z0: np.ndarray  # internal variables at rest, maybe none
    ndof: int  # size of dq
    free: np.ndarray  # (ndof,) False for locked coordinates
    pattern: Pattern  # sparsity of K, in blocks of three
    block_position: np.ndarray  # (size, 3) [m] where each block acts, for orderings

    # What moves its points, see `PointOwner`

    node_block: np.ndarray
    node_region: np.ndarray
    node_arm: np.ndarray
    region_block: np.ndarray
    region_frame: np.ndarray
    carriers: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    modes: np.ndarray | None = None

    # What it is made of

    name: str = ""  # what people call it; "" where nobody has named it
    mesh: Any  # nodes (k, 3) [m] and cells, for contact and pictures
    input_mesh: Any = None  # the mesh that was given; None for a body that was made of something else
    material: Any = None  # one, or a dictionary from region to material
    total_mass: float  # [kg]
    node_mass: np.ndarray | None = None  # (k,) [kg] at the nodes; None for a rod: its mass lies between them
    two_sided: bool = False  # a sheet: both sides of its surface are outside, `half_thickness` from it
    node_fields: tuple[str, ...] = ()  # which of stress and strain it has at its nodes
    penalty: float = 0.0  # κ [Pa] of incompressible materials
    predicted_size: int = 0  # numbers that `predict` gives
    softens: bool = False  # whether its material remembers what it has been through, see `arrived`
    may_fold: bool = False  # whether its cells may fold at no cost, as 20-node hexahedra with 2×2×2 points

    @property
    def element(self) -> str:
        """The kind of its elements, in a word."""
        return self.mesh.kind

    @property
    def volume(self) -> float:
        """Volume of the material at rest [m³]."""
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

        The energy is elastic, less the work of gravity (3,) [m/s²] since rest. clamp=True limits the terms
        of K that can make it indefinite, such as the geometric stiffness of what is compressed. The
        geometric stiffness is that of the section forces or strains `predicted`, see `predict`; without
        them, that of the forces at q. `viscous` is what a viscoelastic material adds to its stress during a
        step in time. r is always that of the forces at q.
        """

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Section forces of rods and strains of shells (predicted_size,) at q ⊕ dq, to first order in dq.

        A step of Newton's method turns slender parts, and thereby stretches them to second order: the forces
        after the step are far from those that it predicted. K with the predicted forces is the better tangent
        until equilibrium, where both are the same (Magisano, Leonetti and Garcea 2017).
        """
        return np.zeros(0)

    @abstractmethod
    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg] at q, which matters if anything turns; at rest without q."""

    @abstractmethod
    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: inertial forces of rotation; None where nothing turns."""

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray | None:
        """The elastic stress as a viscous material remembers it, see `Overstress`; None without viscosity."""
        return None

    def update_internal(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Internal variables after an update at q; nothing to update by default."""
        return z

    def arrived(self, q: np.ndarray | None, z: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Internal variables with what its material has been through, `before` and, if given, at q.

        As they are by default.
        """
        return z

    def volume_error(self, q: np.ndarray) -> np.ndarray:
        """Relative change of volume of the cells that have a pressure, in the order of z; none by default."""
        return self.z0

    # Motion

    @abstractmethod
    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq."""

    @abstractmethod
    def difference(self, q: np.ndarray, to: np.ndarray) -> np.ndarray:
        """dq (ndof,) with q ⊕ dq = `to`, for coordinates that differ by less than half a turn."""

    def support_motion(self, q: np.ndarray) -> SupportMotion | None:
        """How its supports came to where q has them, see `support_motion`; None where they cannot move."""
        return None

    def turned(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq as far as `mass` and `gyroscopic` depend on it."""
        return self.retract(q, dq)

    @abstractmethod
    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes of the mesh (k, 3) [m], a view where q contains them."""

    @abstractmethod
    def rigid_modes(self) -> int:
        """How many rigid motions no support prevents."""

    def fibre_paths(self, q: np.ndarray) -> list[np.ndarray]:
        """Where the points of each thread that is glued to it are, (P, 3) [m]; none by default."""
        return []

    # Material points

    @abstractmethod
    def points(self, where: Any, *, outside: str = "error") -> Points:
        """Material points at rest positions (P, 3) [m]; outside: "error" or "nearest" for those off it."""

    @abstractmethod
    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points."""

    def joined(self, points: Points) -> np.ndarray:
        """Pairs (m, 2) of points that are neighbours on the axis of a rod of it, by number; else none."""
        return np.zeros((0, 2), np.int64)

    def half_thickness(self, points: Points) -> np.ndarray:
        """How far (P,) [m] it extends on either side of points on its surface; zero except for sheets."""
        return np.zeros(len(points))

"""Mass of a solid body: consistent, M_ab = ∫ ρ N_a N_b dV, or lumped at the nodes.

Rigid regions: ẋ = J(q) v, so M(q) = JᵀM_nJ and M v̇ + c(q, v) = forces, with c = JᵀM_n (J̇v). For a node in a
region that turns with ω (in its own axes), J̇v = R(ω × (ω × a)).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import pliant.sparse as sp
from pliant.bodies.inputs import missing_regions
from pliant.bodies.scatter import Plan, lower_pairs, ordered_cells, plan
from pliant.errors import InputError, as_floats
from pliant.mesh import Mesh, quadrature
from pliant.mesh.elements import jacobians, shape

if TYPE_CHECKING:
    from pliant.bodies.assembly import Assembly

DENSEST = 1e9  # [kg/m³]: more is a slip of units, osmium has 2e4
_DENSITY = f"at most {DENSEST:g}, finite and not negative [kg/m³]"
_MASS_DEGREE = {"tet4": 2}  # of quadrature, which integrates N_a N_b det(∂X/∂ξ) exactly; other cells need 5


def cell_densities(density: Any, mesh: Mesh) -> np.ndarray:
    """ρ of each cell (ne,) [kg/m³] from one number, or one per region."""
    if isinstance(density, Mapping):
        missing = missing_regions(density, mesh)
        if missing:
            raise InputError("density", expected=f"a value for region {missing[0]}", got=sorted(density))
        per_cell = as_floats("density", [density[int(region)] for region in mesh.regions], _DENSITY)
    else:
        one = as_floats("density", density, _DENSITY)
        if one.ndim:
            raise InputError(
                "density", expected="one number, or one per region in a dictionary [kg/m³]", got=one.shape
            )
        per_cell = np.full(len(mesh.cells), one)
    if not ((per_cell >= 0) & (per_cell <= DENSEST)).all():
        raise InputError("density", expected=_DENSITY, got=density)
    return per_cell


def cell_masses(mesh: Mesh, density: np.ndarray) -> np.ndarray:
    """Consistent mass of each cell (ne, nn, nn) [kg]."""
    rule = quadrature(mesh.kind, _MASS_DEGREE.get(mesh.kind, 5))
    N = shape(mesh.kind, rule.points)
    w = np.linalg.det(jacobians(mesh.nodes, mesh.cells, mesh.kind, rule.points)) * rule.weights
    return np.einsum("eq,qa,qb->eab", w * density[:, None], N, N, optimize=True)


def node_loads(mesh: Mesh, masses: np.ndarray) -> np.ndarray:
    """∫ ρ N_a dV at each node (k,) [kg], the row sums of M; negative at corners of quadratic cells."""
    return np.bincount(mesh.cells.ravel(), masses.sum(axis=2).ravel(), len(mesh.nodes))


def lumped(mesh: Mesh, masses: np.ndarray) -> np.ndarray:
    """Positive node masses (k,) [kg].

    Row sums for linear cells; for quadratic ones, whose row sums may be negative, the diagonal scaled to the
    mass of the cell (Hinton, Rock, Zienkiewicz).
    """
    if mesh.element.order == 1:
        return node_loads(mesh, masses)
    diagonal = np.einsum("eaa->ea", masses)
    scale = masses.sum(axis=(1, 2)) / np.maximum(diagonal.sum(axis=1), np.finfo(float).tiny)
    return np.bincount(mesh.cells.ravel(), (diagonal * scale[:, None]).ravel(), len(mesh.nodes))


def checked_nodal_mass(nodal_mass: Any, given: Mesh, mesh: Mesh) -> np.ndarray:
    """Node masses (k,) [kg] given on the nodes of either mesh; mid nodes that the first lacks have none."""
    masses = as_floats("nodal_mass", nodal_mass, "numbers [kg]")
    if masses.ndim == 0:
        masses = np.full(len(given.nodes), float(masses))
    if masses.shape not in ((len(given.nodes),), (len(mesh.nodes),)):
        raise InputError("nodal_mass", expected=f"shape ({len(given.nodes)},)", got=masses.shape)
    if not (np.isfinite(masses).all() and (masses >= 0).all()):
        raise InputError("nodal_mass", expected="finite and not negative [kg]", got=float(masses.min()))
    return np.concatenate([masses, np.zeros(len(mesh.nodes) - len(masses))])


class Mass:
    """Masses of a body; `load` (k,) [kg] is what gravity acts on, the row sums of the mass matrix."""

    def __init__(self, given: Mesh, mesh: Mesh, density: Any, nodal_mass: Any, kind: str | None) -> None:
        if kind not in (None, "lumped", "consistent"):
            raise InputError("mass", expected="'lumped' or 'consistent'", got=repr(kind))
        if density is not None and nodal_mass is not None:
            raise InputError("mass", expected="density or nodal_mass", got="both")
        self.mesh, self.known = mesh, density is not None or nodal_mass is not None
        default = "consistent" if mesh.element.order == 2 else "lumped"
        self.kind = "lumped" if nodal_mass is not None else kind or default
        self.density = None if density is None else cell_densities(density, mesh)
        if nodal_mass is not None:
            self.load = checked_nodal_mass(nodal_mass, given, mesh)
        elif self.density is None:
            self.load = np.zeros(len(mesh.nodes))
        else:
            masses = cell_masses(mesh, self.density)
            self.load = lumped(mesh, masses) if self.kind == "lumped" else node_loads(mesh, masses)

    @property
    def total(self) -> float:
        """[kg]."""
        return float(self.load.sum())

    def check(self) -> None:
        """Raise InputError if nothing says what the body weighs."""
        if not self.known:
            raise InputError(
                "body", expected="density=… or nodal_mass=…", got="neither", hint="density=0 is weightless."
            )

    def bind(self, assembly: Assembly) -> None:
        """Say which assembly has the pattern and the coordinates of the mass matrix."""
        self._assembly = assembly

    def matrix(self, q: np.ndarray) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg], rigid regions projected at q; constant if there are none."""
        self.check()
        if len(self._assembly.coordinates.rigid_nodes):
            return self._assembly.project(q, *self._nodal)
        return self._constant

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N]; None where nothing turns."""
        c = self._assembly.coordinates
        if not len(c.region_block):
            return None
        first = 3 * c.region_block[:, None] + 3 + np.arange(3)
        spin = v[first]
        if not spin.any():
            return None
        region, rigid = c.node_region[c.rigid_nodes], c.rigid_nodes
        R = q[c.pose + 12 * np.arange(len(spin))[:, None] + 3 + np.arange(9)].reshape(-1, 3, 3)
        w, arm = spin[region], c.node_arm[rigid]
        inward = np.sum(w * arm, 1, keepdims=True) * w - np.sum(w * w, 1, keepdims=True) * arm  # ω × (ω × a)
        acceleration = np.zeros((len(c.rest), 3))
        acceleration[rigid] = np.einsum("nij,nj->ni", R[region], inward)
        i, j, m = self._rigid_pairs
        count, both = len(c.rest), i != j
        force = np.stack(
            [
                np.bincount(i, m * acceleration[j, k], count)
                + np.bincount(j[both], (m * acceleration[i, k])[both], count)
                for k in range(3)
            ],
            axis=1,
        )
        return self._assembly.carry(q, force.ravel())

    @cached_property
    def _nodal(self) -> tuple[Plan, np.ndarray]:
        """Masses between nodes (blocks, 3, 3) and where they go."""
        i, j, m = self.pairs(self._assembly.coordinates.rank)
        where = plan(i, j, self._assembly.coordinates, self._assembly.pattern)
        used = where.slots >= 0
        total = np.bincount(where.slots[used], m[used], where.blocks)
        return where, total[:, None, None] * np.eye(3)

    @cached_property
    def _constant(self) -> np.ndarray:
        M = self._assembly.project(np.zeros(0), *self._nodal)
        M.setflags(write=False)
        return M

    @cached_property
    def _rigid_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Node pairs of which one at least is in a rigid region, and their masses."""
        c = self._assembly.coordinates
        i, j, m = self.pairs(c.rank)
        rigid = (c.node_region[i] >= 0) | (c.node_region[j] >= 0)
        return i[rigid], j[rigid], m[rigid]

    def of_nodes(self) -> sp.csr_array:
        """m_ij of all nodes (k, k) [kg]: M_ij = m_ij I."""
        k = len(self.load)
        i, j, m = self.pairs(np.arange(k))
        apart = i != j
        both = np.concatenate([i, j[apart]]), np.concatenate([j, i[apart]])
        return sp.csr_array((np.concatenate([m, m[apart]]), both), shape=(k, k))

    def pairs(self, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Node pairs (i, j), rank[i] ≥ rank[j], and the mass m of each, M_ij = m I."""
        if self.kind == "lumped":
            every = np.arange(len(self.load))
            return every, every, self.load
        cells, order, _ = ordered_cells(self.mesh.cells, rank)
        i, j = lower_pairs(cells)
        assert self.density is not None
        a, b = np.tril_indices(cells.shape[1])
        each = np.arange(len(cells))[:, None]
        masses = cell_masses(self.mesh, self.density)[each, order[:, a], order[:, b]]
        return i.ravel(), j.ravel(), masses.ravel()

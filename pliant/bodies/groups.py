"""Cells of one material with everything assembly needs, as flat read-only arrays; one class per kernel."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from pliant.arrays import read_only, read_only_view
from pliant.bodies import corotated, enhanced, fields, generic, hourglass, incompatible, overstress, softening
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.overstress import Overstress
from pliant.bodies.scatter import lower_pairs, ordered_cells
from pliant.materials import Hooke
from pliant.materials.material import Material
from pliant.materials.mullins import Mullins, shape_parameters, virgin
from pliant.mesh import Mesh, quadrature
from pliant.mesh.elements import material_gradients

# Kinds of cells with a kernel of their own for corotated Hooke; each takes seconds to compile.
COROTATED_KINDS = ("tet4", "tet10")


class Group(Protocol):
    """Some cells of a body and the law of their material."""

    material: Any
    chosen: np.ndarray  # (ne,) indices of the cells in the mesh
    pairs: tuple[np.ndarray, np.ndarray]  # nodes of the lower pairs, (ne, nn(nn+1)/2)
    internal: int  # internal variables
    pressures: int  # of them, the first, pressures of cells
    memory: int  # numbers that a viscous stress remembers

    def bind(self, slots: np.ndarray) -> None:
        """Give the pairs their slots in K."""
        ...

    def assemble(
        self,
        q: np.ndarray,
        z: np.ndarray,
        K: np.ndarray,
        f: np.ndarray,
        tangent: bool,
        clamp: bool,
        viscous: Overstress | None = None,
    ) -> float:
        """Add forces to f (3n,) and, if tangent, blocks to K (flat); the energy [J], inf if inadmissible."""
        ...

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The elastic stress as a viscous material remembers it, (memory,)."""
        ...

    def deformation(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (ne, nq, 3, 3) at the points where the stress is meaningful, and their weights (ne, nq) [m³]."""
        ...

    def piola(self, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First Piola–Kirchhoff stress (ne, nq, 3, 3) [Pa] at those points, F and the weights."""
        ...


class _Cells:
    """Cells with nodes in the order of K; G (ne, nq, nn, 3) [1/m] and w (ne, nq) [m³] at their points."""

    internal = 0  # internal variables: pressures of cells, then largest energies at points
    pressures = 0
    G: np.ndarray
    w: np.ndarray
    c: np.ndarray

    def __init__(self, mesh: Mesh, material: Material, chosen: np.ndarray, rank: np.ndarray) -> None:
        self.material = material
        cells, self._order, first = ordered_cells(mesh.cells[chosen], rank)
        self.pairs = lower_pairs(cells)
        self.chosen, self.cells, self.first = read_only(chosen, cells, first)

    def bind(self, slots: np.ndarray) -> None:
        (self.slots,) = read_only(slots)

    def deformation(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = q[3 * self.cells[:, :, None] + np.arange(3)]
        return np.einsum("eai,eqaj->eqij", x, self.G, optimize=True), self.w

    def piola(self, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        F, w = self.deformation(q)
        if isinstance(self.material, Hooke) and not self.material.small_strain:
            return fields.corotated_piola(self.c, F, w), F, w
        P = np.empty_like(F)
        pressure = z[: self.pressures] if self.pressures else np.zeros(len(F))
        fields.piola(self.material.code, self.c, F, *read_only(w, pressure), P)
        return P, F, w


class _Integrated(_Cells):
    """Cells integrated at quadrature points."""

    def __init__(
        self,
        mesh: Mesh,
        material: Material,
        chosen: np.ndarray,
        rank: np.ndarray,
        split: bool,
        degree: int | None,
    ) -> None:
        super().__init__(mesh, material, chosen, rank)
        G, w = self._points(mesh, mesh.cells[chosen], degree)
        G = np.take_along_axis(G, self._order[:, None, :, None], axis=2)
        several = w.shape[1] > 1
        self.split = material.incompressible or (split and several)  # one point is its own mean
        self.G, self.w = read_only(G, w)
        self.c = material.parameters(self.split)
        self.memory = overstress.SIZE * w.size
        self._turned = not getattr(material, "small_strain", False)

    def _points(self, mesh: Mesh, cells: np.ndarray, degree: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (ne, nq, nn, 3) [1/m] and weights (ne, nq) [m³] at the points, nodes in mesh order."""
        rule = quadrature(mesh.kind, degree)
        return material_gradients(mesh.nodes, cells, mesh.kind, rule.points, rule.weights)

    def assemble(self, q, z, K, f, tangent, clamp, viscous=None) -> float:
        if viscous is None:
            return self._elastic(q, z, self.w, K, f, tangent, clamp)
        w, S = read_only(viscous.scale * self.w, viscous.stress.reshape(*self.w.shape, overstress.SIZE))
        energy = self._elastic(q, z, w, K, f, tangent, clamp)  # linear in w
        args = (q, self.cells, self.first, self.G, self.w, self.slots, S, self._turned, tangent, K, f)
        overstress.add_stress(*args)
        return energy

    def _elastic(self, q, z, w, K, f, tangent, clamp) -> float:
        raise NotImplementedError

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        S = np.empty((*self.w.shape, overstress.SIZE))
        P, F, _ = self.piola(q, z)
        overstress.second_stress(np.ascontiguousarray(F), P, self._turned, S)
        return S.ravel()


class Corotated(_Integrated):
    """Hooke's law turned with each quadrature point."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._shape, self._points = (0,) * self.G.shape[2], (0,) * self.G.shape[1]

    def _elastic(self, q, z, w, K, f, tangent, clamp) -> float:
        return corotated.assemble(
            self._shape,
            self._points,
            q,
            self.cells,
            self.first,
            self.G,
            w,
            self.slots,
            self.c,
            clamp,
            tangent,
            K,
            f,
        )

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        S = np.empty((*self.w.shape, overstress.SIZE))
        overstress.corotated_stress(read_only_view(q), self.cells, self.G, self.w, self.c, S)
        return S.ravel()


class Generic(_Integrated):
    """Any law; an incompressible one has a pressure per cell, one that softens an energy per point."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.pressures = len(self.cells) if self.material.incompressible else 0
        self.softens = isinstance(self.material, Mullins)
        self.internal = self.pressures + (self.w.size if self.softens else 0)
        self._shape = self.material.code, *read_only(shape_parameters(self.c))
        self._loss = self.material.softening if isinstance(self.material, Mullins) else ()
        (self._no_pressure,) = read_only(np.zeros(len(self.cells)))

    def _elastic(self, q, z, w, K, f, tangent, clamp) -> float:
        energy = generic.assemble(
            q,
            self.cells,
            self.first,
            self.G,
            w,
            self.slots,
            self.material.code,
            self.c,
            read_only_view(z[: self.pressures]) if self.pressures else self._no_pressure,
            self.split,
            clamp,
            tangent,
            K,
            f,
        )
        if not self.softens or not energy < math.inf:
            return energy
        cells = (q, self.cells, self.first, self.G, w, self.slots)
        law = (*self._shape, self._largest(z), *self._loss)
        return energy + softening.assemble(*cells, *law, tangent, K, f)

    def _largest(self, z: np.ndarray) -> np.ndarray:
        """The largest energies (ne, nq) [J/m³] among internal variables."""
        return read_only_view(z[self.pressures :].reshape(self.w.shape))

    def piola(self, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        P, F, w = super().piola(q, z)
        if self.softens:
            softening.add_piola(*self._shape, F, self._largest(z), *self._loss, P)
        return P, F, w

    def arrived(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """z with the energies at q where they are the largest so far."""
        if not self.softens:
            return z
        largest = np.array(self._largest(z))
        softening.remember(*self._shape, np.ascontiguousarray(self.deformation(q)[0]), largest)
        return np.concatenate([z[: self.pressures], largest.ravel()])

    def dilatation(self, q: np.ndarray) -> np.ndarray:
        """Mean dilatation ϑ̄ of each cell (ne,)."""
        theta = np.empty(len(self.cells))
        generic.mean_dilatations(read_only_view(q), self.cells, self.G, self.w, self.material.code, theta)
        return theta


class Stabilised(Generic):
    """Eight-node hexahedra of laws other than Hooke's: the law at their mean deformation, and `hourglass`.

    Their one point stands for the mean over the cell.
    """

    def __init__(self, mesh: Mesh, material: Material, chosen: np.ndarray, rank: np.ndarray) -> None:
        super().__init__(mesh, material, chosen, rank, True, None)
        # The mean is that of one point. Naming its pressure apart lets a clamped tangent limit it.
        self.split, self.c = True, material.parameters(True)
        D = enhanced.rest_stiffness(material.tangent(np.eye(3)))
        gamma, C = enhanced.hourglasses(mesh.nodes, mesh.cells[chosen], D)
        slopes = enhanced.hourglass_gradients(mesh.nodes, mesh.cells[chosen], gamma)
        gamma = np.take_along_axis(gamma, self._order[:, None, :], axis=2)
        shear = float(np.trace(D[3:, 3:])) / 3.0
        self.gamma, self.slopes, self.C, self.flat = read_only(
            gamma, slopes, C, shear * self.w[:, 0] / slopes.shape[1]
        )
        self.memory += C.shape[1] * 3 * len(self.cells)
        (self._no_forces,) = read_only(np.zeros((0, enhanced.HOURGLASSES, 3)))

    def _points(self, mesh: Mesh, cells: np.ndarray, degree: int | None) -> tuple[np.ndarray, np.ndarray]:
        G, volume = enhanced.mean_gradients(mesh.nodes, cells)
        return G[:, None], volume[:, None]

    def assemble(self, q, z, K, f, tangent, clamp, viscous=None) -> float:
        C, c, N, stress = self.C, self.flat, self._no_forces, None
        if viscous is not None:
            stress, forces = np.split(viscous.stress, [overstress.SIZE * self.w.size])
            C, c, N = read_only(viscous.scale * C, viscous.scale * c, forces.reshape(len(self.cells), -1, 3))
            stress = Overstress(viscous.scale, stress)
        energy = super().assemble(q, z, K, f, tangent, clamp, stress)
        if not energy < math.inf:
            return energy
        cells = (q, self.cells, self.first, self.G, self.gamma, self.slopes)
        return energy + hourglass.assemble(*cells, C, c, N, self.slots, clamp, tangent, K, f)

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        N = np.empty((len(self.cells), enhanced.HOURGLASSES, 3))
        parts = (self.G, self.gamma, self.slopes, self.C, self.flat)
        hourglass.local_forces(read_only_view(q), self.cells, *parts, N)
        return np.concatenate([super().stress_memory(q, z), N.ravel()])


class Incompatible(_Cells):
    """Eight-node hexahedra of Hooke's law with incompatible modes.

    Their one point is the centre: elsewhere the strain of the nodes alone would show the locking that the
    modes remove.
    """

    material: Hooke

    def __init__(self, mesh: Mesh, material: Hooke, chosen: np.ndarray, rank: np.ndarray) -> None:
        super().__init__(mesh, material, chosen, rank)
        cells = mesh.cells[chosen]
        D = enhanced.isotropic(material.lame, material.shear_modulus)
        K0 = enhanced.condensed_stiffness(mesh.nodes, cells, D)
        K0 = K0.reshape(len(cells), 8, 3, 8, 3).transpose(0, 1, 3, 2, 4)
        a, b = (self._order[:, side] for side in np.tril_indices(8))
        each = np.arange(len(cells))[:, None]
        centre = np.take_along_axis(
            enhanced.centre_gradients(mesh.nodes, cells), self._order[:, :, None], axis=1
        )
        self.K0, self.centre, self.X = read_only(K0[each, a, b], centre, mesh.nodes.ravel())
        self.G, self.w = read_only(centre[:, None], mesh.cell_volumes[chosen][:, None])
        self.c = material.parameters(split=False)
        self.memory = 3 * self.cells.size
        (self._no_forces,) = read_only(np.zeros((0, 8, 3)))

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        N, turned = np.empty((*self.cells.shape, 3)), not self.material.small_strain
        incompatible.local_forces(read_only_view(q), self.X, self.cells, self.centre, self.K0, turned, N)
        return N.ravel()

    def assemble(self, q, z, K, f, tangent, clamp, viscous=None) -> float:
        K0, N = self.K0, self._no_forces
        if viscous is not None:
            K0, N = read_only(viscous.scale * K0, viscous.stress.reshape(-1, 8, 3))
        return incompatible.assemble(
            q,
            self.X,
            self.cells,
            self.first,
            self.centre,
            K0,
            N,
            self.slots,
            not self.material.small_strain,
            clamp,
            tangent,
            K,
            f,
        )


def make_groups(
    mesh: Mesh,
    materials: dict[int, Material] | Material,
    coordinates: Coordinates,
    *,
    split: bool,
    incompatible_modes: bool,
    degree: int | None,
) -> list[Group]:
    """The cells of a mesh grouped by material, without those inside a rigid region, which never deform."""
    inside = coordinates.node_region[mesh.cells]
    active, rank = (inside[:, 0] < 0) | np.ptp(inside, axis=1).astype(bool), coordinates.rank
    if isinstance(materials, Material):
        parts = [(virgin(materials), np.flatnonzero(active))]
    else:
        parts = [
            (virgin(law), np.flatnonzero(active & (mesh.regions == region)))
            for region, law in materials.items()
        ]
    groups: list[Group] = []
    for law, chosen in parts:
        if not len(chosen):
            continue
        hooke = isinstance(law, Hooke)
        if mesh.kind == "hex8" and incompatible_modes:
            made = Incompatible(mesh, law, chosen, rank) if hooke else Stabilised(mesh, law, chosen, rank)
            groups.append(made)
        elif hooke and not law.small_strain and mesh.kind in COROTATED_KINDS:
            groups.append(Corotated(mesh, law, chosen, rank, split, degree))
        else:
            groups.append(Generic(mesh, law, chosen, rank, split, degree))
    return groups

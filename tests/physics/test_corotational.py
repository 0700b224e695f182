"""Linear corotational tetrahedra against an independent code in plain NumPy and SciPy.

Each cell has the textbook stiffness K₀ = V BᵀDB of its rest shape, in Voigt form, and its rotation R, the
polar factor of F. Its force is R K₀ (Rᵀx − X); the tangent of a cell is taken by finite differences of that
force, so nothing here shares a formula with the package. Cables pull their points towards each other, with
barycentric weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.sparse.linalg import spsolve

import pliant as pl


def stiffness(X: np.ndarray, young: float, poisson: float) -> np.ndarray:
    """K₀ (12, 12) of a tetrahedron with corners X (4, 3)."""
    corners = np.column_stack([np.ones(4), X])
    gradient = np.linalg.inv(corners)[1:].T  # of the four hat functions, (4, 3)
    volume = np.linalg.det(corners) / 6
    B = np.zeros((6, 12))
    for a, (x, y, z) in enumerate(gradient):
        B[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
    normal = np.full((3, 3), poisson) + np.diag([1 - 2 * poisson] * 3)
    D = block_diag(normal, (0.5 - poisson) * np.eye(3)) * young / ((1 + poisson) * (1 - 2 * poisson))
    return abs(volume) * B.T @ D @ B


@dataclass
class Reference:
    """Nodes X (k, 3), cells (ne, 4), clamped nodes (k,), forces of gravity (k, 3) [N], and cables' points."""

    X: np.ndarray
    cells: np.ndarray
    clamped: np.ndarray
    weight: np.ndarray
    young: float
    poisson: float
    paths: list[np.ndarray]

    def __post_init__(self) -> None:
        self.K0 = np.array([stiffness(self.X[c], self.young, self.poisson) for c in self.cells])
        rest = self.X[self.cells]
        self.inverse = np.linalg.inv(np.swapaxes(rest[:, 1:] - rest[:, :1], 1, 2))
        self.weights = [np.array([self.locate(point) for point in path]) for path in self.paths]

    def locate(self, point: np.ndarray) -> np.ndarray:
        """Weights (k,) of the nodes of a cell around a point: barycentric coordinates."""
        local = np.einsum("eij,ej->ei", self.inverse, point - self.X[self.cells[:, 0]])
        shares = np.column_stack([1 - local.sum(axis=1), local])
        cell = shares.min(axis=1).argmax()
        assert shares[cell].min() > -1e-9
        row = np.zeros(len(self.X))
        row[self.cells[cell]] = shares[cell]
        return row

    def cell_forces(self, x: np.ndarray) -> np.ndarray:
        """R K₀ (Rᵀx − X) of every cell, (ne, 12), for its corners x (ne, 4, 3)."""
        F = np.swapaxes(x[:, 1:] - x[:, :1], 1, 2) @ self.inverse
        U, _, Vt = np.linalg.svd(F)
        assert (np.linalg.det(U @ Vt) > 0).all()
        R = U @ Vt
        local = (np.einsum("eji,eaj->eai", R, x) - self.X[self.cells]).reshape(-1, 12)
        force = np.einsum("eab,eb->ea", self.K0, local).reshape(-1, 4, 3)
        return np.einsum("eij,eaj->eai", R, force).reshape(-1, 12)

    def cell_tangents(self, x: np.ndarray, step: float = 1e-7) -> np.ndarray:
        """(ne, 12, 12) by central differences."""
        out = np.empty((len(x), 12, 12))
        for k in range(12):
            change = np.zeros((4, 3))
            change.flat[k] = step
            out[:, :, k] = (self.cell_forces(x + change) - self.cell_forces(x - change)) / (2 * step)
        return out

    def cable(self, n: int, x: np.ndarray) -> tuple[float, np.ndarray, sp.csr_array]:
        """Length of cable n, its gradient (3k,) and Hessian (3k, 3k)."""
        weights = np.diff(self.weights[n], axis=0)  # of the segments, (segments, k)
        span = weights @ x
        length = np.linalg.norm(span, axis=1)
        u = span / length[:, None]
        across = [(np.eye(3) - np.outer(d, d)) / l for d, l in zip(u, length, strict=True)]
        J = sp.csr_array(np.kron(weights, np.eye(3)))  # ∂span/∂x
        return float(length.sum()), J.T @ u.ravel(), J.T @ sp.block_diag(across) @ J

    def solve(self, *, tension=None, pulled=None, steps: int = 4) -> tuple[np.ndarray, np.ndarray]:
        """Node positions and tensions, for given tensions [N] or pulled lengths [m]; loads are ramped."""
        x, count = self.X.copy(), len(self.paths)
        lam = np.zeros(count)
        for share in np.arange(1, steps + 1) / steps:
            for _ in range(40):
                step = self._newton(x, lam, share, tension, pulled)
                if step < 1e-11:
                    break
            else:
                raise AssertionError("the reference did not converge")
        return x, lam

    def _newton(self, x, lam, share, tension, pulled) -> float:
        """One step in place, the tensions bordering K where lengths are given; returns its size."""
        k = len(x)
        dof = (3 * self.cells[:, :, None] + np.arange(3)).reshape(-1, 12)
        r = share * self.weight.ravel().copy()
        np.subtract.at(r, dof, self.cell_forces(x[self.cells]))
        i, j = np.repeat(dof, 12, axis=1), np.tile(dof, (1, 12))
        entries = self.cell_tangents(x[self.cells]).ravel()
        K = sp.csr_array((entries, (i.ravel(), j.ravel())), shape=(3 * k, 3 * k))
        lines = [self.cable(n, x) for n in range(len(self.paths))]
        rest = [self.cable(n, self.X)[0] for n in range(len(self.paths))]
        if tension is not None:
            lam[:] = share * np.asarray(tension)
        for value, (_, gradient, hessian) in zip(lam, lines, strict=True):
            r -= value * gradient
            K = K + value * hessian
        free = np.flatnonzero(np.repeat(~self.clamped, 3))
        K, G = K[free][:, free], np.array([line[1][free] for line in lines])
        if tension is not None:
            dx = spsolve(K.tocsc(), r[free])
        else:
            gap = np.array([a[0] - b + share * d for a, b, d in zip(lines, rest, pulled, strict=True)])
            full = sp.block_array([[K, sp.csr_array(G.T)], [sp.csr_array(G), None]])
            solution = spsolve(full.tocsc(), np.concatenate([r[free], -gap]))
            dx = solution[: len(free)]
            lam += solution[len(free) :]
        x.flat[free] += dx
        return float(np.abs(dx).max())


def finger() -> tuple[pl.mesh.Mesh, list[np.ndarray]]:
    shape = {"width": 0.015, "height": 0.015, "notches": 3, "notch": 0.004}
    return pl.mesh.finger(0.06, depth=0.009, size=0.008, **shape), [pl.mesh.finger_cable(0.06, **shape)]


def trunk() -> tuple[pl.mesh.Mesh, list[np.ndarray]]:
    shape = {"length": 0.1, "discs": 4, "thickness": 0.008}
    return pl.mesh.trunk(around=8, size=0.02, **shape), pl.mesh.trunk_cables(2, turn=0.3, **shape)


ROBOTS = {"finger": (finger, (1, 0, 0)), "trunk": (trunk, (0, 0, 1))}
YOUNG, POISSON, DENSITY = 3e5, 0.4, 1080.0


def pair(name: str, gravity: np.ndarray) -> tuple[Reference, pl.Robot, np.ndarray]:
    """The same robot in both codes, and the point that is its tip."""
    build, axis = ROBOTS[name]
    mesh, paths = build()
    clamped = pl.mesh.near_plane(mesh, (0, 0, 0), axis)
    mass = np.full(len(mesh.nodes), DENSITY * mesh.volume / len(mesh.nodes))
    body = pl.Solid(mesh, pl.Hooke(YOUNG, POISSON), nodal_mass=mass, fixed=clamped, order=1)
    tip = mesh.nodes[mesh.nodes @ axis > (mesh.nodes @ axis).max() - 1e-9].mean(axis=0)
    rows = {f"cable {n}": pl.Row(pl.Cable(body.points(path)), pl.Bounded()) for n, path in enumerate(paths)}
    rows["tip"] = pl.Row(pl.Position(body.points([tip])))
    reference = Reference(mesh.nodes, mesh.cells, clamped, mass[:, None] * gravity, YOUNG, POISSON, paths)
    return reference, pl.Robot(body, rows, gravity=gravity, name=name), tip


GRAVITIES = {"weightless": np.zeros(3), "heavy": np.array([3.0, 4.0, -9.81])}
COMMANDS = {
    "finger": {"tension": [0.6], "pulled": [0.006]},
    "trunk": {"tension": [1.2, 0.5], "pulled": [0.012, 0.002]},
}


@pytest.mark.parametrize("command", ["tension", "pulled"])
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("gravity", GRAVITIES)
def test_equilibria_agree(name, command, gravity, within):
    reference, robot, tip = pair(name, GRAVITIES[gravity])
    values = COMMANDS[name][command]
    x, tension = reference.solve(**{command: values})
    known = "effort" if command == "tension" else "displacement"
    result = pl.static(robot, {f"cable {n}": pl.Known(**{known: v}) for n, v in enumerate(values)})
    moved = np.linalg.norm(x - reference.X, axis=1).max()
    assert moved > 0.1 * np.ptp(reference.X, axis=0).max()
    within((result.positions - x) / moved, 1e-9, "positions, of the largest motion")
    expected = reference.locate(tip) @ x
    np.testing.assert_allclose(result.displacement["tip"], expected, atol=1e-9 * moved)
    efforts = [float(result.effort[f"cable {n}"][0]) for n in range(len(values))]
    within(np.array(efforts) / tension - 1, 1e-9, "tension")


def test_forces_agree_cell_by_cell():
    """Forces of the mesh under a random deformation, and the cell stiffness against the package's tangent."""
    reference, robot, _ = pair("finger", np.zeros(3))
    body, rng = robot.body, np.random.default_rng(1)
    x = reference.X + 2e-4 * rng.standard_normal(reference.X.shape)
    forces = np.zeros(reference.X.shape)
    np.add.at(forces, reference.cells, reference.cell_forces(x[reference.cells]).reshape(-1, 4, 3))
    np.testing.assert_allclose(body.reactions(x.ravel()), forces, atol=1e-10 * np.abs(forces).max())
    K = body.pattern.to_csr(body.linearise(body.q0, np.zeros(3))[2]).toarray()
    dof = (3 * reference.cells[:, :, None] + np.arange(3)).reshape(-1, 12)
    assembled = np.zeros((3 * len(x),) * 2)
    for rows, block in zip(dof, reference.K0, strict=True):
        assembled[np.ix_(rows, rows)] += block
    free = np.flatnonzero(np.repeat(~reference.clamped, 3))
    np.testing.assert_allclose(K, assembled[np.ix_(free, free)], atol=1e-10 * np.abs(K).max())

"""A manufactured solution: a smooth displacement of a cube, and the body force that makes it an equilibrium.

u(X) is given with ∇u; the force b = −Div P(I + ∇u) follows by complex steps, exact to rounding. Nodes on the
faces are put where u says, b acts through its consistent nodal loads, and the error is ‖u_h − u‖ / ‖u‖ in L²
by a quadrature of degree five.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.algebra import analyse, factorise
from pliant.bodies import Solid
from pliant.errors import ConvergenceError, InputError
from pliant.materials import Hooke, NeoHookean
from pliant.mesh import Mesh, box, quadrature
from pliant.mesh.elements import material_gradients, shape

SIDE = 0.1  # [m]
AMPLITUDE = 0.05  # of u over the side: strains of about a tenth
COMPLEX_STEP = 1e-25


def _general(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[list, list]:
    """Rows of u and of ∇u, in units of the amplitude: every component of the strain varies."""
    a, b, c, e = 2 * x + y, x - 2 * y, 1.5 * z + 0.3, np.exp(y / 2)
    u = [np.sin(a) * np.cos(z), np.cos(b) * np.sin(c), np.sin(x + 2 * z) * e]
    gradient = [
        [2 * np.cos(a) * np.cos(z), np.cos(a) * np.cos(z), -np.sin(a) * np.sin(z)],
        [-np.sin(b) * np.sin(c), 2 * np.sin(b) * np.sin(c), 1.5 * np.cos(b) * np.cos(c)],
        [np.cos(x + 2 * z) * e, 0.5 * np.sin(x + 2 * z) * e, 2 * np.cos(x + 2 * z) * e],
    ]
    return u, gradient


def _swirl(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[list, list]:
    """The same for a field without divergence: what a body that keeps its volume can do at small strain."""
    a, b, c, nothing = 2 * y + z, 1.5 * x - z, x + 2 * y, 0 * x
    u = [np.sin(a), np.cos(b), np.sin(c)]
    gradient = [
        [nothing, 2 * np.cos(a), np.cos(a)],
        [-1.5 * np.sin(b), nothing, np.sin(b)],
        [np.cos(c), 2 * np.cos(c), nothing],
    ]
    return u, gradient


FIELDS = {"general": _general, "swirl": _swirl}


def displacement(X: np.ndarray, field: str) -> np.ndarray:
    """u (n, 3) [m] at X (n, 3) [m]."""
    return AMPLITUDE * SIDE * np.stack(FIELDS[field](*(X.T / SIDE))[0], axis=1)


def displacement_gradient(X: np.ndarray, field: str) -> np.ndarray:
    """∂u_i/∂X_j (n, 3, 3)."""
    return AMPLITUDE * np.stack([np.stack(row, axis=1) for row in FIELDS[field](*(X.T / SIDE))[1]], axis=1)


def piola(F: np.ndarray, material: Hooke | NeoHookean) -> np.ndarray:
    """First Piola–Kirchhoff stress (n, 3, 3) [Pa], written out again for complex F (n, 3, 3)."""
    mu, lam, unit = material.shear_modulus, material.lame, np.eye(3)
    if isinstance(material, NeoHookean):
        inverse = np.swapaxes(np.linalg.inv(F), 1, 2)
        return mu * (F - inverse) + lam * np.log(np.linalg.det(F))[:, None, None] * inverse
    if not material.small_strain:
        raise InputError("material", expected="neo-Hookean, or Hooke for small strain", got=material)
    strain = 0.5 * (F + np.swapaxes(F, 1, 2)) - unit
    return 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * unit


def body_force(X: np.ndarray, material: Hooke | NeoHookean, field: str) -> np.ndarray:
    """b = −∂P_ij/∂X_j (n, 3) [N/m³]."""
    b, h = np.zeros(X.shape), COMPLEX_STEP * SIDE
    for j, axis in enumerate(np.eye(3)):
        P = piola(np.eye(3) + displacement_gradient(X + 1j * h * axis, field), material)
        b -= np.imag(P[:, :, j]) / h
    return b


def cube(kind: str, cells: int, order: int) -> Mesh:
    """The cube with its inner nodes moved smoothly, so that no cells are alike; its faces stay flat."""
    mesh = box((SIDE,) * 3, cells=(cells,) * 3, kind=kind)
    bump = np.sin(np.pi * mesh.nodes / SIDE).prod(axis=1)
    moved = mesh.nodes + 0.06 * SIDE * bump[:, None] * np.array([1.0, -0.7, 0.8])
    mesh = Mesh(moved, mesh.cells, mesh.kind)
    return mesh.quadratic() if order == 2 else mesh


def error(
    material: Hooke | NeoHookean,
    *,
    kind: str,
    cells: int,
    order: int = 1,
    field: str = "general",
    **options: Any,
) -> float:
    """‖u_h − u‖ / ‖u‖ on `cells`³ hexahedra, or on cubes cut into tetrahedra; `options` of Solid."""
    mesh = cube(kind, cells, order)
    on_face = (np.abs(mesh.nodes - SIDE / 2) > (1 - 1e-9) * SIDE / 2).any(axis=1)
    body = Solid(mesh, material, fixed=on_face, order=order, **options)
    rule = quadrature(mesh.kind, 5)
    N = shape(mesh.kind, rule.points)
    dV = material_gradients(mesh.nodes, mesh.cells, mesh.kind, rule.points, rule.weights)[1]
    X = np.einsum("qa,eai->eqi", N, mesh.nodes[mesh.cells]).reshape(-1, 3)
    b = body_force(X, material, field).reshape(*dV.shape, 3)
    load = np.zeros(mesh.nodes.shape)
    np.add.at(load, mesh.cells, np.einsum("qa,eqi,eq->eai", N, b, dV))
    start = (mesh.nodes + displacement(mesh.nodes, field)).ravel()  # holds on the faces, and inverts no cell
    q = _equilibrium(body, start, load[body.node_block >= 0].ravel())
    exact = displacement(X, field).reshape(*dV.shape, 3)
    difference = np.einsum("qa,eai->eqi", N, (body.positions(q) - mesh.nodes)[mesh.cells]) - exact
    return float(
        np.sqrt(
            np.einsum("eqi,eqi,eq", difference, difference, dV) / np.einsum("eqi,eqi,eq", exact, exact, dV)
        )
    )


def _equilibrium(body: Solid, q: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Newton from q under dead loads (ndof,) [N]."""
    symbolic = analyse(body.pattern, body.block_position)
    for _ in range(20):
        _, r, K = body.linearise(q, np.zeros(3))
        if r is None or K is None:
            break
        dq = factorise(symbolic, K).solve(r + load)
        q = body.retract(q, dq)
        if np.abs(dq).max() < 1e-10 * SIDE:
            return q
    raise ConvergenceError("The manufactured solution was not reached.")


def rate(cells: Sequence[int], errors: Sequence[float]) -> float:
    """The order p of the least-squares fit error ∝ cells^(−p)."""
    return -float(np.polyfit(np.log(cells), np.log(errors), 1)[0])

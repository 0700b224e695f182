"""Shells, membranes and nets that their tests share, and ways to move them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.algebra import analyse, factorise
from pliant.bodies import Hinge, Membrane, Net, Rigid, Shell, Strings
from pliant.materials import Incompressible, Orthotropic

SOFT = pl.Hooke(young=1e6, poisson=0.4)
RUBBER = pl.NeoHookean(young=1e6, poisson=0.45)
NONE = np.zeros(3)


def crumpled(size: float = 0.1, cells: int = 3, rise: float = 0.01, seed: int = 0) -> pl.mesh.Sheet:
    """A sheet with nodes moved at random, in its plane and (by `rise` [m]) out of it."""
    rng = np.random.default_rng(seed)
    flat = pl.mesh.sheet((size, size), cells=(cells, cells))
    inside = ((flat.nodes[:, :2] > 1e-9) & (flat.nodes[:, :2] < size - 1e-9)).all(axis=1)
    shift = 0.25 * size / cells * rng.uniform(-1, 1, (len(flat.nodes), 3)) * inside[:, None]
    shift[:, 2] = rise * rng.uniform(-1, 1, len(flat.nodes))
    return flat.with_nodes(flat.nodes + shift)


def left(x: np.ndarray) -> np.ndarray:
    return x[:, 0] < 1e-9


def half_sphere() -> pl.mesh.Sheet:
    return pl.mesh.sphere_sheet(0.05, cells=2, part="half")


def _two_regions(**options: Any) -> Shell:
    sheet = crumpled()
    sheet = sheet.with_regions(sheet.centres[:, 0] > 0.05)
    fabric = Orthotropic(
        young=(2e6, 1e6, 5e5), poisson=(0.3, 0.1, 0.1), shear=(4e5, 3e5, 3e5), axes=np.eye(3)
    )
    laws, thickness, density = {0: RUBBER, 1: fabric}, {0: 0.002, 1: 0.001}, {0: 1000.0, 1: 500.0}
    return Shell(sheet, laws, thickness, density=density, fixed=left, **options)


BODIES: dict[str, Any] = {
    "flat shell": lambda: Shell(crumpled(rise=0.0), SOFT, 0.002, density=1000, fixed=left),
    "curved shell": lambda: Shell(half_sphere(), SOFT, 0.002, density=1000, fixed=lambda x: x[:, 2] < 1e-9),
    "rubber shell": lambda: Shell(crumpled(), RUBBER, 0.002, density=1000, fixed=left, prestretch=1.05),
    "shell of two": _two_regions,
    "thick shell": lambda: Shell(
        half_sphere(),
        SOFT,
        0.008,
        density=1000,
        theory="thick",
        rigid=Rigid(lambda x: x[:, 2] < 1e-9, name="rim", joint=Hinge(axis=(1, 2, 0), centre=(0, 0, 0))),
    ),
    "thick shell of two": lambda: _two_regions(theory="thick"),
    "shell with rigid cap": lambda: Shell(
        half_sphere(),
        SOFT,
        0.002,
        density=1000,
        rigid=Rigid(lambda x: x[:, 2] > 0.03, name="cap", joint=Hinge(axis=(1, 2, 0), centre=(0, 0, 0.04))),
        strings=Strings([[0, 5], [3, 10]], 50.0, prestretch=1.2),
    ),
    "free shell": lambda: Shell(crumpled(), SOFT, 0.002, density=1000, rigid=Rigid(left, name="edge")),
    "membrane": lambda: Membrane(crumpled(), SOFT, 0.001, density=1000, fixed=left, prestretch=1.1),
    "rubber membrane": lambda: Membrane(
        crumpled(), Incompressible(pl.NeoHookean(young=1e6)), 0.001, density=1000, fixed=left, prestretch=1.2
    ),
    "membrane with hub": lambda: Membrane(
        half_sphere(),
        RUBBER,
        0.001,
        density=1000,
        rigid=Rigid(lambda x: x[:, 2] > 0.03, name="hub"),
        strings=Strings([[0, 5], [3, 10]], 50.0),
        prestretch=1.1,
    ),
    "net": lambda: Net(
        crumpled().nodes, Strings(crumpled().edges, 40.0, prestretch=1.2, density=0.01), fixed=left
    ),
    "truss": lambda: Net(
        crumpled().nodes, Strings(crumpled().edges, 40.0, tension_only=False, density=0.01), fixed=left
    ),
}


def scales(body: Any, amount: float = 1e-3, turn: float = 0.2) -> np.ndarray:
    """(ndof,) How much of each coordinate is a small change: [m] or [rad]."""
    out = np.full((body.ndof // 3, 3), amount)
    out[np.asarray(body.region_block, int) + 1] = turn
    return out.ravel()


def wiggled(body: Any, seed: int = 1, **size: float) -> np.ndarray:
    """A random state near rest."""
    return body.retract(body.q0, np.random.default_rng(seed).normal(size=body.ndof) * scales(body, **size))


def carried(body: Any, q: np.ndarray, R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """q with everything moved rigidly, x → R x + t, supports too."""
    c, q = body.coordinates, q.copy()
    x, pose = q[: c.pose].reshape(-1, 3), q[c.pose : c.pose + 12 * len(c.region_names)].reshape(-1, 12)
    x[:] = x @ R.T + t
    pose[:, :3] = pose[:, :3] @ R.T + t
    pose[:, 3:] = (R @ pose[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
    return q


def turn(seed: int = 3) -> np.ndarray:
    return Rotation.random(rng=np.random.default_rng(seed)).as_matrix()


def dense(body: Any, K: np.ndarray) -> np.ndarray:
    return body.pattern.to_csr(K).toarray()


def linear_answer(body: Any, load: np.ndarray) -> np.ndarray:
    """K⁻¹ f at rest, (ndof,)."""
    K = body.linearise(body.q0, NONE)[2]
    return spsolve(body.pattern.to_csr(K).tocsc(), np.where(body.free, load, 0.0))


def settled(
    body: Any, load: np.ndarray, *, q: np.ndarray | None = None, predicted: bool = True, most_steps: int = 60
):
    """Equilibrium under forces (ndof,) by Newton, and its steps; with `predicted` strains or not."""
    q, strains = body.q0 if q is None else q, None
    large = scales(body, amount=0.5 * body.mesh.size, turn=1.0)
    symbolic = analyse(body.pattern, body.block_position)
    for count in range(most_steps):
        _, r, K = body.linearise(q, NONE, predicted=strains)
        dq = factorise(symbolic, K, indefinite=True).solve(r + np.where(body.free, load, 0.0))
        if np.abs(dq / large).max() < 1e-9:
            return q, count
        share = min(1.0, 1.0 / np.abs(dq / large).max())
        following = body.retract(q, share * dq)
        while body.linearise(following, NONE, tangent=False)[1] is None:
            share /= 2
            following = body.retract(q, share * dq)
        q, strains = following, body.predict(q, share * dq) if predicted else None
    raise AssertionError(f"not settled after {most_steps} steps")

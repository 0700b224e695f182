"""Beams that their tests share, and ways to move them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve

import pliant as pl
from pliant.bodies import Ball, Beam, Circle, Hinge, Prismatic, Rectangle, Rigid, Stiffness
from pliant.bodies.beams.assembly import carry
from pliant.mesh.lines import Lines, curve, helix, line, tree

SOFT = pl.Hooke(young=1e6, poisson=0.3)
NONE = np.zeros(3)


def bent(elements: int = 5) -> Lines:
    """A rod that bends and twists in space, 0.2 m long."""
    s = np.linspace(0, 1, elements + 1)
    return curve(np.column_stack([0.15 * s, 0.05 * np.sin(2 * s), 0.06 * s**2]), up=(0, 1, 1))


def fishbone(ribs: int = 2) -> Lines:
    """A spine along x with ribs to both sides."""
    spine = line((0, 0, 0), (0.2, 0, 0), elements=2 * ribs)
    sides = [
        line(spine.nodes[2 * k + 1], spine.nodes[2 * k + 1] + [0.01, y, 0.02], elements=2)
        for k in range(ribs)
        for y in (0.06, -0.05)
    ]
    return tree([spine, *sides])


def hub() -> Beam:
    """Two rods on a rigid hub, one of them on a hinge beside it and tapered, the other hollow."""
    first = line((0, 0, 0), (0.1, 0, 0.02), elements=3)
    second = line((0.1, 0.02, 0.02), (0.18, 0.05, 0), elements=3)
    joint = Hinge(axis=(1, 2, 3), centre=(0.01, 0.01, 0.0))
    return Beam(
        tree([first, second]),
        {0: lambda s: Circle(0.005 - 0.02 * s), 1: Circle(0.004, inner=0.003)},
        SOFT,
        density=1000,
        rigid=[Rigid(0, name="axle", joint=joint), Rigid([3, 4], name="hub")],
    )


BEAMS: dict[str, Any] = {
    "straight": lambda: Beam(
        line((0, 0, 0), (0.2, 0, 0), elements=4), Circle(0.004), SOFT, density=1000, fixed=0
    ),
    "bent": lambda: Beam(bent(), Rectangle(0.01, 0.006), SOFT, density=1000, fixed=0),
    "kirchhoff": lambda: Beam(bent(), Rectangle(0.01, 0.006), SOFT, density=1000, fixed=0, model="kirchhoff"),
    "helix": lambda: Beam(
        helix(radius=0.03, pitch=0.02, turns=1, elements=10),
        Circle(0.003, inner=0.002),
        SOFT,
        density=1000,
        fixed=0,
    ),
    "given": lambda: Beam(
        bent(), Stiffness(EA=40.0, GJ=2e-3, EI=(1e-3, 3e-3), mass=0.1, rotary=(1e-6, 2e-6)), fixed=[0, 5]
    ),
    "tree": lambda: Beam(fishbone(), Circle(0.003), SOFT, density=1000, fixed=0),
    "hub": hub,
    "ball": lambda: Beam(
        bent(),
        Circle(0.004),
        SOFT,
        density=1000,
        fixed=5,
        rigid=Rigid(0, name="ball", joint=Ball((0.01, 0, 0))),
    ),
    "slide": lambda: Beam(
        bent(), Circle(0.004), SOFT, density=1000, rigid=Rigid(0, name="base", joint=Prismatic((1, 1, 0)))
    ),
    "rollers": lambda: Beam(bent(), Circle(0.004), SOFT, density=1000, fixed=np.eye(6, dtype=bool)),
}


def wiggled(beam: Beam, amount: float = 0.003, turn: float = 0.25, seed: int = 1) -> np.ndarray:
    """A random state: nodes moved by some millimetres and turned by some degrees."""
    dq = np.random.default_rng(seed).normal(size=beam.ndof).reshape(-1, 6) * ([amount] * 3 + [turn] * 3)
    return beam.retract(beam.q0, dq.ravel())


def carried(beam: Beam, q: np.ndarray, R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """q with everything moved rigidly, x → R x + t, supports too."""
    q, c = q.copy(), beam.coordinates
    poses = q[c.pose : c.pose + 12 * len(c.region_names)].reshape(-1, 12)
    poses[:, :3] = poses[:, :3] @ R.T + t
    poses[:, 3:] = (R @ poses[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
    x = q[: c.pose].reshape(-1, 3)
    x[:] = x @ R.T + t
    carry(*beam.carriers, q)
    return q


def settled(
    beam: Beam, load: Any = 0.0, gravity: Any = NONE, q: np.ndarray | None = None, steps: int = 1
) -> tuple[np.ndarray, int]:
    """Equilibrium under constant forces on dq (ndof,) by Newton with predicted forces, and its iterations."""
    q, predicted, count = beam.q0 if q is None else q, None, 0
    for share in np.arange(1, steps + 1) / steps:
        for _ in range(40):
            _, r, K = beam.linearise(q, share * np.asarray(gravity, float), predicted=predicted)
            assert r is not None and K is not None
            dq = spsolve(beam.pattern.to_csr(K).tocsc(), r + share * load * beam.free)
            move = min(1.0, 1.0 / np.abs(dq).max()) * dq if dq.any() else dq
            q, predicted = beam.retract(q, move), beam.predict(q, move)
            count += 1
            if np.abs(dq).max() < 1e-11:
                break
        else:
            raise AssertionError("Newton did not converge")
    return q, count


def tip_force(beam: Beam, force: Any, node: int = -1) -> np.ndarray:
    """A dead force (3,) [N] on a node without joint, as forces on dq."""
    load = np.zeros((len(beam.coordinates.region_names), 6))
    load[beam.numbering.node_region[node], :3] = force
    return load.ravel()


def node(beam: Beam, q: np.ndarray, index: int = -1) -> np.ndarray:
    """Where a node of the lines is, (3,) [m]."""
    return beam.positions(q)[: len(beam.lines.nodes)][index]

"""What the tests of bodies share: elements and materials to try, random states, a plain Newton solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from pliant.bodies import Solid
from pliant.materials import (
    Hooke,
    Incompressible,
    MooneyRivlin,
    NeoHookean,
    StVenantKirchhoff,
    TransverselyIsotropic,
)
from pliant.mesh import Mesh, box

GRAVITY = np.array([1.0, 2.0, -9.81])
NONE = np.zeros(3)


def distorted(kind: str, cells=(3, 2, 2), size=(0.06, 0.03, 0.03), amount: float = 0.12) -> Mesh:
    """A box with its nodes moved at random by a share of the cell size, along the faces they lie on."""
    linear = box(size, cells=cells, kind=kind[:3])
    X, step = linear.nodes, np.array(size) / cells
    on_face = (X < 1e-9) | (np.array(size) - 1e-9 < X)
    noise = np.random.default_rng(0).uniform(-amount, amount, X.shape) * step
    linear = linear.with_nodes(X + np.where(on_face, 0.0, noise))
    return linear.quadratic() if kind in ("tet10", "hex20") else linear


ELEMENTS = {
    "tet4": ("tet4", {"order": 1}),
    "tet10": ("tet10", {}),
    "tet10 without split": ("tet10", {"split": False}),
    "hex8": ("hex8", {}),
    "hex8 mean dilatation": ("hex8", {"incompatible_modes": False}),
    "hex20": ("hex20", {}),
    "hex20 3×3×3": ("hex20", {"quadrature": 5}),
}
MATERIALS = {
    "hooke": Hooke(3e5, 0.45),
    "small strain": Hooke(3e5, 0.45, small_strain=True),
    "neo-Hookean": NeoHookean(3e5, 0.45),
    "St Venant": StVenantKirchhoff(3e5, 0.4),
    "Mooney–Rivlin": MooneyRivlin(c10=4e4, c01=1e4, bulk=1e6),
    "fibres": TransverselyIsotropic((1, 1, 0), 6e5, 2e5, 1e5, poisson_along=0.3, poisson_across=0.4),
    "incompressible": Incompressible(NeoHookean(3e5)),
}


def left(x: np.ndarray) -> np.ndarray:
    return x[:, 0] < 1e-9


@dataclass(frozen=True)
class Probe:
    """A body at a random state: energy, residual and tangent there and along lines through it."""

    body: Solid
    q: np.ndarray
    z: np.ndarray

    @classmethod
    def random(cls, body: Solid, amount: float, turn: float = 0.2) -> Probe:
        rng = np.random.default_rng(1)
        dq = amount * rng.normal(size=body.ndof)
        dq.reshape(-1, 3)[body.region_block + 1] *= turn / amount
        return cls(body, body.retract(body.q0, dq), 1e3 * rng.normal(size=len(body.z0)))

    def check(self, directions: int = 3, h: float = 1e-7) -> None:
        """Along q ⊕ s d:  dE/ds = −r·d and d(r·d)/ds = −dᵀKd, for any retraction by one-parameter motions."""
        energy, r, K = self.body.linearise(self.q, GRAVITY, self.z)
        assert np.isfinite(energy) and r is not None and K is not None
        A = self.body.pattern.to_csr(K)
        assert abs(A - A.T).max() <= 1e-12 * abs(A).max()
        rng = np.random.default_rng(2)
        for _ in range(directions):
            d = rng.normal(size=self.body.ndof) * self.body.free
            d.reshape(-1, 3)[self.body.region_block + 1] *= 20.0
            plus, minus = (self._at(s * d) for s in (h, -h))
            scale = np.linalg.norm(r) * np.linalg.norm(d)
            assert (minus[0] - plus[0]) / (2 * h) == pytest.approx(r @ d, abs=1e-6 * scale)
            assert (minus[1] - plus[1]) @ d / (2 * h) == pytest.approx(d @ (A @ d), rel=2e-7)

    def _at(self, dq: np.ndarray) -> tuple[float, np.ndarray]:
        energy, r, K = self.body.linearise(self.body.retract(self.q, dq), GRAVITY, self.z, tangent=False)
        assert r is not None and K is None
        return energy, r


def equilibrium(body: Solid, gravity=NONE, q=None, z=None, load: Any = 0.0) -> np.ndarray:
    """Plain Newton with SciPy's factorisation: tests of bodies need no solver of ours."""
    q = body.q0 if q is None else q
    for _ in range(60):
        _, r, K = body.linearise(q, gravity, z)
        assert r is not None and K is not None
        dq = spsolve(body.pattern.to_csr(K).tocsc(), r + load)
        step = 1.0
        while body.linearise(body.retract(q, step * dq), gravity, z, tangent=False)[1] is None:
            step *= 0.5
        q = body.retract(q, step * dq)
        if np.abs(dq).max() < 1e-12:
            return q
    raise AssertionError("Newton did not converge")

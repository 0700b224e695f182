"""Mass of a beam: ∫ ρ ẋ·ẋ over the rods, with x between the ends as in `places`, sections included.

The regions at the ends of an element move its points through places and arms,
x = Σ h_k x_k + Λ_k(L g_k e_x + N_k o). So, with a = D(L g e_x + N o) + h a_node,

    M_τᵢτⱼ = Qᵢᵀ(∫ρ hᵢhⱼ)Qⱼ      M_τᵢωⱼ = −QᵢᵀRⱼ[∫ρ hᵢaⱼ]ₓ      M_ωᵢωⱼ = ∫ρ [aᵢ]ₓᵀRᵢᵀRⱼ[aⱼ]ₓ

and gravity acts on the same masses: −g·Σ (m t + R b), m = ∫ρ h, b = ∫ρ a. Rotations with ω (in the axes of
their region) accelerate the points by R(ω × (ω × a)): the gyroscopic forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import read_only
from pliant.bodies.blocks import kernel
from pliant.errors import InputError

_PLACES = np.array([[13 / 35, 9 / 70], [9 / 70, 13 / 35]])  # ∫ hᵢhⱼ
_MIXED = np.array([[11 / 210, -13 / 420], [13 / 420, -11 / 210]])  # ∫ hᵢgⱼ
_TANGENTS = np.array([[1 / 105, -1 / 140], [-1 / 140, 1 / 105]])  # ∫ gᵢgⱼ
_LINEAR = np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])  # ∫ NᵢNⱼ


@dataclass(frozen=True, eq=False)
class Inertia:
    """That of elements with ends (ne, 2) on regions, at arms (ne, 2, 3) and turned by D (ne, 2, 3, 3).

    inertia (ne, 3): mass per length [kg/m], ∫ρy² and ∫ρz² [kg·m]; None: the density is not known.
    """

    ends: np.ndarray
    arm: np.ndarray
    turn: np.ndarray
    length: np.ndarray
    inertia: np.ndarray | None

    def known(self) -> np.ndarray:
        """(ne, 3), or an InputError."""
        if self.inertia is None:
            hint = "Give density= [kg/m³] to the Beam, or mass= [kg/m] to a Stiffness."
            raise InputError("density of a Beam", expected="a number", got="none", hint=hint)
        return self.inertia

    @property
    def total(self) -> float:
        """[kg]."""
        return float(self.known()[:, 0] @ self.length)

    def moments(self, regions: int) -> tuple[np.ndarray, np.ndarray]:
        """Mass m (r,) [kg] and first moment b (r, 3) [kg·m], in its axes, of each region."""
        half = 0.5 * self.known()[:, 0] * self.length
        tangent = np.array([1.0, -1.0])[:, None] / 6.0 * self.turn[..., 0] * self.length[:, None, None]
        mass, first = np.zeros(regions), np.zeros((regions, 3))
        np.add.at(mass, self.ends, half[:, None])
        np.add.at(first, self.ends, half[:, None, None] * (self.arm + tangent))
        return mass, first

    @cached_property
    def integrals(self) -> list[np.ndarray]:
        """∫ρ hᵢhⱼ (ne, 2, 2), ∫ρ hᵢaⱼ (ne, 2, 2, 3) and ∫ρ aᵢaⱼᵀ (ne, 2, 2, 3, 3)."""
        rho, L, ex = self.known(), self.length[:, None, None], self.turn[..., 0]
        m = rho[:, 0, None, None] * L
        place, to_j = m * _PLACES, m * L * _MIXED
        first = to_j[..., None] * ex[:, None] + place[..., None] * self.arm[:, None]
        spread = np.stack(
            [m * L * L * _TANGENTS, *(rho[:, k, None, None] * L * _LINEAR for k in (1, 2))], axis=-1
        )
        second = np.einsum("eipk,eijk,ejqk->eijpq", self.turn, spread, self.turn)
        second += np.einsum("eji,eip,ejq->eijpq", to_j, ex, self.arm)
        second += np.einsum("eip,eijq->eijpq", self.arm, first)
        return read_only(place, first, second)


@kernel
def add_mass(q, pose, frame, ends, place, first, second, slots, M):
    """Add the mass of all elements to M (flat), on the slots (ne, 4, 4) of `assemble`."""
    block = np.empty((2, 2, 3, 3))  # (τᵢ, τⱼ), (τᵢ, ωⱼ), (ωᵢ, τⱼ), (ωᵢ, ωⱼ)
    for e in range(ends.shape[0]):
        for i in range(2):
            for j in range(i + 1):
                _mass_pair(q, pose, frame, ends[e], i, j, place[e], first[e], second[e], block)
                for s in range(2):
                    for t in range(2):
                        if i > j or s >= t:
                            _put(
                                slots[e, 2 * i + s, 2 * j + t],
                                ends[e, i] == ends[e, j],
                                i == j,
                                s,
                                t,
                                block,
                                M,
                            )


@kernel
def _put(code, within, same, s, t, block, M):
    """Add a block to M; one between two ends in the same region counts with its transpose."""
    k, flipped = 9 * (code >> 1), code & 1
    both = within and not same and s == t
    for a in range(3):
        for b in range(3):
            if both or not flipped:
                M[k + 3 * a + b] += block[s, t, a, b]
            if both or flipped:
                M[k + 3 * b + a] += block[s, t, a, b]


@kernel
def _mass_pair(q, pose, frame, ends, i, j, place, first, second, block):
    """Blocks between the coordinates of end i and of end j."""
    Ri, Rj = np.empty((3, 3)), np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            Ri[a, b] = q[pose + 12 * ends[i] + 3 + 3 * a + b]
            Rj[a, b] = q[pose + 12 * ends[j] + 3 + 3 * a + b]
    Qi, Qj, S = frame[ends[i]], frame[ends[j]], second[i, j]
    u, v = first[i, j], first[j, i]
    for a in range(3):
        for b in range(3):
            b1, b2, a1, a2 = (b + 1) % 3, (b + 2) % 3, (a + 1) % 3, (a + 2) % 3
            tt = tw = wt = ww = 0.0
            for k in range(3):
                tt += place[i, j] * Qi[k, a] * Qj[k, b]
                tw -= Qi[k, a] * (Rj[k, b1] * u[b2] - Rj[k, b2] * u[b1])  # column b of R[u]ₓ
                wt -= (Ri[k, a1] * v[a2] - Ri[k, a2] * v[a1]) * Qj[k, b]
                ww += Ri[k, a1] * (Rj[k, b1] * S[a2, b2] - Rj[k, b2] * S[a2, b1])
                ww -= Ri[k, a2] * (Rj[k, b1] * S[a1, b2] - Rj[k, b2] * S[a1, b1])
            block[0, 0, a, b], block[0, 1, a, b], block[1, 0, a, b], block[1, 1, a, b] = tt, tw, wt, ww


@kernel
def add_gyroscopic(q, pose, frame, ends, first, second, v, out):
    """out (6r,) += ∫ρ Jᵀ(J̇v) of all elements, J̇v = Σ Rⱼ(ωⱼ × (ωⱼ × aⱼ)) with ω from v (6r,)."""
    X, turned, Y = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(ends.shape[0]):
        for j in range(2):
            _centripetal(q, pose, ends[e, j], v, X)
            for i in range(2):
                r, o, u, S = ends[e, i], pose + 12 * ends[e, i] + 3, first[e, i, j], second[e, i, j]
                for a in range(3):
                    for b in range(3):
                        turned[a, b] = q[o + a] * X[0, b] + q[o + 3 + a] * X[1, b] + q[o + 6 + a] * X[2, b]
                for a in range(3):
                    for b in range(3):
                        Y[a, b] = turned[a, 0] * S[b, 0] + turned[a, 1] * S[b, 1] + turned[a, 2] * S[b, 2]
                        out[6 * r + a] += frame[r, b, a] * (X[b, 0] * u[0] + X[b, 1] * u[1] + X[b, 2] * u[2])
                for a in range(3):  # ∫ρ aᵢ × Rᵢᵀ(J̇v)
                    k, l = (a + 1) % 3, (a + 2) % 3
                    out[6 * r + 3 + a] += Y[l, k] - Y[k, l]


@kernel
def _centripetal(q, pose, r, v, X):
    """X = R(ωωᵀ − ω²I) of region r."""
    w, o = v[6 * r + 3 : 6 * r + 6], pose + 12 * r + 3
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    for a in range(3):
        along = q[o + 3 * a] * w[0] + q[o + 3 * a + 1] * w[1] + q[o + 3 * a + 2] * w[2]
        for b in range(3):
            X[a, b] = along * w[b] - square * q[o + 3 * a + b]


@kernel
def add_weight(q, pose, rest, frame, mass, first, gravity, diagonal, K, g, tangent):
    """Energy −G·Σ (m t + R b) [J] since rest; adds its gradient to g (6r,), if tangent its Hessian to K."""
    energy, h = 0.0, np.empty(3)
    for r in range(mass.shape[0]):
        k, b = pose + 12 * r, first[r]
        for i in range(3):
            h[i] = q[k + 3 + i] * gravity[0] + q[k + 6 + i] * gravity[1] + q[k + 9 + i] * gravity[2]
            energy -= gravity[i] * mass[r] * (q[k + i] - rest[12 * r + i])
            for j in range(3):
                energy -= gravity[i] * (q[k + 3 + 3 * i + j] - rest[12 * r + 3 + 3 * i + j]) * b[j]
            along = frame[r, 0, i] * gravity[0] + frame[r, 1, i] * gravity[1] + frame[r, 2, i] * gravity[2]
            g[6 * r + i] -= mass[r] * along
        g[6 * r + 3] -= b[1] * h[2] - b[2] * h[1]
        g[6 * r + 4] -= b[2] * h[0] - b[0] * h[2]
        g[6 * r + 5] -= b[0] * h[1] - b[1] * h[0]
        if tangent:
            o, dot = 9 * diagonal[r], h[0] * b[0] + h[1] * b[1] + h[2] * b[2]
            for i in range(3):
                for j in range(3):
                    K[o + 3 * i + j] -= 0.5 * (h[i] * b[j] + b[i] * h[j])
                K[o + 4 * i] += dot
    return energy

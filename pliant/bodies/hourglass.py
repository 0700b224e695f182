"""Hexahedra of eight nodes for large strain: the law at the mean deformation, and a stiffness for the rest.

The nodes of a cell move it in seven vectors: the three columns of the mean deformation gradient F̄, and four
hourglass vectors γ_k = Σ_a Γ_ka x_a that no affine motion has. The energy is

    E = V ψ(F̄) + ½ Σ_kl y_k·C_kl y_l,        y_k = F̄⁻¹ γ_k

ψ is the law, evaluated at one point by `generic`; C comes from the stiffness of the law at rest, with the
strains of `enhanced` eliminated: small strain is that of an element which bends and keeps its volume without
locking. The pull-back F̄⁻¹ turns with the cell and softens the bending of a cell that is stretched, stiffens
that of one that is compressed, much as rubber does. C is positive definite, so that no hourglass has negative
stiffness however far the cell is compressed. With

    b_ka = Γ_ka − y_k·ḡ_a,   h_a = F̄⁻ᵀ ḡ_a,   Ĉ_kl = F̄⁻ᵀ C_kl F̄⁻¹,   m_k = F̄⁻ᵀ Σ_l C_kl y_l

where ḡ_a are the mean gradients of the shape functions,

    f_a  = Σ_k b_ka m_k
    K_ab = Σ_kl b_ka b_lb Ĉ_kl − f_b h_aᵀ − h_b f_aᵀ

Cells turned inside out are inadmissible, in the mean or at a point, where F = F̄T, T = I + Σ y_k a_kᵀ. The
law resists that in the mean; at points, whose volume is t = det T of the mean, a term of the energy does,

    E_p = c/6 (ln t₀ − ln t)³  for t < t₀,   ∂E_p/∂y_k = −c/2 (ln t₀ − ln t)² T⁻ᵀa_k

of the stiffness c of shear: cells that are bent as sharply as that are pressed flat on one side and do not
pass through it. It is added to C and to the forces conjugate to y. No cell bent by less feels it.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.bodies.blocks import kernel, scatter_forces
from pliant.materials.tensors import VOLUME_FLOOR, cofactor, determinant

FLAT = 0.2  # t₀: volume of a point, of the mean of its cell, below which the cell resists being pressed flat


@kernel
def _place(nn, q, cells, e, G, gamma, F, g):
    """F̄ (3, 3) and γ (4, 3) of cell e, from positions relative to its first node."""
    F[:, :] = 0.0
    g[:, :] = 0.0
    o = 3 * cells[e, 0]
    for a in range(nn):
        n = 3 * cells[e, a]
        for i in range(3):
            x = q[n + i] - q[o + i]
            for j in range(3):
                F[i, j] += x * G[e, 0, a, j]
            for k in range(g.shape[0]):
                g[k, i] += gamma[e, k, a] * x


@kernel
def _pull_back(F, inverse, g, y):
    """F̄⁻¹ and y_k = F̄⁻¹ γ_k; returns det F̄, and writes nothing unless that is positive."""
    J = cofactor(F, inverse)  # cof F = J F⁻ᵀ
    if not J > VOLUME_FLOOR:
        return J
    for i in range(3):
        for j in range(i):
            inverse[i, j], inverse[j, i] = inverse[j, i], inverse[i, j]
    for i in range(3):
        for j in range(3):
            inverse[i, j] /= J
    for k in range(g.shape[0]):
        for i in range(3):
            y[k, i] = inverse[i, 0] * g[k, 0] + inverse[i, 1] * g[k, 1] + inverse[i, 2] * g[k, 2]
    return J


@kernel
def _flattest(slopes, e, y, T):
    """The least volume det T of a point of the cell, of the mean; T (3, 3) is scratch."""
    least = math.inf
    for p in range(slopes.shape[1]):
        _turn(slopes, e, p, y, T)
        least = min(least, determinant(T))
    return least


@kernel
def _turn(slopes, e, p, y, T):
    """T = I + Σ_k y_k a_kᵀ (3, 3) of a point."""
    for i in range(3):
        for j in range(3):
            T[i, j] = 1.0 if i == j else 0.0
            for k in range(y.shape[0]):
                T[i, j] += y[k, i] * slopes[e, p, k, j]


@kernel
def _resist(slopes, e, c, y, T, inverse, d, n, C, clamp):
    """Adds what keeps the points of a cell from turning inside out to n (4, 3) and C (4, 4, 3, 3).

    Returns its energy [J]. T, inverse (3, 3) and d (4, 3) are scratch.
    """
    energy = 0.0
    for p in range(slopes.shape[1]):
        _turn(slopes, e, p, y, T)
        t = cofactor(T, inverse)
        if t >= FLAT:
            continue
        s = math.log(FLAT / t)
        energy += c * s * s * s / 6.0
        for k in range(y.shape[0]):
            for i in range(3):
                d[k, i] = 0.0
                for j in range(3):
                    d[k, i] += inverse[i, j] * slopes[e, p, k, j] / t  # T⁻ᵀ a_k = cof T a_k / t
                n[k, i] -= 0.5 * c * s * s * d[k, i]
        for k in range(y.shape[0]):
            for l in range(y.shape[0]):
                for i in range(3):
                    for j in range(3):
                        C[k, l, i, j] += c * s * d[k, i] * d[l, j]
                        if not clamp:
                            C[k, l, i, j] += 0.5 * c * s * s * d[l, i] * d[k, j]
    return energy


@kernel
def _conjugate(C, e, y, n):
    """n_k = Σ_l C_kl y_l (4, 3) [N]; returns ½ Σ y_k·n_k [J]."""
    energy = 0.0
    for k in range(n.shape[0]):
        for i in range(3):
            value = 0.0
            for l in range(n.shape[0]):
                value += C[e, k, l, i, 0] * y[l, 0] + C[e, k, l, i, 1] * y[l, 1] + C[e, k, l, i, 2] * y[l, 2]
            n[k, i] = value
            energy += 0.5 * y[k, i] * value
    return energy


@kernel
def _forces(nn, G, gamma, e, inverse, y, n, b, h, m, fe):
    """b (8, 4), h (8, 3), m (4, 3) and the forces fe (8, 3) of the module's equations."""
    for k in range(n.shape[0]):
        for i in range(3):
            m[k, i] = inverse[0, i] * n[k, 0] + inverse[1, i] * n[k, 1] + inverse[2, i] * n[k, 2]
    for a in range(nn):
        u, v, w = G[e, 0, a, 0], G[e, 0, a, 1], G[e, 0, a, 2]
        for i in range(3):
            h[a, i] = inverse[0, i] * u + inverse[1, i] * v + inverse[2, i] * w
            fe[a, i] = 0.0
        for k in range(n.shape[0]):
            b[a, k] = gamma[e, k, a] - (y[k, 0] * u + y[k, 1] * v + y[k, 2] * w)
            for i in range(3):
                fe[a, i] += b[a, k] * m[k, i]


@kernel
def _pushed_forward(C, inverse, T, pushed):
    """Ĉ_kl = F̄⁻ᵀ C_kl F̄⁻¹ (4, 4, 9)."""
    for k in range(pushed.shape[0]):
        for l in range(pushed.shape[1]):
            for i in range(3):
                for j in range(3):
                    T[i, j] = (
                        C[k, l, i, 0] * inverse[0, j]
                        + C[k, l, i, 1] * inverse[1, j]
                        + C[k, l, i, 2] * inverse[2, j]
                    )
            for i in range(3):
                for j in range(3):
                    pushed[k, l, 3 * i + j] = (
                        inverse[0, i] * T[0, j] + inverse[1, i] * T[1, j] + inverse[2, i] * T[2, j]
                    )


@kernel
def _scatter_pairs(nn, first, slots, e, b, rows, h, fe, exact, K):
    """K_ab += Σ_k b_ka rows_bk − f_b h_aᵀ − h_b f_aᵀ (the last two only if exact)."""
    for a in range(first[e], nn):
        for c in range(first[e], a + 1):
            n = 9 * slots[e, (a * (a + 1)) // 2 + c]
            for i in range(3):
                for j in range(3):
                    t = 3 * i + j
                    value = (
                        b[a, 0] * rows[c, 0, t]
                        + b[a, 1] * rows[c, 1, t]
                        + b[a, 2] * rows[c, 2, t]
                        + b[a, 3] * rows[c, 3, t]
                    )
                    if exact:
                        value -= fe[c, i] * h[a, j] + h[c, i] * fe[a, j]
                    K[n + t] += value


@kernel
def _rows(nn, first, b, pushed, rows):
    """rows_bk = Σ_l b_lb Ĉ_kl (8, 4, 9)."""
    for a in range(first, nn):
        for k in range(pushed.shape[0]):
            for t in range(9):
                rows[a, k, t] = (
                    b[a, 0] * pushed[k, 0, t]
                    + b[a, 1] * pushed[k, 1, t]
                    + b[a, 2] * pushed[k, 2, t]
                    + b[a, 3] * pushed[k, 3, t]
                )


@kernel
def local_forces(q, cells, G, gamma, slopes, C, c, N):
    """N (ne, 4, 3) [N]: the elastic forces ∂E/∂y_k on the pulled-back hourglass vectors."""
    nn, modes = cells.shape[1], gamma.shape[1]
    F, inverse, g, y = np.empty((3, 3)), np.empty((3, 3)), np.empty((modes, 3)), np.zeros((modes, 3))
    T, d, stiffness = np.empty((3, 3)), np.empty((modes, 3)), np.zeros((modes, modes, 3, 3))
    for e in range(cells.shape[0]):
        _place(nn, q, cells, e, G, gamma, F, g)
        _pull_back(F, inverse, g, y)
        _conjugate(C, e, y, N[e])
        _resist(slopes, e, c[e], y, T, inverse, d, N[e], stiffness, True)


@kernel
def assemble(q, cells, first, G, gamma, slopes, C, c, N, slots, clamp, tangent, K, f):
    """Adds the forces of the hourglasses to f (3k,) and their blocks to K (flat); returns their energy [J].

    It is inf if some cell is inadmissible. G (ne, 1, 8, 3) mean gradients [1/m], gamma (ne, 4, 8), slopes
    (ne, nq, 4, 3) a_k at the points [1/m], C (ne, 4, 4, 3, 3) [N/m], c (ne,) [J]. Clamped, the tangent is
    the first term of K_ab, positive semi-definite. N (ne, 4, 3) [N], or none, are remembered forces on the
    vectors y, see `overstress`.
    """
    nn, modes = cells.shape[1], gamma.shape[1]
    F, inverse, T, U = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    d, stiffness = np.empty((modes, 3)), np.empty((modes, modes, 3, 3))
    g, y, n, m = np.empty((modes, 3)), np.empty((modes, 3)), np.empty((modes, 3)), np.empty((modes, 3))
    b, h, fe = np.empty((nn, modes)), np.empty((nn, 3)), np.empty((nn, 3))
    pushed, rows = np.empty((modes, modes, 9)), np.empty((nn, modes, 9))
    energy = 0.0
    for e in range(cells.shape[0]):
        _place(nn, q, cells, e, G, gamma, F, g)
        if not _pull_back(F, inverse, g, y) > VOLUME_FLOOR:
            return math.inf
        flattest = _flattest(slopes, e, y, T)
        if not flattest > VOLUME_FLOOR:
            return math.inf
        energy += _conjugate(C, e, y, n)
        if flattest < FLAT:
            stiffness[:] = C[e]
            energy += _resist(slopes, e, c[e], y, T, U, d, n, stiffness, clamp)
        if len(N):
            n += N[e]
        _forces(nn, G, gamma, e, inverse, y, n, b, h, m, fe)
        if tangent:
            _pushed_forward(stiffness if flattest < FLAT else C[e], inverse, T, pushed)
            _rows(nn, first[e], b, pushed, rows)
            _scatter_pairs(nn, first, slots, e, b, rows, h, fe, not clamp, K)
        scatter_forces(nn, cells, e, fe, f)
    return energy

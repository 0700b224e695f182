"""The object at rest between taut skins, by Newton's method with a line search on the tension-only energy, compiled.

    E(p) = Σ ½ k max(0, ℓ(p) − ℓ₀)² − w·p,     p = (x, y, φ)

Its derivative by the skins' ends e follows from the implicit function theorem: dp/de = −(∂²E/∂p²)⁻¹ ∂²E/∂p∂e.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.taut import BEYOND, FREE, SWALLOWED, place, taut

ARMIJO = 1e-4
ROUNDING = 1e-13  # of the energy: what a sum of squares cannot tell apart


@inner
def _energy(skins, shape, r, pose, wrench, work, kinds, gradient, hessian):
    """(E, sum of tensions), with E's derivatives by the pose; infinite where a skin begins inside the object."""
    ends, stiffness, rest, side = skins
    corners, g, H = work
    place(shape, pose, corners)
    gradient[:] = -wrench
    hessian[:] = 0.0
    energy, force = -(wrench[0] * pose[0] + wrench[1] * pose[1] + wrench[2] * pose[2]), 0.0
    for k in range(len(ends)):
        kinds[k], _, _, length = taut(ends[k], side[k], corners, r, pose, g, H)
        if kinds[k] == SWALLOWED:
            return np.inf, 0.0
        stretch = length - rest[k]
        if stretch > 0.0:
            energy += 0.5 * stiffness[k] * stretch * stretch
            force += stiffness[k] * stretch
            for a in range(3):
                gradient[a] += stiffness[k] * stretch * g[a]
                for b in range(3):
                    hessian[a, b] += stiffness[k] * (g[a] * g[b] + stretch * H[a, b])
    return energy, force


@inner
def _cholesky(A, n, shift, L):
    """Lower factor of A + shift·I in L; False where it is not positive definite."""
    for a in range(n):
        for b in range(a + 1):
            total = A[a, b] + (shift if a == b else 0.0)
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a == b:
                if total <= 1e-14 * (abs(A[a, a]) + shift):
                    return False
                L[a, a] = np.sqrt(total)
            else:
                L[a, b] = total / L[b, b]
    return True


@inner
def _solve(L, n, b):
    """b ← (L Lᵀ)⁻¹ b."""
    for a in range(n):
        for c in range(a):
            b[a] -= L[a, c] * b[c]
        b[a] /= L[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            b[a] -= L[c, a] * b[c]
        b[a] /= L[a, a]


@inner
def _gather(hessian, free, size, A):
    """The Hessian over the free coordinates, rotation in units of 1/size; returns its largest diagonal entry."""
    largest = 0.0
    for a in range(len(free)):
        for b in range(len(free)):
            A[a, b] = hessian[free[a], free[b]]
            if free[a] == 2:
                A[a, b] /= size
            if free[b] == 2:
                A[a, b] /= size
        largest = max(largest, abs(A[a, a]))
    return largest


@inner
def _direction(hessian, gradient, free, size, A, L, step):
    """Newton's step over the free coordinates, shifted until it goes downhill and no longer than `size`; returns the shift."""
    n, shift = len(free), 0.0
    least = max(1e-6 * _gather(hessian, free, size, A), 1e-3 * _residual(gradient, free, size) / size, 1e-300)
    while not _cholesky(A, n, shift, L):
        shift = max(10.0 * shift, least)
    x, length = np.empty(n), 0.0
    for a in range(n):
        x[a] = -gradient[free[a]] / (size if free[a] == 2 else 1.0)
    _solve(L, n, x)
    for a in range(n):
        length += x[a] * x[a]
    scale = min(1.0, size / np.sqrt(length)) if length > 0.0 else 1.0
    step[:] = 0.0
    for a in range(n):
        step[free[a]] = scale * x[a] / (size if free[a] == 2 else 1.0)
    return shift


@inner
def _residual(gradient, free, size):
    total = 0.0
    for a in free:
        value = gradient[a] / size if a == 2 else gradient[a]
        total += value * value
    return np.sqrt(total)


@inner
def _worst(kinds):
    """SWALLOWED or BEYOND where a skin is, else FREE."""
    worst = FREE
    for kind in kinds:
        if kind == SWALLOWED or (kind == BEYOND and worst == FREE):
            worst = kind
    return worst


@kernel
def rest_pose(skins, shape, r, start, free, wrench, size, tolerance, most):
    """(pose (3,), energy, residual [N], forces [N], kinds (m,), worst kinds at the start and the end, iterations, shift).

    skins = (ends (m, 4), stiffness, rest, side (m,)); free: indices of the coordinates that may change; size [m] limits a step and
    turns moments into forces. The search ends at a residual of `tolerance` times the forces: all tensions and the wrench. `shift`
    is what the last Hessian lacked to be positive definite.
    """
    work = (np.empty_like(shape), np.empty(7), np.empty((7, 7)))
    gradient, hessian, A, L = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.zeros((3, 3))
    kinds, pose, trial, step = np.zeros(len(skins[0]), np.int64), start.copy(), start.copy(), np.empty(3)
    load = np.sqrt(wrench[0] ** 2 + wrench[1] ** 2 + (wrench[2] / size) ** 2)
    energy, force, iterations, residual, shift = np.inf, 0.0, -1, np.inf, np.inf
    before, slope, scale, first = np.inf, 0.0, 1.0, FREE
    while True:
        energy, force = _energy(skins, shape, r, trial, wrench, work, kinds, gradient, hessian)
        better = energy <= before + ARMIJO * scale * slope + ROUNDING * abs(before)
        if iterations < 0:
            first = _worst(kinds)
            if not np.isfinite(energy):
                break
        if (
            better or scale < 1e-10
        ):  # or nothing better in reach: then stay where the line search has come back to
            pose[:] = trial
            residual = _residual(gradient, free, size)
            shift = _direction(hessian, gradient, free, size, A, L, step)
            iterations += 1
            if not better or residual <= tolerance * (force + load) or iterations == most:
                break
            before, scale = energy, 1.0
            slope = gradient[0] * step[0] + gradient[1] * step[1] + gradient[2] * step[2]
        else:
            scale *= 0.5
        trial[:] = pose + scale * step
    return pose, energy, residual, force + load, kinds, (first, _worst(kinds)), iterations, shift


@kernel
def sensitivities(skins, shape, r, pose, free, size):
    """(tension (m,), wrench (m, 3), H (3, 3), J (3, 4m), own (m, 3, 3), cross (m, 3, 4)) at a pose.

    wrench: of each skin on the object; H = ∂²E/∂p², J = dp/de with e all ends, (A, B) skin by skin, NaN where H has no inverse;
    own = −∂(wrench)/∂p and cross = −∂(wrench)/∂e of each skin.
    """
    ends, stiffness, rest, side = skins
    m, corners, g, H = len(ends), np.empty_like(shape), np.empty(7), np.empty((7, 7))
    place(shape, pose, corners)
    tension, force = np.zeros(m), np.zeros((m, 3))
    own, cross, total = np.zeros((m, 3, 3)), np.zeros((m, 3, 4)), np.zeros((3, 3))
    for k in range(m):
        length = taut(ends[k], side[k], corners, r, pose, g, H)[3]
        stretch = max(length - rest[k], 0.0)
        tension[k] = stiffness[k] * stretch
        if stretch > 0.0:
            for a in range(3):
                force[k, a] = -tension[k] * g[a]
                for b in range(3):
                    own[k, a, b] = stiffness[k] * (g[a] * g[b] + stretch * H[a, b])
                    total[a, b] += own[k, a, b]
                for b in range(4):
                    cross[k, a, b] = stiffness[k] * (g[a] * g[3 + b] + stretch * H[a, 3 + b])
    return tension, force, total, _implicit(total, cross, free, size), own, cross


@inner
def _implicit(total, cross, free, size):
    """J = −H⁻¹ ∂²E/∂p∂e over the free coordinates, (3, 4m)."""
    m, n = len(cross), len(free)
    J, A, L, x = np.zeros((3, 4 * m)), np.empty((3, 3)), np.zeros((3, 3)), np.empty(n)
    _gather(total, free, size, A)
    good = _cholesky(A, n, 0.0, L)
    for column in range(4 * m):
        for a in range(n):
            x[a] = -cross[column // 4, free[a], column % 4] / (size if free[a] == 2 else 1.0)
        if good:
            _solve(L, n, x)
        for a in range(n):
            J[free[a], column] = x[a] / (size if free[a] == 2 else 1.0) if good else np.nan
    return J

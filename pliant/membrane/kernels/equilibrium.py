"""The object at rest between skins, compiled: Newton's method with a line search on the tension-only energy.

E(p) = Σ ½ k max(0, ℓ(p) − ℓ₀)² − w·p,     p = (x, y, φ)
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.kernels.path import COLUMNS, path_gradient, path_hessian
from pliant.membrane.kernels.skin import (
    BEYOND,
    FREE,
    OBJECT,
    SWALLOWED,
    place_object,
    skin_stations,
    solve_skin,
)
from pliant.membrane.kernels.vectors import add, copy, fill, scale

ARMIJO = 1e-4  # share of the predicted decrease of the energy that a step must bring
ENERGY_ROUNDING = 1e-13  # of the energy: what a sum of squares cannot tell apart
SHORTEST_STEP = 1e-10  # of Newton's step: below this the line search gives up
SINGULAR_PIVOT = 1e-14  # of a diagonal entry: a smaller pivot is none
SMALLEST_SHIFT = 1e-6  # of the largest diagonal entry of the Hessian
SMALLEST_SHIFT_BY_FORCE = 1e-3  # of the residual force over the size of the object
TINY = 1e-300


@inner
def evaluate(skins, stations, pose, kinds, tension, gradient, stiffness):
    """The energy of all skins with the object at a pose [J], infinite where a skin ends in the object.

    Fills kinds and tensions (m,), gradients (m, 3, 3) of the lengths by (x, y, angle) of A, object and B, and
    K = k (∇ℓ∇ℓᵀ + (ℓ − ℓ₀) ∇²ℓ) (m, 9, 9), zero where a skin is slack.
    """
    ends, modulus, rest, side = skins
    table, hessian = np.empty((3, COLUMNS)), np.empty((9, 9))
    place_object(stations, pose)
    energy = 0.0
    for k in range(len(ends)):
        kinds[k], length = solve_skin(stations, ends[k], side[k], table)
        path_gradient(stations.poses, table, gradient[k])
        path_hessian(stations.poses, table, hessian)
        stretch = max(length - rest[k], 0.0)
        tension[k] = modulus[k] * stretch
        energy += 0.5 * modulus[k] * stretch * stretch if kinds[k] != SWALLOWED else np.inf
        taut = 1.0 if stretch > 0.0 else 0.0
        for a in range(9):
            for b in range(9):
                outer = gradient[k, a // 3, a % 3] * gradient[k, b // 3, b % 3]
                stiffness[k, a, b] = modulus[k] * (taut * outer + stretch * hessian[a, b])
    return energy


@inner
def factor_shifted(H, n, shift, L):
    """Lower factor of H + shift·I into L; False where that is not positive definite."""
    for a in range(n):
        for b in range(a + 1):
            total = H[a, b] + (shift if a == b else 0.0)
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a == b:
                if total <= SINGULAR_PIVOT * (abs(H[a, a]) + shift):
                    return False
                L[a, a] = np.sqrt(total)
            else:
                L[a, b] = total / L[b, b]
    return True


@inner
def solve_factored(L, n, b):
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
def sum_forces(tension, gradient, stiffness, wrench, free, unit, g, H):
    """|g| [N], with g = ∂E/∂p and H = ∂²E/∂p² over the free coordinates, in their units, written."""
    square = 0.0
    for a in range(len(free)):
        g[a] = -wrench[free[a]]
        for k in range(len(tension)):
            g[a] += tension[k] * gradient[k, OBJECT, free[a]]
        g[a] /= unit[free[a]]
        square += g[a] * g[a]
        for b in range(len(free)):
            H[a, b] = 0.0
            for k in range(len(tension)):
                H[a, b] += stiffness[k, 3 * OBJECT + free[a], 3 * OBJECT + free[b]]
            H[a, b] /= unit[free[a]] * unit[free[b]]
    return np.sqrt(square)


@inner
def newton_step(H, g, residual, free, unit, size, L, step):
    """Newton's step (3,), no longer than `size` [m], with H shifted until it goes downhill.

    Returns the shift.
    """
    n, largest, shift = len(free), 0.0, 0.0
    for a in range(n):
        largest = max(largest, abs(H[a, a]))
    smallest = max(SMALLEST_SHIFT * largest, SMALLEST_SHIFT_BY_FORCE * residual / size, TINY)
    while not factor_shifted(H, n, shift, L):
        shift = max(10.0 * shift, smallest)
    x, square = np.empty(n), 0.0
    for a in range(n):
        x[a] = -g[a]
    solve_factored(L, n, x)
    for a in range(n):
        square += x[a] * x[a]
    shorter = min(1.0, size / np.sqrt(square)) if square > 0.0 else 1.0
    fill(step, 0.0)
    for a in range(n):
        step[free[a]] = shorter * x[a] / unit[free[a]]
    return shift


@inner
def worst_kind(kinds):
    """SWALLOWED or BEYOND where a skin is, else FREE."""
    worst = FREE
    for kind in kinds:
        if kind == SWALLOWED or (kind == BEYOND and worst == FREE):
            worst = kind
    return worst


@kernel
def rest_pose(skins, shape, radius, start, free, wrench, size, tolerance, most_iterations):
    """(pose (3,), energy, residual, forces [N], kinds (m,), worst kinds, iterations, shift) at rest.

    skins = (ends (m, 4), stiffness, rest, side (m,)); free: indices of the coordinates that may change; size
    [m] limits a step and turns moments into forces. The search ends at a residual of `tolerance` times the
    forces: all tensions and the wrench. `shift` is what the last Hessian lacked to be positive definite.
    """
    m, n, stations = len(skins[0]), len(free), skin_stations(shape, radius)
    kinds, tension = np.zeros(m, np.int64), np.zeros(m)
    gradient, stiffness = np.empty((m, 3, 3)), np.empty((m, 9, 9))
    g, H, L = np.empty(n), np.empty((n, n)), np.zeros((n, n))
    pose, trial, step, unit = start.copy(), start.copy(), np.zeros(3), np.array([1.0, 1.0, size])
    load = np.sqrt(wrench[0] ** 2 + wrench[1] ** 2 + (wrench[2] / size) ** 2)
    force, iterations, residual, shift = 0.0, -1, np.inf, np.inf
    before, slope, share, first = np.inf, 0.0, 1.0, FREE
    while True:
        energy = evaluate(skins, stations, trial, kinds, tension, gradient, stiffness)
        energy -= wrench[0] * trial[0] + wrench[1] * trial[1] + wrench[2] * trial[2]
        decreased = energy <= before + ARMIJO * share * slope + ENERGY_ROUNDING * abs(before)
        if iterations < 0:
            first = worst_kind(kinds)
            if not np.isfinite(energy):
                break
        # With no decrease in reach, stay where the line search has come back to.
        if decreased or share < SHORTEST_STEP:
            copy(trial, pose)
            residual = sum_forces(tension, gradient, stiffness, wrench, free, unit, g, H)
            force = load
            for k in range(m):
                force += tension[k]
            shift = newton_step(H, g, residual, free, unit, size, L, step)
            iterations += 1
            if not decreased or residual <= tolerance * force or iterations == most_iterations:
                break
            before, share, slope = energy, 1.0, 0.0
            for a in range(n):
                slope += g[a] * unit[free[a]] * step[free[a]]
        else:
            share *= 0.5
        copy(pose, trial)
        add(trial, share, step)
    return pose, energy, residual, force, kinds, (first, worst_kind(kinds)), iterations, shift


@inner
def pose_jacobian(stiffness, free, size):
    """dp/de = −H⁻¹ ∂²E/∂p∂e (3, 4m), H = ∂²E/∂p² over the free coordinates, e all ends, skin by skin.

    Rows of coordinates that are not free are zero; those of the others are NaN where H is not positive
    definite.
    """
    m, n, unit = len(stiffness), len(free), np.array([1.0, 1.0, size])
    J, H, L, x = np.zeros((3, 4 * m)), np.zeros((n, n)), np.zeros((n, n)), np.empty(n)
    for a in range(n):
        for b in range(n):
            for k in range(m):
                H[a, b] += stiffness[k, 3 * OBJECT + free[a], 3 * OBJECT + free[b]]
            H[a, b] /= unit[free[a]] * unit[free[b]]
    regular = factor_shifted(H, n, 0.0, L)
    for column in range(4 * m):
        k, end = column // 4, column % 4
        for a in range(n):
            x[a] = -stiffness[k, 3 * OBJECT + free[a], end if end < 2 else end + 4] / unit[free[a]]
        if regular:
            solve_factored(L, n, x)
        for a in range(n):
            J[free[a], column] = x[a] / unit[free[a]] if regular else np.nan
    return J


@kernel
def skin_forces(skins, shape, radius, pose, free, size):
    """(tension (m,), force (m, 3, 3), K (m, 9, 9), dp/de (3, 4m)) with the object at a pose.

    force: force [N] and moment [N·m] of each skin on A, on the object and on B; K = −∂(force), see
    `evaluate`.
    """
    m = len(skins[0])
    kinds, tension = np.zeros(m, np.int64), np.zeros(m)
    force, stiffness = np.empty((m, 3, 3)), np.empty((m, 9, 9))
    evaluate(skins, skin_stations(shape, radius), pose, kinds, tension, force, stiffness)
    for k in range(m):
        scale(force[k], -tension[k])
    return tension, force, stiffness, pose_jacobian(stiffness, free, size)

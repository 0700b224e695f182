"""The rod element in compiled loops: two ends, each a place x and section axes Λ, and one constant strain.

The helix from one end to the other, the logarithm of their relative motion, is the strain (times length):

    θ = log(Λ₁ᵀΛ₂)                      [rad]  twist and bending
    u = A(θ) p,  p = Λ₁ᵀ(x₂ − x₁)         [m]  stretch and shear
    A = I − ½[θ]ₓ + c [θ]ₓ²,  c = (1 − ½θ cot ½θ)/θ²
    E = ½ (u − u₀)·C_u(u − u₀) + ½ (θ − θ₀)·C_θ(θ − θ₀)

It depends on the relative motion only, so that rigid motion costs nothing; a rod bent to a circle has no
shear, so that thin rods do not lock. With n = C_u(u − u₀), m = C_θ(θ − θ₀) and δy = Λ₁ᵀ(δx₂ − δx₁), and
ends turned by Λ ← Λ exp([φ]ₓ),

    δp = δy + p × φ₁,   δθ = Aᵀφ₂ − Aφ₁,    f = ∂E/∂p = Aᵀn,   μ = ∂E/∂θ = m + (∂u/∂θ)ᵀn
    ∂E/∂y = f,          ∂E/∂φ₁ = f × p − Aᵀμ,          ∂E/∂φ₂ = Aμ

and K is the symmetric part of the derivative of these, which is the Hessian of E along q ⊕ s dq.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pliant.bodies.blocks import kernel

LARGEST_TURN = 3.0  # [rad] between the ends of an element: beyond π the logarithm jumps
SERIES_TERMS = 16  # of c(θ²)
SERIES_LIMIT = 4.0  # θ² [rad²] below which the series is used: its last term is rounding
NO_TURN = 1e-30  # |sin ½θ|: the axis of smaller rotations is not defined


def _series(terms: int) -> tuple[float, ...]:
    """Coefficients of c by powers of θ².

    ½θ cot ½θ = 1 − c θ² is the quotient of the series of cos ½θ and of sin(½θ)/½θ.
    """
    cosine = [Fraction((-1) ** k, 4**k * math.factorial(2 * k)) for k in range(terms + 1)]
    sine = [Fraction((-1) ** k, 4**k * math.factorial(2 * k + 1)) for k in range(terms + 1)]
    quotient: list[Fraction] = []
    for k in range(terms + 1):
        quotient.append(cosine[k] - sum(sine[j] * quotient[k - j] for j in range(1, k + 1)))
    return tuple(float(-a) for a in quotient[1:])


_SERIES = _series(SERIES_TERMS)


@kernel
def coefficients(s):
    """c(s), c′(s), c″(s) of c = (1 − ½θ cot ½θ)/θ², s = θ²."""
    c = d = e = 0.0
    if s < SERIES_LIMIT:
        for k in range(SERIES_TERMS - 1, -1, -1):
            e = e * s + d
            d = d * s + c
            c = c * s + _SERIES[k]
        return c, d, 2.0 * e
    h = 0.5 * math.sqrt(s)
    cot = 1.0 / math.tan(h)
    square = 1.0 + cot * cot
    w = (cot - h * square) / (8.0 * h)  # of h cot h, by s
    v = (2.0 * h * square * (h * cot - 1.0) - (cot - h * square)) / (64.0 * h * h * h)
    c = (1.0 - h * cot) / s
    d = -(w + c) / s
    return c, d, -(v + 2.0 * d) / s


@kernel
def rotation_vector(T, theta):
    """θ with exp([θ]ₓ) = T, |θ| ≤ π, by the quaternion's largest entry; returns |θ|."""
    trace = T[0, 0] + T[1, 1] + T[2, 2]
    i = 0
    for k in range(1, 3):
        if T[k, k] > T[i, i]:
            i = k
    if trace >= T[i, i]:
        w = 0.5 * math.sqrt(1.0 + trace)
        x, y, z = T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]
        x, y, z = x / (4.0 * w), y / (4.0 * w), z / (4.0 * w)
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        own = 0.5 * math.sqrt(max(1.0 + T[i, i] - T[j, j] - T[k, k], 0.0))
        w = (T[k, j] - T[j, k]) / (4.0 * own)
        theta[i] = own
        theta[j] = (T[j, i] + T[i, j]) / (4.0 * own)
        theta[k] = (T[k, i] + T[i, k]) / (4.0 * own)
        x, y, z = theta[0], theta[1], theta[2]
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
    size = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(size, w)
    scale = angle / size if size > NO_TURN else 2.0
    theta[0], theta[1], theta[2] = scale * x, scale * y, scale * z
    return angle


@kernel
def cross_into(a, b, out):
    """out = a × b."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


@kernel
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def apply_log(theta, c, half, v, out):
    """out = v + half θ × v + c θ × (θ × v): A v for half = −½, Aᵀv for half = ½."""
    s, along = dot(theta, theta), dot(theta, v)
    x = v[0] + half * (theta[1] * v[2] - theta[2] * v[1]) + c * (along * theta[0] - s * v[0])
    y = v[1] + half * (theta[2] * v[0] - theta[0] * v[2]) + c * (along * theta[1] - s * v[1])
    z = v[2] + half * (theta[0] * v[1] - theta[1] * v[0]) + c * (along * theta[2] - s * v[2])
    out[0], out[1], out[2] = x, y, z


@kernel
def log_matrix(theta, c, out):
    """A = I − ½[θ]ₓ + c(θθᵀ − θ²I)."""
    s = dot(theta, theta)
    for i in range(3):
        for j in range(3):
            out[i, j] = c * theta[i] * theta[j]
        out[i, i] += 1.0 - c * s
    add_cross(theta, -0.5, out)


@kernel
def add_cross(v, scale, out):
    """out += scale [v]ₓ."""
    x, y, z = scale * v[0], scale * v[1], scale * v[2]
    out[0, 1] -= z
    out[0, 2] += y
    out[1, 0] += z
    out[1, 2] -= x
    out[2, 0] -= y
    out[2, 1] += x


@kernel
def set_cross(v, out):
    """out = [v]ₓ."""
    out[0, 0] = out[1, 1] = out[2, 2] = 0.0
    out[2, 1], out[0, 2], out[1, 0] = v[0], v[1], v[2]
    out[1, 2], out[2, 0], out[0, 1] = -v[0], -v[1], -v[2]


@kernel
def log_slope(theta, c, d, half, v, out):
    """out = ∂(v + half θ × v + c θ × (θ × v))/∂θ = −half [v]ₓ + c(θvᵀ − 2vθᵀ + (θ·v)I) + 2c′ θ×(θ×v) θᵀ."""
    s, along = dot(theta, theta), dot(theta, v)
    for i in range(3):
        w = 2.0 * d * (along * theta[i] - s * v[i])
        for j in range(3):
            out[i, j] = c * (theta[i] * v[j] - 2.0 * v[i] * theta[j]) + w * theta[j]
        out[i, i] += c * along
    add_cross(v, -half, out)


@kernel
def place_end(q, pose, r, arm, turn, x, R, Q):
    """Place x = t + R a, rotation R of the region and section axes Q = R D of an end."""
    k = pose + 12 * r
    for i in range(3):
        for j in range(3):
            R[i, j] = q[k + 3 + 3 * i + j]
        x[i] = q[k + i] + dot(R[i], arm)
    for i in range(3):
        for j in range(3):
            Q[i, j] = R[i, 0] * turn[0, j] + R[i, 1] * turn[1, j] + R[i, 2] * turn[2, j]


@kernel
def relative(x, Q, p, theta, T):
    """p = Λ₁ᵀ(x₂ − x₁) and θ = log(Λ₁ᵀΛ₂) of ends x (2, 3), Q (2, 3, 3); returns |θ|."""
    for i in range(3):
        p[i] = 0.0
        for a in range(3):
            p[i] += Q[0, a, i] * (x[1, a] - x[0, a])
        for j in range(3):
            T[i, j] = Q[0, 0, i] * Q[1, 0, j] + Q[0, 1, i] * Q[1, 1, j] + Q[0, 2, i] * Q[1, 2, j]
    return rotation_vector(T, theta)


@kernel
def strains(q, pose, ends, arm, turn, out):
    """out (ne, 6): u [m] and θ [rad] of every element; the largest turn [rad]."""
    x, R, Q = np.empty((2, 3)), np.empty((3, 3)), np.empty((2, 3, 3))
    p, theta, T, largest = np.empty(3), np.empty(3), np.empty((3, 3)), 0.0
    for e in range(ends.shape[0]):
        for k in range(2):
            place_end(q, pose, ends[e, k], arm[e, k], turn[e, k], x[k], R, Q[k])
        largest = max(largest, relative(x, Q, p, theta, T))
        apply_log(theta, coefficients(dot(theta, theta))[0], -0.5, p, out[e])
        for i in range(3):
            out[e, 3 + i] = theta[i]
    return largest

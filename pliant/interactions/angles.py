"""Angles of a vector, with first and second derivatives.

about an axis a        θ = atan2(v·w, u·w)         w seen in the plane (u, v) ⟂ a; smooth unless w ∥ a
to a direction b       α = atan2(|w × b|, w·b)     in [0, π]; derivatives are set to zero at 0 and π
"""

from __future__ import annotations

import numpy as np
from numba import njit

ALIGNED = 1e-9  # sin α below which the angle to a direction has no derivative


def turn_about(middle: float) -> tuple[float, float]:
    """The angles [rad] that positions can tell apart: half a turn to both sides of the middle."""
    return middle - float(np.pi), middle + float(np.pi)


@njit(cache=True, error_model="numpy")
def cross(a, b):
    """a × b."""
    c = np.empty(3)
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]
    return c


@njit(cache=True, error_model="numpy")
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, error_model="numpy")
def mix(s, a, t, b):
    """s a + t b."""
    c = np.empty(3)  # one loop instead of array expressions, which are slow to compile
    for i in range(3):
        c[i] = s * a[i] + t * b[i]
    return c


@njit(cache=True, error_model="numpy")
def add_symmetric(out, s, a, b):
    """out += s (a bᵀ + b aᵀ)."""
    for i in range(3):
        for j in range(3):
            out[i, j] += s * (a[i] * b[j] + b[i] * a[j])


@njit(cache=True, error_model="numpy")
def about_axis(u, w, axis):
    """Angle from u to w about a unit axis, in (−π, π]; only their parts ⟂ axis count."""
    return np.arctan2(dot(axis, cross(u, w)), dot(u, w) - dot(u, axis) * dot(w, axis))


@njit(cache=True, error_model="numpy")
def about_axis_gradient(w, axis):
    """∂θ/∂w = a × w / ρ², ρ the length of w ⟂ a."""
    t = cross(axis, w)
    return mix(1.0 / dot(t, t), t, 0.0, t)


@njit(cache=True, error_model="numpy")
def about_axis_hessian(w, axis):
    """∂²θ/∂w² = −(r tᵀ + t rᵀ)/ρ⁴ with r = w ⟂ a and t = a × w, both of length ρ."""
    out, t = np.zeros((3, 3)), cross(axis, w)
    add_symmetric(out, -1.0 / dot(t, t) ** 2, mix(1.0, w, -dot(w, axis), axis), t)
    return out


@njit(cache=True, error_model="numpy")
def between(w, b):
    """Angle between w and b, in [0, π]."""
    c = cross(w, b)
    return np.arctan2(np.sqrt(dot(c, c)), dot(w, b))


@njit(cache=True, error_model="numpy")
def _away(w, b):
    """|w|, ŵ, the unit vector ⟂ w that points away from b (zero if aligned), and cot α."""
    n, m = np.sqrt(dot(w, w)), np.sqrt(dot(b, b))
    c = dot(w, b) / (n * m)
    away = mix(c / n, w, -1.0 / m, b)
    s = np.sqrt(dot(away, away))
    scale = 1.0 / s if s > ALIGNED else 0.0
    return n, mix(1.0 / n, w, 0.0, w), mix(scale, away, 0.0, away), c * scale


@njit(cache=True, error_model="numpy")
def between_gradient(w, b):
    """∂α/∂w = θ̂/|w|, θ̂ the unit vector ⟂ w that points away from b; b may have any length."""
    n, _, away, _ = _away(w, b)
    return mix(1.0 / n, away, 0.0, away)


@njit(cache=True, error_model="numpy")
def between_hessian(w, b):
    """∂²α/∂w² = (−ŵ θ̂ᵀ − θ̂ ŵᵀ + cot α φ̂ φ̂ᵀ)/|w|² with φ̂ = ŵ × θ̂."""
    n, direction, away, cot = _away(w, b)
    out, side = np.zeros((3, 3)), cross(direction, away)
    add_symmetric(out, -1.0 / n**2, direction, away)
    add_symmetric(out, 0.5 * cot / n**2, side, side)
    return out

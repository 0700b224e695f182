"""Shared by the friction tests: a rigid block, random problems, and an independent check of the law."""

from __future__ import annotations

import numpy as np

MASS, STEP, GRAVITY = 2.0, 1e-2, 9.81  # kg, s, m/s²
INERTIA = np.array([0.02, 0.03, 0.04])  # kg·m²


def rows_of(points: np.ndarray, normals: np.ndarray, turn: float = 0.0) -> np.ndarray:
    """(3n, 6) normals, then tangents (turned by an angle about the normal) of points of a rigid body."""
    rows = []
    for point, normal in zip(points, normals):
        t = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
        t /= np.linalg.norm(t)
        u = np.cross(normal, t)
        frame = [normal, np.cos(turn) * t + np.sin(turn) * u, np.cos(turn) * u - np.sin(turn) * t]
        rows.append([np.concatenate([d, np.cross(point, d)]) for d in frame])
    H = np.array(rows).reshape(-1, 3, 6)
    return np.concatenate([H[:, 0], H[:, 1:].reshape(-1, 6)])


def block(
    points: np.ndarray, force: np.ndarray, *, turn: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(W, q, H) of a block on z = 0 for a step under a force (6,): W = h² H M⁻¹ Hᵀ, q = h² H M⁻¹ f."""
    points = np.atleast_2d(points).astype(float)
    H = rows_of(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), turn)
    inverse = 1.0 / np.concatenate([np.full(3, MASS), INERTIA])
    return STEP**2 * (H * inverse) @ H.T, STEP**2 * H @ (inverse * force), H


def weight(extra=(0.0, 0.0, 0.0), moment=(0.0, 0.0, 0.0)) -> np.ndarray:
    """(6,) gravity and further loads at the centre."""
    return np.concatenate([np.array([0.0, 0.0, -MASS * GRAVITY]) + extra, moment])


def corners(half: float = 0.1, count: int = 2, depth: float = 0.0) -> np.ndarray:
    """(count², 3) points of a square below the centre."""
    x = np.linspace(-half, half, count)
    return np.array([(a, b, -depth) for a in x for b in x])


def law_error(W, q, mu, solution) -> float:
    """How far λ is from the projection on the cone of λ − (w + μ‖w_T‖ n): De Saxcé's form of the law.

    In units of the data, rows scaled by compliance; computed without the solver's own functions.
    """
    n = len(mu)
    p = len(q) - 3 * n
    own = np.diag(W)[p:]
    unit_n = 1.0 / np.sqrt(np.where(own[:n] > 0, own[:n], 1.0))
    across = own[n:].reshape(n, 2).mean(axis=1)
    unit_t = 1.0 / np.sqrt(np.where(across > 0, across, 1.0))
    lam, w = solution.effort[p:], (W @ solution.effort + q)[p:]
    x = np.column_stack([lam[:n] / unit_n, lam[n:].reshape(n, 2) / unit_t[:, None]])
    v = np.column_stack([w[:n] * unit_n, w[n:].reshape(n, 2) * unit_t[:, None]])
    m = mu * unit_n / unit_t
    v[:, 0] += m * np.hypot(v[:, 1], v[:, 2])
    size = np.abs(np.concatenate([q[p : p + n] * unit_n, q[p + n :] * np.repeat(unit_t, 2)])).max(
        initial=1e-300
    )
    return float(
        np.abs(x - np.array([onto_cone(y, c) for y, c in zip(x - v, m)]).reshape(n, 3)).max(initial=0.0)
        / size
    )


def onto_cone(y: np.ndarray, mu: float) -> np.ndarray:
    """Projection of (y_N, y_T) on ‖y_T‖ ≤ μ y_N."""
    radius = np.hypot(y[1], y[2])
    if radius <= mu * y[0]:
        return y
    if mu * radius <= -y[0]:
        return np.zeros(3)
    normal = (y[0] + mu * radius) / (1.0 + mu * mu)
    return np.array([normal, *(mu * normal / radius * y[1:])])


def obeying(rng: np.random.Generator, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(λ, w) of contacts that obey the law, open, sticking or slipping; normals then tangents."""
    n = len(mu)
    kind, angle = rng.integers(0, 3, n), rng.uniform(0, 2 * np.pi, n)
    d = np.column_stack([np.cos(angle), np.sin(angle)])
    normal, gap = np.abs(rng.normal(size=n)), np.zeros(n)
    tangent, slip = d * (mu * normal)[:, None], -d * np.abs(rng.normal(size=n))[:, None]
    tangent[kind == 1] *= rng.uniform(size=(np.count_nonzero(kind == 1), 1))
    slip[kind == 1] = 0.0
    opened = kind == 0
    normal[opened], tangent[opened], gap[opened] = 0.0, 0.0, np.abs(rng.normal(size=opened.sum()))
    return np.concatenate([normal, tangent.ravel()]), np.concatenate([gap, slip.ravel()])

"""A slender body for random problems: the rows of points, cables and obstacles on it, and its compliance.

The rod bends in two planes and stretches; its compliance is the Green's function of a cantilever, mixed by a
random congruence so that no two share their modes. Cables run along it at some offset and end at some height,
a slider moves its base.
"""

from __future__ import annotations

import numpy as np

LENGTH, RADIUS = 0.2, 0.01  # [m]
STATIONS = 40
BENDING, STRETCHING = 2e-3, 30.0  # EI [N·m²], EA [N]
BASE = 200.0  # stiffness of the base slider's support [N/m]
LOCAL = 1e-3  # of the mean compliance: local indentation, without which many contacts would be dependent


def _heights() -> np.ndarray:
    return LENGTH * np.arange(1, STATIONS + 1) / STATIONS


def compliance(rng: np.random.Generator) -> np.ndarray:
    """K⁻¹ (3s+1, 3s+1) of a cantilever, randomly mixed, over u_x, u_y, u_z of the stations and the base."""
    s = _heights()
    low, high = np.minimum.outer(s, s), np.maximum.outer(s, s)
    bend = low**2 * (3 * high - low) / (6 * BENDING)
    G = np.zeros((3 * STATIONS + 1, 3 * STATIONS + 1))
    for k, block in enumerate((bend, bend, low / STRETCHING)):
        G[k * STATIONS : (k + 1) * STATIONS, k * STATIONS : (k + 1) * STATIONS] = block
    G[-1, -1] = 1.0 / BASE
    n = len(G)
    mix = np.eye(n) + 0.2 * rng.normal(size=(n, 6)) @ rng.normal(size=(6, n)) / np.sqrt(6 * n)
    return mix @ G @ mix.T + LOCAL * np.trace(G) / n * np.eye(n)


def section(height: float) -> np.ndarray:
    """(3, 3s+1): displacement of the section at a height; the base carries it along z."""
    s = _heights()
    rows = np.zeros((3, 3 * STATIONS + 1))
    k = int(np.clip(np.searchsorted(s, height), 1, STATIONS - 1))
    share = np.clip((height - s[k - 1]) / (s[k] - s[k - 1]), 0.0, 1.0)
    for axis in range(3):
        rows[axis, axis * STATIONS + k - 1], rows[axis, axis * STATIONS + k] = 1.0 - share, share
    rows[2, -1] = 1.0
    return rows


def cables(count: int, rng: np.random.Generator) -> np.ndarray:
    """Cables in rings of up to four that end at different heights; an odd last actuator pushes the base."""
    rows = []
    for k in range(count - count % 2):
        ring = k // 4
        end = LENGTH * (1.0 - 0.45 * ring)
        per_ring = min(4, count - count % 2 - 4 * ring)
        angle = 2 * np.pi * (k % 4) / per_ring + 0.1 * rng.normal()
        step = LENGTH / STATIONS
        slope = (section(end) - section(end - step)) / step
        # pulling shortens the cable: its end rotates towards it and comes down
        rows.append(RADIUS * (np.cos(angle) * slope[0] + np.sin(angle) * slope[1]) - section(end)[2])
        rows[-1][-1] = 0.0
    if count % 2:
        rows.append(np.eye(3 * STATIONS + 1)[-1])
    return np.array(rows)


def obstacles(count: int, rng: np.random.Generator) -> np.ndarray:
    """Points along the rod that face walls on opposite sides, half of them each, like a slit or a pipe."""
    heights = rng.uniform(0.15, 1.0, count) * LENGTH
    angles = np.pi * np.arange(count) + rng.normal(size=count) * 0.6
    tilt = 0.1 * rng.normal(size=count)
    normals = np.stack([np.cos(angles), np.sin(angles), tilt], axis=1)
    return np.stack([normal @ section(height) for normal, height in zip(normals, heights)])

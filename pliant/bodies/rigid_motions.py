"""The rigid motions of a body, as changes of its coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np


def rigid_motions(body: Any, q: np.ndarray) -> np.ndarray:
    """dq (ndof, 6) of the unit rigid motions of a body at q: three translations, then three rotations.

    Rotations are about the mean of the nodes, and divided by the extent of the body.
    """
    own, turns = np.flatnonzero(body.node_block >= 0), np.asarray(body.region_block, int)
    count, (centre, size) = 3 * len(body.node_block), pole(body, q)
    x, poses = q[:count].reshape(-1, 3), q[count : count + 12 * len(turns)].reshape(-1, 12)
    Q, R = np.asarray(body.region_frame).reshape(-1, 3, 3), poses[:, 3:].reshape(-1, 3, 3)
    B = np.zeros((body.ndof // 3, 3, 6))
    B[body.node_block[own], :, :3], B[turns, :, :3] = np.eye(3), Q.transpose(0, 2, 1)
    B[body.node_block[own], :, 3:] = _crossed((x[own] - centre) / size)
    B[turns, :, 3:] = Q.transpose(0, 2, 1) @ _crossed((poses[:, :3] - centre) / size)
    B[turns + 1, :, 3:] = R.transpose(0, 2, 1) / size
    return B.reshape(-1, 6) * np.asarray(body.free)[:, None]


def pole(body: Any, q: np.ndarray) -> tuple[np.ndarray, float]:
    """The mean of the nodes (3,) [m] that these rotations are about, and the extent of the body [m]."""
    x = q[: 3 * len(body.node_block)].reshape(-1, 3)
    return x.mean(axis=0), float(np.ptp(x, axis=0).max())


def _crossed(y: np.ndarray) -> np.ndarray:
    """(n, 3, 3): the columns are e × y for the unit vectors e."""
    T = np.zeros((len(y), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        T[:, j, i], T[:, k, i] = -y[:, k], y[:, j]
    return T

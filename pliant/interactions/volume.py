"""∫ (c + h·x) dV inside a closed triangulated surface, with derivatives by its points.

With c = 1 it is the volume; with h = ρ g the work of a liquid's weight. A triangle (x, y, z) makes a
tetrahedron with the origin as apex and adds V s, with V = x·(y × z)/6 and s = c + h·(x + y + z)/4.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.interactions.surfaces import triangle_pairs


class Volume:
    """Integrals over the inside of `triangles` (t, 3); rims, loops of directed edges, are closed by fans.

    A fan's hub is the mean of its rim's points: an extra point that is eliminated, so that gradients and
    Hessians come back to the P given points. `weighted`: h may be non-zero, which couples a point with
    itself. `form`: triples (n, 3) and weights (n,) to integrate instead of the triangles, V = Σ w a·(b×c)/6
    (curved facets; only without h).
    """

    def __init__(
        self,
        count: int,
        triangles: np.ndarray,
        rims: list[np.ndarray],
        *,
        weighted: bool,
        form: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.count, self.given = count, triangles
        self._rims, self._weighted, self._form = rims, weighted, form
        fans = [np.column_stack([r[:, ::-1], np.full(len(r), count + k)]) for k, r in enumerate(rims)]
        triples, weights = (triangles, np.ones(len(triangles))) if form is None else form
        self._triangles = np.ascontiguousarray(np.concatenate([triples, *fans]), np.int64)
        self._weights = np.concatenate([weights, np.ones(len(self._triangles) - len(weights))])
        self._rim_ptr = np.cumsum([0] + [len(r) for r in rims])
        self._rim_point = np.concatenate([r[:, 0] for r in rims] or [np.zeros(0, np.int64)])
        self.pairs, self._slots = triangle_pairs(self._triangles, diagonal=weighted)
        self._fold = None
        if rims:
            self.pairs, *self._fold = _fold(self.pairs, count, [r[:, 0] for r in rims], weighted)

    def turned(self) -> Volume:
        """The same surface with all triangles turned over."""
        rims = [r[:, ::-1] for r in self._rims]
        form = None if self._form is None else (self._form[0][:, ::-1], self._form[1])
        given = np.ascontiguousarray(self.given[:, ::-1])
        return Volume(self.count, given, rims, weighted=self._weighted, form=form)

    def integral(self, p: np.ndarray, origin: np.ndarray, c: float, h: np.ndarray) -> float:
        """∫ (c + h·(x − origin)) dV."""
        return _integral(self._extended(p, origin), self._triangles, self._weights, c, h)

    def gradient(self, p: np.ndarray, origin: np.ndarray, c: float, h: np.ndarray) -> np.ndarray:
        """By the points, (P, 3)."""
        x = self._extended(p, origin)
        return _gradient(x, self._triangles, self._weights, c, h, self.count, self._rim_ptr, self._rim_point)

    def hessian(self, p: np.ndarray, origin: np.ndarray, c: float, h: np.ndarray) -> np.ndarray:
        """By the points, on the pairs, (npair, 3, 3)."""
        x, npair = self._extended(p, origin), int(self._slots.max()) + 1
        blocks = _hessian(x, self._triangles, self._weights, self._slots, npair, c, h)
        if self._fold is None:
            return blocks
        return _fold_blocks(blocks, len(self.pairs), *self._fold)

    def _extended(self, p: np.ndarray, origin: np.ndarray) -> np.ndarray:
        return _extend(p, origin, self._rim_ptr, self._rim_point)


def _fold(pairs: np.ndarray, count: int, rims: list[np.ndarray], diagonal: bool):
    """How Hessian blocks that involve a hub are shared out to rim points.

    Returns the pairs of given points, and for each term (target pair, source block, weight, transposed).
    """
    i, j = pairs.T
    plain = np.flatnonzero(i < count)
    terms = [(i[plain], j[plain], plain, np.ones(len(plain)), np.zeros(len(plain), bool))]
    for k, rim in enumerate(rims):
        n = len(rim)
        spokes = np.flatnonzero((i == count + k) & (j < count))
        # Block (hub, r) contributes to (s, r) for all s of the rim.
        r, s = np.repeat(j[spokes], n), np.tile(rim, len(spokes))
        source = np.repeat(spokes, n)
        terms.append((s, r, source, np.full(len(s), 1 / n), np.zeros(len(s), bool)))
        terms.append((r, s, source, np.full(len(s), 1 / n), np.ones(len(s), bool)))
        hub = np.flatnonzero((i == count + k) & (j == count + k))
        r, s = np.repeat(rim, n * len(hub)), np.tile(rim, n * len(hub))
        terms.append((r, s, np.repeat(hub, n * n), np.full(len(r), 1 / n**2), np.zeros(len(r), bool)))
    i, j, source, weight, transposed = (np.concatenate(x) for x in zip(*terms))
    keep = i >= j if diagonal else i > j
    keys, target = np.unique((i * count + j)[keep], return_inverse=True)
    return np.column_stack(np.divmod(keys, count)), target, source[keep], weight[keep], transposed[keep]


@njit(cache=True, error_model="numpy")
def _extend(p, origin, rim_ptr, rim_point):
    """Points and hubs, from the origin."""
    P, L = len(p), len(rim_ptr) - 1
    x = np.zeros((P + L, 3))
    for i in range(P):
        for c in range(3):
            x[i, c] = p[i, c] - origin[c]
    for k in range(L):
        n = rim_ptr[k + 1] - rim_ptr[k]
        for e in range(rim_ptr[k], rim_ptr[k + 1]):
            for c in range(3):
                x[P + k, c] += x[rim_point[e], c] / n
    return x


@njit(cache=True, error_model="numpy")
def _tetrahedron(x, corners, weight, faces):
    """faces[k] = ∂V/∂(corner k) = w (next × after next)/6; returns V."""
    w = weight / 6.0
    for k in range(3):
        b, c = x[corners[(k + 1) % 3]], x[corners[(k + 2) % 3]]
        faces[k, 0] = w * (b[1] * c[2] - b[2] * c[1])
        faces[k, 1] = w * (b[2] * c[0] - b[0] * c[2])
        faces[k, 2] = w * (b[0] * c[1] - b[1] * c[0])
    a = x[corners[0]]
    return a[0] * faces[0, 0] + a[1] * faces[0, 1] + a[2] * faces[0, 2]


@njit(cache=True, error_model="numpy")
def _mean_weight(x, corners, c, h):
    """s = c + h·(x + y + z)/4."""
    s = c
    for k in range(3):
        y = x[corners[k]]
        s += 0.25 * (h[0] * y[0] + h[1] * y[1] + h[2] * y[2])
    return s


@njit(cache=True, error_model="numpy")
def _integral(x, triangles, weights, c, h):
    total, faces = 0.0, np.empty((3, 3))
    for t in range(len(triangles)):
        total += _tetrahedron(x, triangles[t], weights[t], faces) * _mean_weight(x, triangles[t], c, h)
    return total


@njit(cache=True, error_model="numpy")
def _gradient(x, triangles, weights, c, h, count, rim_ptr, rim_point):
    g, faces = np.zeros(x.shape), np.empty((3, 3))
    for t in range(len(triangles)):
        volume = _tetrahedron(x, triangles[t], weights[t], faces)
        s = _mean_weight(x, triangles[t], c, h)
        for k in range(3):
            for d in range(3):
                g[triangles[t, k], d] += s * faces[k, d] + 0.25 * volume * h[d]
    for k in range(len(rim_ptr) - 1):
        n = rim_ptr[k + 1] - rim_ptr[k]
        for e in range(rim_ptr[k], rim_ptr[k + 1]):
            for d in range(3):
                g[rim_point[e], d] += g[count + k, d] / n
    return g[:count]


@njit(cache=True, error_model="numpy")
def _hessian(x, triangles, weights, slots, npair, c, h):
    """s ∂²V/∂x_k∂x_l + (f_k hᵀ + h f_lᵀ)/4, where ∂²V/∂a∂b = −[c]ₓ/6 going round and f = ∂V/∂x."""
    blocks, faces = np.zeros((npair, 3, 3)), np.empty((3, 3))
    weighted = h[0] != 0.0 or h[1] != 0.0 or h[2] != 0.0
    for t in range(len(triangles)):
        if weighted:
            _tetrahedron(x, triangles[t], weights[t], faces)
        s = weights[t] * _mean_weight(x, triangles[t], c, h) / 6.0
        for k in range(3):
            for l in range(3):
                m = slots[t, k, l]
                if m < 0:
                    continue
                if k != l:
                    v = x[triangles[t, 3 - k - l]]
                    sign = s if l == (k + 1) % 3 else -s
                    blocks[m, 0, 1] += sign * v[2]
                    blocks[m, 0, 2] -= sign * v[1]
                    blocks[m, 1, 0] -= sign * v[2]
                    blocks[m, 1, 2] += sign * v[0]
                    blocks[m, 2, 0] += sign * v[1]
                    blocks[m, 2, 1] -= sign * v[0]
                if weighted:
                    for i in range(3):
                        for j in range(3):
                            blocks[m, i, j] += 0.25 * (faces[k, i] * h[j] + h[i] * faces[l, j])
    return blocks


@njit(cache=True, error_model="numpy")
def _fold_blocks(blocks, npair, target, source, weight, transposed):
    out = np.zeros((npair, 3, 3))
    for e in range(len(target)):
        for i in range(3):
            for j in range(3):
                b = blocks[source[e], j, i] if transposed[e] else blocks[source[e], i, j]
                out[target[e], i, j] += weight[e] * b
    return out

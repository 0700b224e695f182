"""All interactions of a robot at once: δ, H and geometric stiffness, by the chain rule through their points.

Everything that depends only on the mesh (which row touches which block of dq, where the geometric stiffness
lands in K) is laid out once; each step then runs a few compiled loops over flat arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.algebra.pattern import Pattern
from pliant.errors import InputError
from pliant.interactions.chain import add_geometric_stiffness, chain_rows, point_forces, subtract_blocks
from pliant.interactions.dense import DensePairs, dense_rows
from pliant.interactions.interaction import Interaction
from pliant.points import Points

ADD, ADD_TRANSPOSE, ADD_BOTH = 0, 1, 2  # how a block of the geometric stiffness enters the stored half of K


class Bundle:
    """Interactions stacked row by row over bodies whose coordinates are concatenated.

    `q_offset` and `block_offset` (per body) say where each body's q and blocks of dq begin.
    """

    def __init__(
        self,
        interactions: Sequence[Interaction],
        bodies: Sequence[Any],
        q_offset: Sequence[int],
        block_offset: Sequence[int],
        ndof: int,
    ) -> None:
        self.interactions = tuple(interactions)
        self.ndof = ndof
        sizes = [i.size for i in self.interactions]
        counts = [i.point_count for i in self.interactions]
        self.row_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.point_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.rows = int(self.row_start[-1])
        # Of each interaction: its points, its rows, its part of the stencils, and which have loads.
        self._own = _slices(self.point_start)
        self._row_spans = _slices(self.row_start)
        self._loading = [k for k, i in enumerate(interactions) if type(i).load is not Interaction.load]
        ends = np.cumsum([i.internal for i in self.interactions], dtype=int)
        self.internal = int(ends[-1]) if len(ends) else 0
        self.own_internal = [slice(int(e) - i.internal, int(e)) for e, i in zip(ends, self.interactions)]
        sliding = [s.start for i, s in zip(self.interactions, self.own_internal) if i.slides]
        self.sliding = np.array(sliding, int)  # which of what is remembered is the ρ of a cable
        self.driven = [k for k, i in enumerate(self.interactions) if i.drive is not None]
        self.lined = [k for k, i in enumerate(self.interactions) if i.line is not None]
        self._gather_points(bodies, q_offset, block_offset)
        self._lay_out_rows()

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Positions of all points, (P, 3) [m]."""
        if len(self._groups) == 1:
            _, points, span, _ = self._groups[0]
            return points.position(q[span])
        p = np.empty((int(self.point_start[-1]), 3))
        for where, points, span, _ in self._groups:
            p[where] = points.position(q[span])
        return p

    def delta(self, p: np.ndarray) -> np.ndarray:
        """δ, (rows,)."""
        out = np.empty(self.rows)
        for k, i in enumerate(self.interactions):
            out[self._row_spans[k]] = i.value(p[self._own[k]])
        return out

    def gradient(self, p: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        """∂δ/∂p on the stencils, (nnz, 3); with internal variables z what the efforts act by."""
        out = np.empty((len(self._stencil_point), 3))
        for k, i in enumerate(self.interactions):
            own = p[self._own[k]]
            acting = i.gradient(own) if z is None or not i.slides else i.acting(own, z[self.own_internal[k]])
            out[self._stencils[k]] = acting
        return out

    def remembering(self, p: np.ndarray) -> list[tuple[int, Any, np.ndarray]]:
        """Row, interaction and points of each one that remembers how it slid, as `sliding`."""
        each = enumerate(self.interactions)
        return [(int(self.row_start[k]), i, p[self._own[k]]) for k, i in each if i.slides]

    def jacobian(self, q: np.ndarray, gradient: np.ndarray) -> SparseRows:
        """H = ∂δ/∂dq, (rows, ndof)."""
        if self._all_dense is not None:
            H = dense_rows(gradient, self._indptr_rows, self._stencil_point, self._all_dense)
            indptr = self.ndof * np.arange(self.rows + 1)
            return SparseRows(indptr, np.tile(np.arange(self.ndof), self.rows), H.ravel(), H.shape)
        support = self._ptr, self._plain, self._weight
        data = chain_rows(gradient, self._stencil_point, *support, self.point_jacobian(q), self._nnz)
        return SparseRows(self._indptr, self._indices, data, (self.rows, self.ndof))

    def loads(self, q: np.ndarray, p: np.ndarray, gravity: np.ndarray) -> np.ndarray | None:
        """Forces on the points that act whatever λ is, (P, 3) [N]; None if there are none."""
        forces = None
        for k in self._loading:
            load = self.interactions[k].load(p[self._own[k]], gravity)
            if load is not None:
                if forces is None:
                    forces = np.zeros((int(self.point_start[-1]), 3))
                forces[self._own[k]] += load
        return forces

    def load_vector(self, q: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Jᵀ forces, (ndof,): what forces on the points do to dq."""
        out = np.zeros(self.ndof)
        J = self.point_jacobian(q)
        contribution = np.einsum("eij,ei->ej", J, forces[self._entry_point])
        np.add.at(out.reshape(-1, 3), self._block, contribution)
        return out

    def point_jacobian(self, q: np.ndarray) -> np.ndarray:
        """∂p/∂dq on the support of all points, (entries, 3, 3)."""
        if len(self._groups) == 1:
            _, points, span, _ = self._groups[0]
            return points.jacobian(q[span])
        J = np.empty((len(self._block), 3, 3))
        for _, points, span, entries in self._groups:
            J[entries] = points.jacobian(q[span])
        return J

    @cached_property
    def couplings(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of dq blocks that the geometric stiffness couples: K's pattern must contain them."""
        _, _, _, i, j, _ = self._operations
        return i, j

    def place(self, pattern: Pattern) -> tuple[np.ndarray, ...]:
        """Where each coupling lands in K's stored blocks, and where those of each reduced body stand."""
        i, j = self.couplings
        index, _ = pattern.find(np.maximum(i, j), np.minimum(i, j))
        return index, *(pairs.place(pattern) for pairs in self._dense_pairs)

    def add_geometric_stiffness(
        self, K, placement, rotation_placement, q, p, lam, z, gravity, gradient, load
    ) -> None:
        """K −= ∂(Hᵀλ + loads)/∂dq, in place on the pattern's blocks."""
        if len(self._pairs):
            M = np.zeros((len(self._pairs), 3, 3))
            for k, i in enumerate(self.interactions):
                a, b = self._pair_start[k], self._pair_start[k + 1]
                own = lam[self._row_spans[k]]
                if b > a and own.any():
                    points, mine = p[self._own[k]], z[self.own_internal[k]]
                    M[a:b] = i.acting_hessian(points, own, mine) if i.slides else i.hessian(points, own)
                if b > a and load is not None and i.load(p[self._own[k]], gravity) is not None:
                    M[a:b] += i.load_hessian(p[self._own[k]], gravity)
            pair, s, t, _, _, mode = self._operations
            if len(pair):
                points = self._plain, self._weight, self.point_jacobian(q)
                add_geometric_stiffness(K, M, pair, s, t, mode, placement[0], *points)
            for dense, place in zip(self._dense_pairs, placement[1:], strict=True):
                dense.subtract(K, place, M)
        if self._rotates:
            forces = point_forces(
                self._indptr_rows, self._stencil_point, gradient, lam, int(self.point_start[-1])
            )
            if load is not None:
                forces += load
            second = [points.second(q[span], forces[where]) for where, points, span, _ in self._groups]
            subtract_blocks(K, rotation_placement, np.concatenate(second))

    @cached_property
    def _rotates(self) -> bool:
        """Whether any point is attached to a rigid region."""
        return any(points.rotates for _, points, _, _ in self._groups)

    @cached_property
    def rotation_blocks(self) -> np.ndarray:
        """dq blocks of the rotations that move points, one per term of the rigid second derivative."""
        return np.concatenate(
            [self._block[e[p.turning]] for _, p, _, e in self._groups] or [np.zeros(0, int)]
        )

    def _gather_points(self, bodies, q_offset, block_offset) -> None:
        """Make one Points per body (a group), its place in the stacked points, and the stacked support."""
        parts: list[list[Points]] = [[] for _ in bodies]
        places: list[list[np.ndarray]] = [[] for _ in bodies]
        number = {id(body): n for n, body in enumerate(bodies)}
        start = 0
        for interaction in self.interactions:
            for points in interaction.points:
                if id(points.owner) not in number:
                    raise InputError(
                        f"points of a {type(interaction).__name__}",
                        expected="points of the robot's bodies",
                        got="points of another body",
                    )
                n = number[id(points.owner)]
                parts[n].append(points)
                places[n].append(np.arange(start, start + len(points)))
                start += len(points)
        self._groups = []
        point, block, weight, plain, first = [], [], [], [], 0
        for n, body in enumerate(bodies):
            if not parts[n]:
                continue
            points, where = Points.concatenate(parts[n]), np.concatenate(places[n])
            span = slice(q_offset[n], q_offset[n] + len(body.q0))
            self._groups.append((where, points, span, np.arange(first, first + len(points.block))))
            first += len(points.block)
            point.append(where[points.entry_point])
            block.append(points.block + block_offset[n])
            weight.append(points.weight)
            plain.append(points.plain)
        join = lambda arrays, kind: np.concatenate(arrays).astype(kind) if arrays else np.zeros(0, kind)
        of_point = join(point, np.int64)
        # With several bodies the entries of one interaction's points stand apart: bring them together.
        order = np.argsort(of_point, kind="stable")
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        self._groups = [(w, p, s, inverse[e]) for w, p, s, e in self._groups]
        self._entry_point: np.ndarray = of_point[order]
        self._block: np.ndarray = join(block, np.int64)[order]
        self._weight, self._plain = join(weight, float)[order], join(plain, np.bool_)[order]
        self._ptr = np.searchsorted(self._entry_point, np.arange(start + 1)).astype(np.int64)

    def _lay_out_rows(self) -> None:
        """The sparsity of H: row → stencil points → support blocks → three columns each."""
        ptrs, pts, rows = [], [], [np.zeros(1, np.int64)]
        for k, i in enumerate(self.interactions):
            ptr, point = i.stencil()
            pts.append(point + self.point_start[k])
            rows.append(np.asarray(ptr[1:], np.int64) + (rows[-1][-1] if len(rows[-1]) else 0))
            ptrs.append(len(point))
        self._stencils = _slices(np.concatenate([[0], np.cumsum(ptrs)]))
        self._stencil_point = np.concatenate(pts).astype(np.int64) if pts else np.zeros(0, np.int64)
        self._indptr_rows = np.concatenate(rows).astype(np.int64)
        counts = np.diff(self._ptr)[self._stencil_point]
        entry_end = np.concatenate([[0], np.cumsum(counts)])
        first = np.repeat(self._ptr[self._stencil_point] - entry_end[:-1], counts) + np.arange(entry_end[-1])
        self._indices = (3 * self._block[first][:, None] + np.arange(3)).ravel()
        self._indptr = 3 * entry_end[self._indptr_rows]
        self._nnz = 3 * int(entry_end[-1])
        starts, pairs = [0], []
        for k, i in enumerate(self.interactions):
            pair = i.pairs()
            pairs.append(pair + self.point_start[k])
            starts.append(starts[-1] + len(pair))
        self._pair_start = np.array(starts)
        self._pairs = np.concatenate(pairs).astype(np.int64) if pairs else np.zeros((0, 2), np.int64)

    @cached_property
    def _all_dense(self) -> np.ndarray | None:
        """∂p/∂dq (3P, ndof) when all points are of one reduced body, and there is no other body."""
        if len(self._groups) != 1 or self._groups[0][1].dense is None:
            return None
        dense = self._groups[0][1].dense
        return dense if dense.shape[1] == self.ndof else None

    @cached_property
    def _dense_pairs(self) -> list[DensePairs]:
        """Pairs within one reduced body, body by body."""
        out = []
        for group, (where, points, _, entries) in enumerate(self._groups):
            inside = (self._pair_group == group).all(axis=1)
            if points.dense is None or not inside.any():
                continue
            local = np.zeros(int(self.point_start[-1]), np.int64)
            local[where] = np.arange(len(where))
            i, j = local[self._pairs[inside]].T
            first = int((self._block[entries] - points.block)[0])
            out.append(DensePairs(points, np.flatnonzero(inside), i, j, first))
        return out

    @cached_property
    def _pair_group(self) -> np.ndarray:
        """The group of both points of each pair, (npair, 2)."""
        group = np.zeros(int(self.point_start[-1]), np.int64)
        for n, (where, _, _, _) in enumerate(self._groups):
            group[where] = n
        return group[self._pairs]

    @cached_property
    def _operations(self):
        """Each coupling: (pair, support entry of i, support entry of j, block of i, block of j, mode)."""
        i, j = self._pairs[:, 0], self._pairs[:, 1]
        sparse = np.ones(len(self._pairs), bool)
        for dense in self._dense_pairs:
            sparse[dense.which] = False
        ni, nj = np.diff(self._ptr)[i], np.diff(self._ptr)[j]
        count = np.where(sparse, ni * nj, 0)
        pair = np.repeat(np.arange(len(self._pairs)), count)
        local = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        s, t = self._ptr[i[pair]] + local // nj[pair], self._ptr[j[pair]] + local % nj[pair]
        bi, bj, same = self._block[s], self._block[t], i[pair] == j[pair]
        keep = ~same | (bi >= bj)  # within one point the upper half is the transpose of the lower
        pair, s, t, bi, bj, same = pair[keep], s[keep], t[keep], bi[keep], bj[keep], same[keep]
        mode = np.where(bi > bj, ADD, ADD_TRANSPOSE)
        mode[bi == bj] = ADD_BOTH
        mode[(bi == bj) & same] = ADD
        return pair, s, t, bi, bj, mode


def _slices(start: np.ndarray) -> list[slice]:
    """From each start to the next one."""
    return [slice(int(a), int(b)) for a, b in pairwise(start)]

"""Elimination tree, column counts and supernodes: what Cholesky will fill in, before any number is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.jit import inner, kernel
from pliant.algebra.pattern import Indices, Pattern

# A child is merged into its parent while the zeros this stores stay below a share of the merged front:
# fronts of up to so many columns, and the share. Small fronts may waste more, since a call to BLAS costs as
# much as a few hundred multiplications.
WASTED_SHARE = np.array([[4, 0.9], [12, 0.35], [24, 0.15], [np.inf, 0.05]])


class Supernodes(NamedTuple):
    """Columns that share one dense front. Fronts are postordered, children before parents."""

    order: Indices  # (size,) order[new] = old
    first: Indices  # (fronts + 1,) first column of every front
    below: Indices  # (fronts,) rows under the pivots
    parent: Indices  # (fronts,) −1 for roots

    @property
    def front_flops(self) -> NDArray[np.float64]:
        """(fronts,) multiplications and additions to eliminate each front, counted in blocks."""
        c, r = np.diff(self.first).astype(float), self.below.astype(float)
        return c**3 / 3 + r * c**2 + c * r**2

    @property
    def flops(self) -> float:
        """Multiplications and additions of the factorisation, counted in blocks."""
        return float(np.sum(self.front_flops))


def supernodes(pattern: Pattern, order: Indices) -> Supernodes:
    """Relaxed supernodes for a fill-reducing order, which is refined to a postorder of the fronts."""
    start, lower = neighbours_before(pattern, order)
    parent = _elimination_tree(start, lower)
    post = _postorder(parent)
    order, parent = order[post], _relabel(parent, post)
    start, lower = neighbours_before(pattern, order)
    count = _column_counts(start, lower, parent)

    chained = (parent[:-1] == np.arange(1, pattern.size)) & (count[:-1] == count[1:] + 1)
    head = np.flatnonzero(np.concatenate([np.ones(min(pattern.size, 1), bool), ~chained]))
    bounds = np.append(head, pattern.size)
    last = bounds[1:] - 1
    member = np.repeat(np.arange(len(head)), np.diff(bounds))
    above = np.where(parent[last] >= 0, member[parent[last]], -1)
    into = _amalgamate(np.diff(bounds), count[last], above, WASTED_SHARE)

    kept = np.flatnonzero(into == np.arange(len(head)))
    number = np.full(len(head) + 1, -1)
    number[kept] = np.arange(len(kept))
    tree = np.where(above[kept] >= 0, number[into[above[kept]]], -1)
    post = _postorder(tree)
    rank = np.empty(len(kept), np.int64)
    rank[post] = np.arange(len(kept))
    front = rank[number[into[member]]]
    columns = np.argsort(front, kind="stable")
    first = np.searchsorted(front[columns], np.arange(len(kept) + 1))
    return Supernodes(order[columns], first, count[last[kept[post]]], _relabel(tree, post))


def neighbours_before(pattern: Pattern, order: Indices) -> tuple[Indices, Indices]:
    """For every new index its smaller neighbours, as (start, items)."""
    place = np.empty(pattern.size, np.int64)
    place[order] = np.arange(pattern.size)
    i, j = place[pattern.rows], place[pattern.cols]
    off = i != j
    high, low = np.maximum(i, j)[off], np.minimum(i, j)[off]
    by_row = np.argsort(high, kind="stable")
    return np.searchsorted(high[by_row], np.arange(pattern.size + 1)), low[by_row]


def _relabel(parent: Indices, post: Indices) -> Indices:
    """Parents in the new numbering, new = position in `post`."""
    new = np.empty(len(post) + 1, np.int64)
    new[post] = np.arange(len(post))
    new[-1] = -1  # the parent of a root
    return new[parent[post]]


@kernel
def _elimination_tree(start, lower):
    """Liu's algorithm: parent[j] is the first row below the diagonal in column j of L."""
    size = len(start) - 1
    parent, ancestor = np.empty(size, np.int64), np.empty(size, np.int64)
    for j in range(size):
        parent[j], ancestor[j] = -1, -1
        for k in range(start[j], start[j + 1]):
            i = lower[k]
            while i != -1 and i < j:
                above = ancestor[i]
                ancestor[i] = j
                if above == -1:
                    parent[i] = j
                i = above
    return parent


@kernel
def _postorder(parent):
    """post[new] = old: every subtree contiguous, children before parents; forests allowed."""
    size = len(parent)
    child, sibling = np.empty(size + 1, np.int64), np.empty(size, np.int64)  # child[size]: the roots
    for j in range(size + 1):
        child[j] = -1
    for j in range(size - 1, -1, -1):
        above = parent[j] if parent[j] >= 0 else size
        sibling[j] = child[above]
        child[above] = j
    post, done, at = np.empty(size, np.int64), 0, size
    while True:
        down = child[at]
        if down >= 0:
            child[at] = sibling[down]
            at = down
        elif at == size:
            return post
        else:
            post[done] = at
            done += 1
            at = parent[at] if parent[at] >= 0 else size


@kernel
def _column_counts(start, lower, parent):
    """Entries below the diagonal in every column of L, by walking the row subtrees."""
    size = len(parent)
    count, mark = np.empty(size, np.int64), np.empty(size, np.int64)
    for j in range(size):
        count[j], mark[j] = 0, -1
        for k in range(start[j], start[j + 1]):
            i = lower[k]
            while i != j and mark[i] != j:
                mark[i] = j
                count[i] += 1
                i = parent[i]
    return count


@kernel
def _amalgamate(columns, below, parent, allowed):
    """into[s]: the supernode that s is merged into. A merged front has the rows of its topmost member.

    `columns` is overwritten by the columns of the merged fronts.
    """
    size = len(columns)
    zeros, into = np.empty(size, np.int64), np.empty(size, np.int64)
    child, sibling = np.empty(size, np.int64), np.empty(size, np.int64)
    for s in range(size - 1, -1, -1):
        zeros[s], into[s], child[s], sibling[s] = 0, s, -1, -1
        if parent[s] >= 0:
            sibling[s] = child[parent[s]]
            child[parent[s]] = s
    for s in range(size):
        while True:
            best, best_before, best_zeros, best_share = -1, -1, 0, np.inf
            before, k = -1, child[s]
            while k >= 0:
                wasted, entries = _merged(columns[k], below[k], columns[s], below[s])
                wasted += zeros[k] + zeros[s]
                row = 0
                while columns[k] + columns[s] > allowed[row, 0]:
                    row += 1
                if wasted <= allowed[row, 1] * entries and wasted / entries < best_share:
                    best, best_before, best_zeros, best_share = k, before, wasted, wasted / entries
                before, k = k, sibling[k]
            if best < 0:
                break
            into[best] = s
            columns[s] += columns[best]
            zeros[s] = best_zeros
            _replace_by_children(s, best, best_before, child, sibling)
    for s in range(size - 1, -1, -1):
        into[s] = into[into[s]]
    return into


@inner
def _merged(c, r, C, R):
    """(zeros stored, entries) of a child with c columns and r rows merged into a parent with C and R."""
    entries = (c + C) * (c + C + 1) // 2 + (c + C) * R
    return entries - c * (c + 1) // 2 - c * r - C * (C + 1) // 2 - C * R, entries


@inner
def _replace_by_children(s, merged, before, child, sibling):
    """Put the children of `merged` in its place among the children of s, after `before` (−1: at the head)."""
    head = child[merged]
    if head >= 0:
        tail = head
        while sibling[tail] >= 0:
            tail = sibling[tail]
        sibling[tail] = sibling[merged]
    else:
        head = sibling[merged]
    if before >= 0:
        sibling[before] = head
    else:
        child[s] = head

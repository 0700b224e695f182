"""Symbolic factorisation: where every number of L will be, worked out once per mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.elimination import Supernodes, neighbours_before
from pliant.algebra.jit import kernel
from pliant.algebra.pattern import Indices, Pattern

# Threads share a front if more operations are done in it and below it than in the least that pays for another
# thread (half a millisecond), and than in a small part of all.
LEAST_SHARED, SUBTREES = 2e7, 12


class Fronts(NamedTuple):
    """Layout of the dense fronts, as the kernels read it. New numbering, in blocks unless said otherwise.

    Front s has the pivots first[s]:first[s+1] and below them rows[start[s]:start[s+1]]. Its panel of L is
    column-major in panels[panel[s]:panel[s+1]]; its update for the parent lies at update[s] on the stack.
    Subtrees are ranges of fronts that one thread eliminates; `top` are the fronts above them, in order.
    """

    first: Indices
    start: Indices
    rows: Indices
    run_start: Indices  # runs of rows that are neighbours in the front of the parent too
    run_first: Indices  # index of the first row of a run in its front
    run_target: Indices  # its place in the front of the parent
    parent: Indices
    child_start: Indices
    children: Indices
    panel: Indices  # offsets in scalars
    update: Indices  # offsets in scalars
    subtree_start: Indices
    subtree_end: Indices
    top: Indices
    entry_start: Indices
    entry_block: Indices  # block of the pattern, or −1 − block where its transpose is meant
    entry_target: Indices  # offset in the panels in scalars
    diagonal: Indices  # block of the pattern, by pivot
    order: Indices  # order[new] = old
    place: Indices  # place[old] = new
    front_of: Indices  # front of every pivot


def layout(pattern: Pattern, nodes: Supernodes) -> tuple[Fronts, int]:
    """The layout for given supernodes, and the size of the stack in scalars.

    Long because it fills one record, each array in a line or two.
    """
    size, count, b = pattern.size, len(nodes.parent), pattern.block
    columns = np.diff(nodes.first)
    front_of = np.repeat(np.arange(count), columns)
    start = np.concatenate([[0], np.cumsum(nodes.below)])
    child_start, children = _children(nodes.parent)
    rows, keys = _rows(pattern, nodes, front_of, start, child_start, children)
    owner = np.repeat(np.arange(count), nodes.below)

    def local(front: Indices, row: Indices) -> Indices:
        inside = row < nodes.first[front + 1]
        under = columns[front] + np.searchsorted(keys, front * size + row) - start[front]
        return np.where(inside, row - nodes.first[front], under)

    relative = local(nodes.parent[owner], rows)
    run = np.flatnonzero((np.diff(relative, prepend=-9) != 1) | (np.diff(owner, prepend=-9) != 0))
    height = b * (columns + nodes.below)
    panel = np.concatenate([[0], np.cumsum(height * b * columns)])
    place = np.empty(size, np.int64)
    place[nodes.order] = np.arange(size)
    i, j = place[pattern.rows], place[pattern.cols]
    front = front_of[np.minimum(i, j)]
    target = panel[front] + b * (
        local(front, np.maximum(i, j)) + (np.minimum(i, j) - nodes.first[front]) * height[front]
    )
    by_target = np.argsort(target)
    top = np.flatnonzero(_large(nodes, b))
    start_of, end_of = _subtrees(nodes.parent, top)
    update, stack = _stack(nodes.parent, (b * nodes.below) ** 2, children, start_of, end_of)
    return Fronts(
        first=nodes.first,
        start=start,
        rows=rows,
        run_start=np.searchsorted(run, start),
        run_first=run - start[owner[run]],
        run_target=relative[run],
        parent=nodes.parent,
        child_start=child_start,
        children=children,
        panel=panel,
        update=update,
        subtree_start=start_of,
        subtree_end=end_of,
        top=top,
        entry_start=np.searchsorted(front[by_target], np.arange(count + 1)),
        entry_block=np.where((i >= j)[by_target], by_target, -1 - by_target),
        entry_target=target[by_target],
        diagonal=pattern.diagonal[nodes.order],
        order=nodes.order,
        place=place,
        front_of=front_of,
    ), stack


def _children(parent: Indices) -> tuple[Indices, Indices]:
    by_parent = np.argsort(parent, kind="stable")
    start = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1))
    return start - start[0], by_parent[start[0] :]


def _rows(
    pattern: Pattern,
    nodes: Supernodes,
    front_of: Indices,
    start: Indices,
    child_start: Indices,
    children: Indices,
) -> tuple[Indices, Indices]:
    """Sorted rows below every front, and the sorted keys front · size + row that find them."""
    before, lower = neighbours_before(pattern, nodes.order)
    row = np.repeat(np.arange(pattern.size), np.diff(before))
    front = front_of[lower]
    by_front = np.argsort(front, kind="stable")
    entry_start = np.searchsorted(front[by_front], np.arange(len(nodes.parent) + 1))
    rows = _fill_rows(nodes.first, start, child_start, children, entry_start, row[by_front])
    owner = np.repeat(np.arange(len(nodes.parent)), nodes.below)
    keys = np.sort(owner * pattern.size + rows)
    return keys - owner * pattern.size, keys


@kernel
def _fill_rows(first, start, child_start, children, entry_start, entry_row):
    """Rows of every front: those of its own entries and of its children, below its pivots."""
    rows, mark = np.empty(start[-1], np.int64), np.empty(first[-1], np.int64)
    for row in range(len(mark)):
        mark[row] = -1
    for s in range(len(start) - 1):
        at = start[s]
        for k in range(entry_start[s], entry_start[s + 1]):
            row = entry_row[k]
            if row >= first[s + 1] and mark[row] != s:
                mark[row] = s
                rows[at] = row
                at += 1
        for k in range(child_start[s], child_start[s + 1]):
            for m in range(start[children[k]], start[children[k] + 1]):
                row = rows[m]
                if row >= first[s + 1] and mark[row] != s:
                    mark[row] = s
                    rows[at] = row
                    at += 1
    return rows


def _large(nodes: Supernodes, block: int) -> NDArray[np.bool_]:
    """(fronts,) whether so much is to be done below a front and in it that threads share it."""
    work = nodes.front_flops * block**3
    for s, above in enumerate(nodes.parent):
        if above >= 0:
            work[above] += work[s]
    return work > max(LEAST_SHARED, nodes.flops * block**3 / SUBTREES)


def _subtrees(parent: Indices, top: Indices) -> tuple[Indices, Indices]:
    """Ranges of fronts below the top ones: in a postorder, a subtree ends where its root stands."""
    is_top = np.zeros(len(parent) + 1, bool)
    is_top[top] = is_top[-1] = True  # the last is the parent of roots
    end = np.flatnonzero(~is_top[:-1] & is_top[parent]) + 1
    size = np.ones(len(parent), np.int64)
    for s, above in enumerate(parent):
        if above >= 0:
            size[above] += size[s]
    return end - size[end - 1], end


def _stack(
    parent: Indices, length: Indices, children: Indices, subtree_start: Indices, subtree_end: Indices
) -> tuple[Indices, int]:
    """Offset of every update on the stack, and the size of the stack.

    Every subtree has a region of its own, and so have the fronts above. A region is two stacks, for even and
    odd depths, so that parents and children never share one. In a postorder, what lies under an update on
    its stack are its elder siblings and then whatever lies under its grandparent.
    """
    count, roots = len(parent), subtree_end - 1
    region = np.full(count, len(roots))
    for k, (start, end) in enumerate(zip(subtree_start, subtree_end)):
        region[start:end] = k
    inside, above = length.copy(), parent.copy()
    inside[roots], above[roots] = 0, -1  # cut off: they lie in their own regions
    offset, depth = np.zeros(count, np.int64), np.zeros(count, np.int64)
    elder = np.cumsum(inside[children]) - inside[children]
    first = np.diff(parent[children], prepend=-1) != 0
    offset[children] = elder - elder[first][np.cumsum(first) - 1]
    offset[roots] = 0
    for s in range(count - 1, -1, -1):
        if above[s] >= 0:
            depth[s] = depth[above[s]] + 1
            if above[above[s]] >= 0:
                offset[s] += offset[above[above[s]]]
    half = 2 * region + (depth & 1)
    size = np.zeros(2 * len(roots) + 2, np.int64)
    np.maximum.at(size, half, offset + length)
    return (np.cumsum(size) - size)[half] + offset, int(size.sum())

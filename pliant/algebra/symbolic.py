"""Symbolic factorisation: where every number of L will be, worked out once per mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.elimination import Supernodes, neighbours_before
from pliant.algebra.jit import kernel
from pliant.algebra.pattern import Indices, Pattern


class Fronts(NamedTuple):
    """Layout of the dense fronts, as the kernels read it. New numbering, in blocks unless said otherwise.

    Front s has the pivots first[s]:first[s+1] and below them rows[start[s]:start[s+1]]. Its panel of L is
    column-major in panels[panel[s]:panel[s+1]]; its update for the parent lies at update[s] on the stack
    numbered by the parity of its depth, so that parents and children never share a stack.
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
    parity: Indices
    entry_start: Indices
    entry_block: Indices  # block of the pattern, or −1 − block where its transpose is meant
    entry_target: Indices  # offset in the panels in scalars
    diagonal: Indices  # block of the pattern, by pivot
    order: Indices  # order[new] = old
    place: Indices  # place[old] = new
    front_of: Indices  # front of every pivot


def layout(pattern: Pattern, nodes: Supernodes) -> tuple[Fronts, tuple[int, int]]:
    """The layout for given supernodes, and the sizes of the two stacks in scalars.

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
    update, parity, stacks = _stacks(nodes.parent, (b * nodes.below) ** 2, child_start, children)
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
        parity=parity,
        entry_start=np.searchsorted(front[by_target], np.arange(count + 1)),
        entry_block=np.where((i >= j)[by_target], by_target, -1 - by_target),
        entry_target=target[by_target],
        diagonal=pattern.diagonal[nodes.order],
        order=nodes.order,
        place=place,
        front_of=front_of,
    ), stacks


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


def _stacks(
    parent: Indices, length: Indices, child_start: Indices, children: Indices
) -> tuple[Indices, Indices, tuple[int, int]]:
    """Offset of every update on its stack, the parity of its depth, and the size of both stacks.

    In a postorder, what lies under an update on its stack are its elder siblings and then whatever lies under
    its grandparent.
    """
    count = len(parent)
    elder = np.cumsum(length[children]) - length[children]
    head = np.concatenate([[0], np.cumsum(length[children])])[child_start[:-1]]
    offset, depth = np.zeros(count, np.int64), np.zeros(count, np.int64)
    offset[children] = elder - head[parent[children]]
    for s in range(count - 1, -1, -1):
        above = parent[s]
        if above >= 0:
            depth[s] = depth[above] + 1
            if parent[above] >= 0:
                offset[s] += offset[parent[above]]
    parity = depth & 1
    top = [int(np.max((offset + length)[parity == p], initial=1)) for p in (0, 1)]
    return offset, parity, (top[0], top[1])

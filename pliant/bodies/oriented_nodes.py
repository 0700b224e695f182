"""Nodes with a position and a rotation, of rods and shells: which are fixed, and the region of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bodies.rigid import Joint, Rigid
from pliant.bodies.supports import as_selection, checked_indices
from pliant.errors import InputError, as_floats


def select_fixed(fixed: Any, nodes: np.ndarray) -> np.ndarray:
    """Mask (k, 6) of the fixed coordinates: three displacements and three rotations of each node.

    Indices, a mask (k,) or a function of the nodes clamp; a mask (k, 3) fixes displacements, (k, 6) any.
    """
    k = len(nodes)
    mask = np.zeros((k, 6), bool)
    if fixed is None:
        return mask
    chosen = as_selection("fixed", fixed(nodes) if callable(fixed) else fixed)
    if chosen.dtype != bool:
        if chosen.size:
            mask[checked_indices("fixed", chosen, k)] = True
        return mask
    if chosen.shape not in ((k,), (k, 3), (k, 6)):
        expected = f"a mask of shape ({k},), ({k}, 3) or ({k}, 6)"
        raise InputError("fixed", expected=expected, got=chosen.shape)
    mask[:, : 6 if chosen.ndim == 1 else chosen.shape[1]] = chosen.reshape(k, -1)
    return mask


def members(nodes: np.ndarray, fixed: np.ndarray, rigid: Sequence[Rigid]) -> np.ndarray:
    """The rigid region (k,) of each node; every other node is a region of its own, numbered behind them."""
    member = len(rigid) + np.arange(len(nodes))
    for r, region in enumerate(rigid):
        if not isinstance(region, Rigid):
            hint = "Rigid(nodes, name=…) makes one."
            raise InputError("rigid", expected="Rigid regions", got=type(region).__name__, hint=hint)
        what = f"rigid region {region.name!r}"
        chosen = as_selection(what, region.nodes(nodes) if callable(region.nodes) else region.nodes)
        if chosen.dtype == bool and chosen.shape == (len(nodes),):
            chosen = np.flatnonzero(chosen)
        chosen = checked_indices(what, chosen, len(nodes)) if chosen.size else np.zeros(0, int)
        if not len(chosen):
            raise InputError(what, expected="at least one node", got="none")
        for problem, clash in (
            ("fixed", fixed[chosen].any(axis=1)),
            ("in another region", member[chosen] < len(rigid)),
        ):
            if clash.any():
                hint = "Support a region with joint=Hinge(...), Prismatic(...) or Ball(...)."
                got = f"node {chosen[clash][0]}, which is {problem}"
                raise InputError(what, expected="nodes that are free", got=got, hint=hint)
        member[chosen] = r
    return member


def placed_at(region: Rigid, X: np.ndarray) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """Name, axes Q, centre c and free coordinates (6,) of a region with nodes X (n, 3), which may be one."""
    joint = region.joint or Joint()
    what, origin = f"centre of region {region.name!r}", joint.origin()
    given = None if region.centre is None else as_floats(what, region.centre, "three finite numbers [m]")
    if given is not None and (given.shape != (3,) or not np.isfinite(given).all()):
        raise InputError(what, expected="three finite numbers [m]", got=region.centre)
    if given is not None and origin is not None and not np.allclose(given, origin):
        raise InputError(what, expected="that of its joint", got=given.tolist())
    centre = origin if origin is not None else X.mean(axis=0) if given is None else given
    return region.name, joint.axes(), centre, np.array(joint.free)

"""What users ask of a controller while it runs: other targets, other laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.inverse.inputs import checked_targets
from pliant.inverse.model import Model
from pliant.inverse.policy.line_search import RESTART
from pliant.inverse.policy.memory import Memory, first_target
from pliant.inverse.policy.modes import Following, Resting, when_laws_change
from pliant.laws import Law, as_vector

ANOTHER_TARGET = 1e-3  # of the length: a target that moved by more is another one
SAME_TARGET = 1e-6  # of the length: a target that moved by less stays


def aimed(model: Model, memory: Memory, targets: Mapping[str, Any] | None) -> tuple[Memory, bool]:
    """The memory with the targets given, and whether they stay where they were.

    Where a target jumps, the policy begins anew with a full step. Where it has crept away from the reference,
    or is led along a path, it begins anew with the step length that works.
    """
    settings, length, still, jumped = model.settings, model.robot.length, True, False
    for name, value in checked_targets(targets).items():
        target = _replaced(model, memory.target, name, value)
        moved = model.distance(target, memory.target)
        jumped = jumped or moved > (ANOTHER_TARGET if settings.exhaustive else settings.task_step) * length
        if moved > settings.task_step * length:
            memory = memory.with_(bias=0.0 * memory.bias, failed_leap=None)
        still = still and moved < SAME_TARGET * length
        memory = memory.with_(target=target)
    if not still and isinstance(memory.mode, Resting):
        memory = memory.with_(mode=Following(), idle=0, nearest=np.inf)
    if jumped:
        return memory.anew(), still
    if model.distance(memory.target, memory.reference) > ANOTHER_TARGET * length:
        memory = memory.anew(memory.step_length if memory.failures else max(memory.step_length, RESTART))
    return memory, still


def _replaced(model: Model, before: np.ndarray, name: str, value: Any) -> np.ndarray:
    """Targets (ne,) with those of one row replaced."""
    rows, span = model.roles.effectors, model.robot.named(name)
    own = (rows >= span.start) & (rows < span.stop)
    if not own.any():
        raise InputError(f"target {name!r}", expected="a row with a Target law", got="another law")
    target = before.copy()
    target[own] = as_vector(value, int(own.sum()), f"target of {name!r}")
    return target


def targets_by_name(model: Model, target: np.ndarray) -> dict[str, np.ndarray]:
    """The target of each effector."""
    rows = model.roles.effectors
    own = {name: (rows >= span.start) & (rows < span.stop) for name, span in model.robot.spans.items()}
    return {name: target[chosen] for name, chosen in own.items() if chosen.any()}


def changed(model: Model, memory: Memory, laws: Mapping[str, Law]) -> tuple[Model, Memory]:
    """The model with other laws for some rows, and the memory for it at the same pose.

    Efforts that the laws impose are as they say. Effectors that stay ones keep their values; those that are
    new begin with the targets of their laws, or where they are.
    """
    after = model.with_laws(laws, memory.pose)
    c = after.roles.conditions
    pose = replace(memory.pose, lam=np.where(c.given, c.effort, memory.pose.lam))
    fresh = first_target(after, pose)

    def kept(values: np.ndarray) -> np.ndarray:
        known = dict(zip(model.roles.effectors.tolist(), values, strict=True))
        rows = after.roles.effectors.tolist()
        return np.array([known.get(row, new) for row, new in zip(rows, fresh, strict=True)])

    target = kept(memory.target)
    memory = memory.with_(
        pose=pose,
        target=target,
        bias=0.0 * target,
        trail=memory.trail.under_other_laws(),
        disturbed=True,
        failed_leap=None if memory.failed_leap is None else kept(memory.failed_leap),
        mode=when_laws_change(memory.mode),
    )
    return after, memory.anew()

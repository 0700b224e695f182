"""The state of a robot in motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numba import njit

from pliant.contact import Contacts
from pliant.state import State


@dataclass(frozen=True)
class Past:
    """The step before: its length [s], v, memory and commands at its beginning, and dq over it.

    Schemes that look back need it.
    """

    step: float
    v: np.ndarray
    memory: np.ndarray
    increment: np.ndarray
    command: np.ndarray


@dataclass(frozen=True)
class Motion(State):
    """A State, and what else its next step depends on."""

    # The step before; None to start afresh.
    past: Past | None = None
    # Keys (n,) of the contacts that pushed in the last step (see `Contacts.key`), and their forces [N].
    touching: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    push: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    # What laws asked for in the last step (2, m): given efforts and imposed displacements, or else nan.
    command: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("touching", "push", "command"):
            copy = np.array(getattr(self, name))
            copy.setflags(write=False)
            object.__setattr__(self, name, copy)

    @classmethod
    def of(cls, state: State, size: int, relaxed: Callable[[], np.ndarray]) -> Motion:
        """The motion that starts from a state, its memory (size,) `relaxed`.

        A state that has such a memory keeps it, a motion stays as it is.
        """
        if isinstance(state, Motion) and len(state.memory) == size:
            return state
        plain = {f.name: getattr(state, f.name) for f in fields(State)}
        return cls(**plain) if len(state.memory) == size else cls(**{**plain, "memory": relaxed()})

    def with_(self, **changes: Any) -> Motion:
        """A copy with some fields replaced; other q or v start afresh, with the same memory and contacts."""
        if {"q", "v"} & set(changes):
            changes = {"past": None, **changes}
        return replace(self, **changes)

    def carried(self, contacts: Contacts, rows: int) -> np.ndarray:
        """The last forces of contacts found now, (rows,) [N].

        n normal ones, and if rows = 3n those along the tangents.
        """
        n = len(contacts)
        if rows == n:
            return _along(contacts.key, contacts.normal, self.touching, self.push)
        force = np.zeros((n, 3))
        if n and len(self.touching):
            place = np.minimum(np.searchsorted(contacts.key, self.touching), n - 1)  # both ascend
            known = contacts.key[place] == self.touching
            force[place[known]] = self.push[known]
        normal = np.einsum("ki,ki->k", contacts.normal, force)
        return np.concatenate([normal, np.einsum("kai,ki->ka", contacts.tangents, force).ravel()])


def pushes(contacts: Contacts | None, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keys (k,) of the contacts that push, and their forces (k, 3) [N].

    `force` is along normals (n,), and with friction along tangents too (3n,).
    """
    if contacts is None:
        return np.zeros(0, np.int64), np.zeros((0, 3))
    return _pushes(contacts.key, contacts.normal, contacts.tangents, force)


@njit(cache=True, error_model="numpy")
def _pushes(key, normal, tangents, force):
    n, k = len(key), 0
    acting, vector = np.empty(n, np.int64), np.empty((n, 3))
    for i in range(n):
        if force[i] > 0.0:
            acting[k] = key[i]
            for d in range(3):
                vector[k, d] = force[i] * normal[i, d]
                if len(force) > n:
                    a, b = force[n + 2 * i], force[n + 2 * i + 1]
                    vector[k, d] += a * tangents[i, 0, d] + b * tangents[i, 1, d]
            k += 1
    return acting[:k].copy(), vector[:k].copy()


@njit(cache=True, error_model="numpy")
def _along(key, normal, touching, push):
    """Forces (n,) along the normals of contacts `key`, from those that push, by key; both ascend."""
    force, k = np.zeros(len(key)), 0
    for i in range(len(key)):
        while k < len(touching) and touching[k] < key[i]:
            k += 1
        if k < len(touching) and touching[k] == key[i]:
            force[i] = normal[i, 0] * push[k, 0] + normal[i, 1] * push[k, 1] + normal[i, 2] * push[k, 2]
    return force

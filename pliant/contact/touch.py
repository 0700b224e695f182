"""What contacts feel together, as a force sensor reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.errors import InputError, unknown_name

Where = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class ContactForce:
    """n contacts with obstacles: places (n, 3) [m] and forces on the robot (n, 3) [N], pushes and friction.

    Places are those of the samples: on the skin of a solid, on the axis of a rod or in the middle of a sheet
    that is sampled with balls. pushes (n,) [N] are the normal parts.
    """

    places: np.ndarray
    forces: np.ndarray
    pushes: np.ndarray

    def __repr__(self) -> str:
        return f"ContactForce({self.count} points push, force {np.round(self.force, 6).tolist()} N)"

    @property
    def count(self) -> int:
        """How many push."""
        return int(np.count_nonzero(self.pushes))

    @property
    def force(self) -> np.ndarray:
        """Σ f (3,) [N] on the robot; what it touches feels the opposite."""
        return self.forces.sum(axis=0)

    @property
    def push(self) -> float:
        """Σ λ_N [N], the sum of the normal forces; that of their directions is `force`."""
        return float(self.pushes.sum())

    @property
    def place(self) -> np.ndarray:
        """Centre of pressure Σ λ_N p / Σ λ_N (3,) [m]; nan where nothing pushes."""
        total = self.pushes.sum()
        return self.pushes @ self.places / total if total > 0 else np.full(3, np.nan)

    def moment(self, about: Sequence[float] | np.ndarray) -> np.ndarray:
        """Σ (p − about) × f (3,) [N·m]."""
        return np.cross(self.places - np.asarray(about, float), self.forces).sum(axis=0)


def touch(
    contacts: Contacts | None,
    pushes: np.ndarray,
    friction: np.ndarray,
    rest: np.ndarray,
    *,
    opponent: str | None = None,
    where: Where | None = None,
) -> ContactForce:
    """The forces of obstacles, from pushes (n,) [N] along normals and friction (n, 2) [N] along tangents.

    opponent: the obstacle of that name only. where: contacts on a patch only, chosen by a function (m, 3) →
    (m,) bool of where the samples are at the coordinates `rest`. What bodies of the robot do to each other
    cancels in a sum and is left out.
    """
    slot = None if opponent is None else _slot(contacts, opponent)
    if contacts is None or not len(contacts):
        return ContactForce(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
    along = contacts.friction_on_samples(friction) if np.any(friction) else 0.0
    contacts, pushes = contacts.on_samples(np.asarray(pushes, float))
    chosen = contacts.rigid.copy()
    if slot is not None:
        chosen &= contacts.opponent == slot
    if where is not None:
        chosen &= _on_patch(contacts, rest, where)
    forces = pushes[:, None] * contacts.normal + along
    return ContactForce(contacts.position[chosen], forces[chosen], pushes[chosen])


def _slot(contacts: Contacts | None, name: str) -> int:
    names = () if contacts is None else contacts.names
    if name not in names:
        raise unknown_name("opponent", name, names)
    return names.index(name)


def _on_patch(contacts: Contacts, rest: np.ndarray, where: Where) -> np.ndarray:
    mask = np.asarray(where(contacts.places(rest)))
    if mask.shape != (len(contacts),) or mask.dtype != bool:
        expected = "a function of positions (m, 3) that returns a mask (m,)"
        raise InputError("where", expected=expected, got=f"{mask.dtype} of shape {mask.shape}")
    return mask

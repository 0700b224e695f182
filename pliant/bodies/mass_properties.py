"""Mass, centre of mass and inertia of a rigid body: given, or those of the volume inside a closed surface.

The volume is a sum of tetrahedra (0, a, b, c) under the triangles of the surface, of volume V = a·(b × c)/6:

    ∫ dV = Σ V      ∫ x dV = Σ V (a + b + c)/4      ∫ xxᵀ dV = Σ V (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/20,   s = a + b + c
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.mass import DENSEST
from pliant.errors import InputError, as_floats
from pliant.mesh.surface import Surface

SYMMETRIC = 1e-9  # of the largest entry: how far an inertia may be from symmetric
LEAST_INERTIA = 1e-9  # of the largest principal moment: what a moment of a rod about its axis may be
TRIANGLE = 1e-6  # of the largest moment: how far it may exceed the sum of the other two


@dataclass(frozen=True)
class MassProperties:
    """Mass [kg], centre of mass (3,) [m], and inertia (3, 3) [kg·m²] about it, in the axes of space."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    @classmethod
    def of(cls, surface: Surface, density: Any, mass: Any, centre: Any, inertia: Any) -> MassProperties:
        """From density [kg/m³] and shape, or given; the rest follows from the shape, filled evenly."""
        if (density is None) == (mass is None):
            got = "neither" if density is None else "both"
            raise InputError("mass of a RigidBody", expected="density=… or mass=…", got=got)
        if not surface.closed and (density is not None or centre is None or inertia is None):
            hint = "Close the mesh, or give mass=, centre= and inertia=."
            raise InputError(
                "mesh of a RigidBody", expected="a closed surface", got="one with a rim", hint=hint
            )
        volume, middle, second = _moments(surface) if surface.closed else (1.0, np.zeros(3), np.eye(3))
        if density is not None:
            total = volume * positive_number("density of a RigidBody", density, "kg/m³", DENSEST)
        else:
            total = positive_number("mass of a RigidBody", mass, "kg")
        spread = np.trace(second) * np.eye(3) - second
        given = middle if centre is None else _array("centre", centre, (3,), "three finite numbers [m]")
        tensor = (
            total / volume * spread if inertia is None else checked_inertia("inertia of a RigidBody", inertia)
        )
        return cls(total, given, tensor)

    def about(self, origin: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The arm of the centre of mass (3,) [m], and the inertia about another point, in its axes."""
        arm = (self.centre - origin) @ axes
        shift = arm @ arm * np.eye(3) - np.outer(arm, arm)
        return arm, axes.T @ self.inertia @ axes + self.mass * shift


def _moments(surface: Surface) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume [m³], its middle (3,) [m], and ∫ xxᵀ dV (3, 3) [m⁵] about the middle."""
    pole = surface.nodes[surface.triangles].mean(axis=(0, 1))
    corners = surface.nodes[surface.triangles] - pole
    V = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    total = corners.sum(axis=1)
    volume, first = float(V.sum()), V @ total / 4.0
    if not volume > 0.0:
        raise InputError("mesh of a RigidBody", expected="a surface round a volume", got=f"{volume:g} m³")
    second = np.einsum("t,tki,tkj->ij", V, corners, corners) + np.einsum("t,ti,tj->ij", V, total, total)
    middle = first / volume
    return volume, pole + middle, second / 20.0 - volume * np.outer(middle, middle)


def positive_number(what: str, value: Any, unit: str, most: float = np.inf) -> float:
    number = as_floats(what, value, f"a number > 0 [{unit}]")
    if number.ndim or not 0 < float(number) <= most or not np.isfinite(number):
        hint = "What is never moved by its weight or inertia may have any, such as 1."
        raise InputError(what, expected=f"a number > 0 [{unit}]", got=repr(value), hint=hint)
    return float(number)


def _array(what: str, value: Any, shape: tuple[int, ...], expected: str) -> np.ndarray:
    out = as_floats(f"{what} of a RigidBody", value, expected)
    if out.shape != shape or not np.isfinite(out).all():
        raise InputError(f"{what} of a RigidBody", expected=expected, got=repr(value))
    return out


def checked_inertia(what: str, inertia: Any) -> np.ndarray:
    """The inertia (3, 3), from itself or three principal moments; one that no body can have is an error."""
    expected = "three moments > 0, or a symmetric (3, 3) matrix [kg·m²]"
    given = as_floats(what, inertia, expected)
    tensor = np.diag(given) if given.shape == (3,) else given
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise InputError(what, expected=expected, got=repr(inertia))
    largest = float(np.abs(tensor).max())
    moments = np.linalg.eigvalsh(0.5 * (tensor + tensor.T))
    if np.abs(tensor - tensor.T).max() > SYMMETRIC * largest or moments[0] <= LEAST_INERTIA * largest:
        raise InputError(what, expected=expected, got=tensor.tolist())
    if moments[2] > (1.0 + TRIANGLE) * (moments[0] + moments[1]):
        raise InputError(
            what,
            expected="moments of which none is more than the sum of the other two",
            got=moments.tolist(),
        )
    return 0.5 * (tensor + tensor.T)

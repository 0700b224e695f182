"""Cross-sections of rods: what they resist with, what they weigh, and what they look like.

Section axes: x along the rod, y and z across. Stiffnesses stand in the order of the strains,
(EA, GA_y, GA_z, GJ, EI_y, EI_z) [N, N, N, N·m², N·m², N·m²].
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.inputs import refuse_softening
from pliant.errors import InputError, is_number
from pliant.inputs import positive
from pliant.materials.material import Isotropic


class Section(ABC):
    """A cross-section, its centre of area at the origin and its principal axes y and z."""

    @abstractmethod
    def stiffness(self, material: Isotropic | None) -> np.ndarray:
        """(6,) in the order of the strains; an infinite GA means that it does not shear."""

    @abstractmethod
    def inertia(self, density: float | None) -> np.ndarray | None:
        """(3,): mass per length [kg/m], ∫ρy² and ∫ρz² over the section [kg·m]; None without density."""

    @abstractmethod
    def grid(self, cuts: int) -> np.ndarray:
        """Points ((cuts+1)², 2) [m] that fill it, row after row of a square bent to its outline."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """Radius [m] of the ball that stands for it in contact: half its larger side."""

    @abstractmethod
    def peak_stress(self, strain: np.ndarray, offset: np.ndarray, material: Isotropic | None) -> np.ndarray:
        """von Mises stress (n,) [Pa] at offsets (n, 2) [m] under strains (n, 6) [1, 1, 1, 1/m, 1/m, 1/m]."""


@dataclass(frozen=True)
class Circle(Section):
    """A round bar of `radius` [m], hollow if `inner` [m] > 0."""

    radius: float
    inner: float = 0.0

    def __post_init__(self) -> None:
        positive("radius of a Circle", self.radius)
        if not (is_number(self.inner) and 0 <= self.inner < self.radius):
            raise InputError(
                "inner radius of a Circle", expected=f"from 0 to below {self.radius} [m]", got=self.inner
            )

    @property
    def reach(self) -> float:
        return self.radius

    @property
    def area(self) -> float:
        """[m²]."""
        return math.pi * (self.radius**2 - self.inner**2)

    @property
    def second_moment(self) -> float:
        """∫y² = ∫z² [m⁴]; the polar one is twice that."""
        return math.pi / 4 * (self.radius**4 - self.inner**4)

    def stiffness(self, material: Isotropic | None) -> np.ndarray:
        E, G, nu = _moduli(material)
        m = (self.inner / self.radius) ** 2
        wall = (1 + m) ** 2
        k = 6 * (1 + nu) * wall / ((7 + 6 * nu) * wall + (20 + 12 * nu) * m)  # Cowper 1966
        A, second = self.area, self.second_moment
        return np.array([E * A, k * G * A, k * G * A, 2 * G * second, E * second, E * second])

    def inertia(self, density: float | None) -> np.ndarray | None:
        second = self.second_moment
        return None if density is None else density * np.array([self.area, second, second])

    def grid(self, cuts: int) -> np.ndarray:
        u, v = _square(cuts).T
        r = np.where(np.abs(u) >= np.abs(v), u, v)
        ratio = np.where(np.abs(u) >= np.abs(v), v, u) / np.where(r == 0, 1, r)
        along, across = r * np.cos(np.pi / 4 * ratio), r * np.sin(np.pi / 4 * ratio)
        return self.radius * np.where(np.abs(u) >= np.abs(v), [along, across], [across, along]).T

    def peak_stress(self, strain: np.ndarray, offset: np.ndarray, material: Isotropic | None) -> np.ndarray:
        E, G, _ = _moduli(material)
        twist = strain[:, 3] * np.hypot(offset[:, 0], offset[:, 1])
        return _von_mises(E * _axial(strain, offset), G * twist, G * strain[:, 1:3])


@dataclass(frozen=True)
class Rectangle(Section):
    """A bar of `width` [m] along y and `height` [m] along z."""

    width: float
    height: float

    def __post_init__(self) -> None:
        positive("width of a Rectangle", self.width)
        positive("height of a Rectangle", self.height)

    @property
    def reach(self) -> float:
        return 0.5 * max(self.width, self.height)

    @property
    def area(self) -> float:
        """[m²]."""
        return self.width * self.height

    @property
    def torsion(self) -> float:
        """J [m⁴] of Saint-Venant: a b³ (1/3 − 64/π⁵ b/a Σ tanh(nπa/2b)/n⁵), n odd, a ≥ b."""
        a, b = max(self.width, self.height), min(self.width, self.height)
        series = sum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in range(1, 40, 2))
        return a * b**3 * (1 / 3 - 64 / math.pi**5 * b / a * series)

    def stiffness(self, material: Isotropic | None) -> np.ndarray:
        E, G, nu = _moduli(material)
        k, A = 10 * (1 + nu) / (12 + 11 * nu), self.area  # Cowper 1966
        _, second_z, second_y = _rectangle_moments(self)
        return np.array([E * A, k * G * A, k * G * A, G * self.torsion, E * second_y, E * second_z])

    def inertia(self, density: float | None) -> np.ndarray | None:
        return None if density is None else density * _rectangle_moments(self)

    def grid(self, cuts: int) -> np.ndarray:
        return 0.5 * _square(cuts) * [self.width, self.height]

    def peak_stress(self, strain: np.ndarray, offset: np.ndarray, material: Isotropic | None) -> np.ndarray:
        E, G, _ = _moduli(material)
        thin = min(self.width, self.height)  # the largest shear of a strip, at the middle of its long sides
        return _von_mises(E * _axial(strain, offset), G * thin * strain[:, 3], G * strain[:, 1:3])


@dataclass(frozen=True)
class Stiffness(Section):
    """Stiffnesses as given: measured, or of a section that is neither round nor a rectangle.

    EA [N], GJ [N·m²], EI [N·m²] one or (about y, about z), GA [N] one or (along y, along z); without GA it
    does not shear. mass [kg/m]; rotary (∫ρy², ∫ρz²) [kg·m]; radius [m] for contact and pictures.
    """

    EA: float
    GJ: float
    EI: Any
    GA: Any = math.inf
    mass: float | None = None
    rotary: Any = 0.0
    radius: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("EA", "GJ", "radius"):
            positive(f"{name} of a Stiffness", getattr(self, name))
        for name in ("EI", "GA"):
            for value in _two(f"{name} of a Stiffness", getattr(self, name)):
                positive(f"{name} of a Stiffness", value, infinite=name == "GA")
        for value in (*_two("rotary of a Stiffness", self.rotary), self.mass or 0.0):
            if not (np.isfinite(value) and value >= 0):
                raise InputError("inertia of a Stiffness", expected="finite numbers ≥ 0", got=value)

    @property
    def reach(self) -> float:
        return self.radius

    def stiffness(self, material: Isotropic | None) -> np.ndarray:
        (Gy, Gz), (Iy, Iz) = _two("GA", self.GA), _two("EI", self.EI)
        return np.array([self.EA, Gy, Gz, self.GJ, Iy, Iz])

    def inertia(self, density: float | None) -> np.ndarray | None:
        return None if self.mass is None else np.array([self.mass, *_two("rotary", self.rotary)])

    def grid(self, cuts: int) -> np.ndarray:
        return Circle(self.radius).grid(cuts)

    def peak_stress(self, strain: np.ndarray, offset: np.ndarray, material: Isotropic | None) -> np.ndarray:
        return np.zeros(len(strain))  # nothing is known of what is inside


def _moduli(material: Isotropic | None) -> tuple[float, float, float]:
    """E, G [Pa] and ν."""
    if not isinstance(material, Isotropic):
        raise InputError(
            "material of a Beam",
            expected="an isotropic material such as Hooke(young, poisson)",
            got=type(material).__name__,
            hint="Sections of given Stiffness need none.",
        )
    refuse_softening(material, "a Beam")
    return material.young_modulus, material.shear_modulus, material.poisson_ratio


def _rectangle_moments(section: Rectangle) -> np.ndarray:
    """A, ∫y² and ∫z²."""
    return section.area * np.array([1.0, section.width**2 / 12, section.height**2 / 12])


def _square(cuts: int) -> np.ndarray:
    s = np.linspace(-1, 1, cuts + 1)
    return np.stack(np.meshgrid(s, s, indexing="ij"), axis=-1).reshape(-1, 2)


def _axial(strain: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """ε + κ_y z − κ_z y."""
    return strain[:, 0] + strain[:, 4] * offset[:, 1] - strain[:, 5] * offset[:, 0]


def _von_mises(axial: np.ndarray, twist: np.ndarray, shear: np.ndarray) -> np.ndarray:
    return np.sqrt(axial**2 + 3.0 * (twist**2 + (shear**2).sum(axis=1)))


def _two(what: str, value: Any) -> tuple[float, float]:
    pair = np.asarray(value, float)
    if pair.shape not in ((), (2,)):
        raise InputError(what, expected="one number, or two (y, z)", got=repr(value))
    first, second = np.broadcast_to(pair, 2)
    return float(first), float(second)

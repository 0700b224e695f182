"""Sections along the rods of a beam, and the stiffness and inertia of its elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.arrays import read_only, read_only_view
from pliant.bodies.beams.element import strains
from pliant.bodies.beams.sections import Section
from pliant.bodies.mass import DENSEST
from pliant.errors import InputError, is_number
from pliant.mesh.lines import Lines

LARGEST_TURN_AT_REST = 2.0  # [rad] from one end of an element to the other
_EXPECTED = "a Section, one for each element, or a function of the arc length [m]; or these by branch"


class Profile:
    """The section anywhere on the lines; `given` as `Beam` takes it."""

    def __init__(self, given: Any, lines: Lines) -> None:
        self._lines = lines
        counts = np.bincount(lines.branch)
        self._first = np.cumsum(counts) - counts
        if isinstance(given, Mapping):
            missing = sorted(set(range(len(counts))) - set(given))
            if missing:
                raise InputError("section", expected=f"one for branch {missing[0]}", got=sorted(given))
            by_branch = [given[b] for b in range(len(counts))]
        elif isinstance(given, Sequence) and len(given) == len(lines.elements):
            by_branch = [given[f : f + n] for f, n in zip(self._first, counts)]
        else:
            by_branch = [given] * len(counts)
        self._rules = [_rule(rule, int(n)) for rule, n in zip(by_branch, counts)]

    def at(self, element: int, share: float) -> Section:
        """The section at a share (0 to 1) of the length of an element."""
        branch = int(self._lines.branch[element])
        start, end = self._lines.arc[element]
        rule, number = self._rules[branch], element - int(self._first[branch])
        section = rule(number, float(start + share * (end - start)))
        if not isinstance(section, Section):
            raise InputError("section", expected=_EXPECTED, got=type(section).__name__)
        return section

    def middles(self) -> list[Section]:
        """The section in the middle of every element."""
        return [self.at(e, 0.5) for e in range(len(self._lines.elements))]


def _rule(given: Any, elements: int) -> Callable[[int, float], Any]:
    if isinstance(given, Section):
        return lambda element, arc: given
    if isinstance(given, Sequence):
        if len(given) != elements:
            raise InputError("section", expected=f"{elements}, one for each element", got=len(given))
        return lambda element, arc: given[element]
    if callable(given):
        return lambda element, arc: given(arc)
    raise InputError("section", expected=_EXPECTED, got=type(given).__name__)


def element_stiffness(
    sections: Sequence[Section], material: Any, length: np.ndarray, *, shear: bool
) -> np.ndarray:
    """C (ne, 6) of the strains (u, θ): EA/L, GA*/L [N/m], GJ/L, EI/L [N·m].

    An element of constant strain under a force across has a constant moment; the true one varies by ±Q L/2
    and bends it further. That missing compliance, L²/12EI, is added to that of shear (MacNeal's residual
    bending flexibility), which makes the nodes of a straight rod exact under end loads:

        1/GA* = 1/GA + L²/12EI,         Kirchhoff: 1/GA = 0
    """
    C = np.array([section.stiffness(material) for section in sections])
    compliance = 1.0 / C[:, 1:3] if shear else np.zeros((len(C), 2))
    C[:, 1:3] = 1.0 / (compliance + length[:, None] ** 2 / (12.0 * C[:, [5, 4]]))
    return C / length[:, None]


def element_inertia(sections: Sequence[Section], density: Any) -> np.ndarray | None:
    """Mass per length and rotary inertia (ne, 3) of the elements, or None where one is not known."""
    if density is not None and not (is_number(density) and 0 <= density <= DENSEST):
        expected = f"a number from 0 to {DENSEST:g} [kg/m³]"
        raise InputError("density of a Beam", expected=expected, got=repr(density))
    rows = [section.inertia(density) for section in sections]
    return None if any(row is None for row in rows) else np.array(rows)


def rest_strains(lines: Lines) -> tuple[np.ndarray, np.ndarray]:
    """Strains (u, θ) (ne, 6) [m, rad] and lengths (ne,) [m] of the elements at rest."""
    every = np.arange(2 * len(lines.elements)).reshape(-1, 2)
    poses = np.concatenate([lines.nodes[lines.elements], lines.frames.reshape(-1, 2, 9)], axis=2).ravel()
    ends = read_only(every, np.zeros((len(every), 2, 3)), np.tile(np.eye(3), (len(every), 2, 1, 1)))
    strain = np.empty((len(every), 6))
    largest = strains(read_only_view(poses), 0, *ends, strain)
    if largest > LARGEST_TURN_AT_REST:
        expected, got = (
            f"turns below {LARGEST_TURN_AT_REST} rad at rest",
            f"one that turns by {largest:.2f} rad",
        )
        raise InputError("elements of a rod", expected=expected, got=got, hint="Use more of them.")
    return strain, np.linalg.norm(strain[:, :3], axis=1)

"""Strains, section forces and stress of rods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import unknown_name

if TYPE_CHECKING:
    from pliant.bodies.beams.beam import Beam


def strain(beam: Beam, q: np.ndarray) -> np.ndarray:
    """(ne, 6) [1, 1, 1, 1/m, 1/m, 1/m], see `Beam.strain`; shear is that of the section force."""
    out = _change(beam, q) / beam.element_lengths[:, None]
    stiffness = np.array([s.stiffness(beam.material) for s in beam.sections])[:, 1:3]
    stiffness = stiffness if beam.model == "reissner" else np.full_like(stiffness, np.inf)
    out[:, 1:3] = section_forces(beam, q)[:, 1:3] / stiffness
    return out


def section_forces(beam: Beam, q: np.ndarray) -> np.ndarray:
    """(ne, 6) [N, N, N, N·m, N·m, N·m], see `Beam.section_forces`; in the middle of each element."""
    return beam.element_stiffness * _change(beam, q)


def _change(beam: Beam, q: np.ndarray) -> np.ndarray:
    return beam.ends.strains(q, beam.coordinates.pose)[0] - beam.rest_strain


def stress(beam: Beam, q: np.ndarray, measure: str, at: str) -> np.ndarray:
    """von Mises stress (n,) [Pa] at the nodes of the carried mesh."""
    if measure != "von_mises":
        raise unknown_name("stress measure of a Beam", measure, ("von_mises",))
    if at != "nodes":
        raise unknown_name("place", at, ("nodes",))
    places, out = beam.places, np.empty(len(beam.mesh.nodes))
    ends = _at_ends(beam, strain(beam, q))[places.element]
    share = places.share[:, None]
    local = (1.0 - share) * ends[:, 0] + share * ends[:, 1]
    for section in set(beam.sections):
        on_it = np.flatnonzero([beam.sections[e] == section for e in places.element])
        out[on_it] = section.peak_stress(local[on_it], places.offset[on_it, 1:], beam.material)
    return out


def _at_ends(beam: Beam, values: np.ndarray) -> np.ndarray:
    """Values (ne, 6) in the middle of elements as (ne, 2, 6) at their ends.

    They are means of neighbours in a branch, and extrapolated linearly to its ends.
    """
    out = np.empty((len(values), 2, 6))
    for branch in np.unique(beam.lines.branch):
        elements = np.flatnonzero(beam.lines.branch == branch)
        v = values[elements]
        inner = 0.5 * (v[1:] + v[:-1])
        first = 2 * v[:1] - inner[:1] if len(inner) else v
        last = 2 * v[-1:] - inner[-1:] if len(inner) else v
        nodes = np.vstack([first, inner, last])
        out[elements, 0], out[elements, 1] = nodes[:-1], nodes[1:]
    return out

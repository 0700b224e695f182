"""Material points of a beam, as weighted sums of the frame nodes of its regions.

A place on a rod is linear in the places and the axes of the ends of its element (see `places`), and so are
these in the frame nodes: cables, effectors and contacts need not know that their points are on a beam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.beams.numbering import Numbering
from pliant.bodies.beams.places import Places, arms, hermite
from pliant.bodies.location import LEAST_WEIGHT, checked_points
from pliant.points import Points


@dataclass(frozen=True, eq=False)
class Weights:
    """Points as sums of nodes: point i is Σ weight · x[index] over ptr[i]:ptr[i+1]."""

    ptr: np.ndarray
    index: np.ndarray
    weight: np.ndarray


def weights(numbering: Numbering, lengths: np.ndarray, turn: np.ndarray, places: Places) -> Weights:
    """Places as sums of frame nodes; turn (ne, 2, 3, 3) are the section axes in those of the regions."""
    ends = numbering.lines.elements[places.element]
    h, g = hermite(places.share)
    region = numbering.node_region[ends]
    arm = np.einsum("nkij,nkj->nki", turn[places.element], arms(lengths, places, g))
    arm += h[:, :, None] * numbering.node_arm[ends]
    tips = arm / numbering.scale[region][:, :, None]
    every = np.concatenate([(h - tips.sum(axis=2))[:, :, None], tips], axis=2).reshape(len(ends), -1)
    index = numbering.frames[region].reshape(len(ends), -1)
    keep = np.abs(every) > LEAST_WEIGHT
    ptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    return Weights(ptr, index[keep], every[keep])


def on_region(owner: Any, numbering: Numbering, r: int, where: Any) -> Points:
    """Points at rest positions (P, 3) [m] that move with region r."""
    rest, c = checked_points(where), numbering.coordinates
    tips = (rest - c.region_centre[r]) @ c.region_frame[r] / numbering.scale[r]
    every = np.column_stack([1.0 - tips.sum(axis=1), tips])
    ptr = every.shape[1] * np.arange(len(rest) + 1)
    return Points(owner, rest, ptr, np.tile(numbering.frames[r], len(rest)), every.ravel())

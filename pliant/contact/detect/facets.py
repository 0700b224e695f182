"""Facets: the surface between samples, as triangles in reference coordinates that can be cut up.

A facet of three or six nodes is one such triangle, one of four or eight nodes is two. The rod between two
balls on its axis is a facet of two nodes, and a triangle whose second and third corner are one. A place on a
triangle is a pair of whole numbers (i, j), i + j ≤ PIECES: the weights of its corners are
1 − (i + j)/PIECES, i/PIECES and j/PIECES.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.arrays import frozen
from pliant.contact.detect.samples import Samples

LEVELS = 10  # how often a triangle can be halved
PIECES = 1 << LEVELS
CODES = {"tri3": 0, "tri6": 1, "quad4": 2, "quad8": 3}
ROD = 4  # code of what is between two balls
_CUT = {3: ((0, 1, 2),), 4: ((0, 1, 2), (0, 2, 3))}  # corners of the triangles of a facet


class FacetArrays(NamedTuple):
    """What kernels need: of F facets, of the samples on them, and of T triangles and their sides."""

    code: np.ndarray  # (F,) of the kind, see CODES and ROD
    node_ptr: np.ndarray  # facet f has the points node[node_ptr[f]:node_ptr[f+1]] of the stack as its nodes,
    node: np.ndarray  # in the order of its kind
    sample_ptr: np.ndarray  # and the samples sample[sample_ptr[f]:sample_ptr[f+1]] lie on it
    sample: np.ndarray
    facet: np.ndarray  # (T,) of each triangle
    xi: np.ndarray  # (T, 3, 2) reference coordinates of its corners
    corner: np.ndarray  # (T, 3) its corners, as points of the stack
    side: np.ndarray  # (T, 3) number of the side from each corner to the next
    first: np.ndarray  # (E,) of each side, three times its first triangle plus the corner it begins at
    two_sided: np.ndarray  # (F,) whether the facet is the middle of a sheet


@dataclass(frozen=True, eq=False)
class Facets:
    """The facets of all bodies whose samples lie on a surface, and the rods between balls on an axis."""

    arrays: FacetArrays

    def __len__(self) -> int:
        return len(self.arrays.code)

    @classmethod
    def of(cls, samples: Sequence[Samples], point_of_node: Sequence[Mapping[int, int]]) -> Facets:
        """Of all samples, numbered one after the other; point_of_node: of each body's nodes in the stack."""
        code, nodes, on, two_sided, first = [], [], [], [], 0
        facet, xi, corner = [], [], []
        for s, place in zip(samples, point_of_node, strict=True):
            if s.surface is not None:
                element = s.surface.element
                for f, facet_nodes in enumerate(s.surface.facets.tolist()):
                    points = [place[n] for n in facet_nodes]
                    for triangle in _CUT[element.corners]:
                        facet.append(len(code))
                        xi.append(element.nodes[list(triangle)])
                        corner.append([points[c] for c in triangle])
                    code.append(CODES[s.surface.kind])
                    nodes.append(points)
                    on.append(first + s.on_facet[s.on_facet_ptr[f] : s.on_facet_ptr[f + 1]])
                    two_sided.append(s.body.two_sided)
            for a, b in (first + s.joined).tolist():
                facet.append(len(code))
                xi.append([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0)])
                corner.append([a, b, b])
                code.append(ROD)
                nodes.append([a, b])
                on.append(np.array([a, b]))
                two_sided.append(False)
            first += len(s)
        corners = np.reshape(np.array(corner, int), (-1, 3))
        ends = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
        _, first_use, side = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        arrays = FacetArrays(
            frozen(code, int),
            frozen(np.cumsum([0, *map(len, nodes)]), int),
            frozen([n for points in nodes for n in points], int),
            frozen(np.cumsum([0, *map(len, on)]), int),
            frozen(np.concatenate([np.zeros(0), *on]), int),
            frozen(facet, int),
            frozen(np.reshape(xi, (-1, 3, 2))),
            frozen(corners, int),
            frozen(side.reshape(-1, 3), int),
            frozen(first_use, int),
            frozen(two_sided, bool),
        )
        return cls(arrays)

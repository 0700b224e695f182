"""Triangles to tetrahedra: python tetwild_stl.py INPUT.npz OUTPUT.npz SIZE, all in the unit of the input.

A SIZE of 0 means a twentieth of the bounding box. The surface may move by a fiftieth of an edge: what is
round has fewer nodes on a coarser mesh.
"""

import sys

import numpy as np
import pytetwild  # pyright: ignore[reportMissingImports]

DEFAULT = 1 / 20  # of the diagonal: edges
ROUGHNESS = 1 / 50  # of an edge: how far the surface may move
FINEST, ROUGHEST = 1e-3, 2e-3  # of the diagonal: its bounds


def main(source: str, target: str, size: str) -> None:
    """Read `points` and `triangles`, write `points` and `tets`."""
    with np.load(source) as surface:
        points, triangles = surface["points"].astype(float), surface["triangles"].astype(np.int32)
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    edge = float(size) or DEFAULT * diagonal
    rough = float(np.clip(ROUGHNESS * edge / diagonal, FINEST, ROUGHEST))
    points, tets = pytetwild.tetrahedralize(
        points, triangles, edge_length_abs=edge, epsilon=rough, num_threads=1
    )
    np.savez(target, points=points, tets=tets)


if __name__ == "__main__":
    main(*sys.argv[1:])

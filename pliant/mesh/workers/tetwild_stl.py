"""Triangles to tetrahedra: python tetwild_stl.py INPUT.npz OUTPUT.npz SIZE, all in the unit of the input.

A SIZE of 0 means a twentieth of the bounding box.
"""

import sys

import numpy as np
import pytetwild  # pyright: ignore[reportMissingImports]


def main(source: str, target: str, size: str) -> None:
    """Read `points` and `triangles`, write `points` and `tets`."""
    with np.load(source) as surface:
        points, triangles = surface["points"].astype(float), surface["triangles"].astype(np.int32)
    points, tets = pytetwild.tetrahedralize(
        points, triangles, edge_length_abs=float(size) or None, num_threads=1
    )
    np.savez(target, points=points, tets=tets)


if __name__ == "__main__":
    main(*sys.argv[1:])

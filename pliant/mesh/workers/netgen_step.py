"""STEP to tetrahedra: python netgen_step.py INPUT OUTPUT.npz SIZE, lengths in mm as OpenCASCADE converts
them.

A SIZE of 0 means a twentieth of the bounding box.
"""

import sys

import numpy as np
from netgen.occ import OCCGeometry  # pyright: ignore[reportMissingImports]


def main(source: str, target: str, size: str) -> None:
    """Write `points` [mm] and `tets`, numbered from 0, to the target."""
    geometry = OCCGeometry(source)
    low, high = geometry.shape.bounding_box
    largest = float(size) or sum((high[i] - low[i]) ** 2 for i in range(3)) ** 0.5 / 20
    mesh = geometry.GenerateMesh(maxh=largest)
    points = np.array([point.p for point in mesh.Points()])
    tets = np.array([[vertex.nr for vertex in cell.vertices] for cell in mesh.Elements3D()])
    np.savez(target, points=points, tets=tets - 1)


if __name__ == "__main__":
    main(*sys.argv[1:])

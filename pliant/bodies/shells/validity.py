"""What shells are good for: warnings about walls that are too thick for their theory."""

from __future__ import annotations

import warnings

import numpy as np

from pliant.bodies.shells.triangle import Triangles
from pliant.errors import PliantWarning
from pliant.mesh.sheets import Sheet

THICKEST_THIN = 0.05  # thickness over the sheet's size: there a clamped plate without shear is 8 % too stiff
SHARPEST = 0.2  # thickness over radius: there pressure on the middle surface is off by a tenth


def warn_about_thickness(sheet: Sheet, triangles: Triangles, thickness: np.ndarray, theory: str) -> None:
    """Warn where thin theory is used for a thick sheet, or a shell for a wall as thick as it is curved."""
    share = float(np.median(thickness)) / sheet.size
    if theory == "thin" and share > THICKEST_THIN:
        message = (
            f"the shell's thickness is {share:.2g} of its size: thin theory leaves out transverse shear, "
            'which makes such walls softer. theory="thick" has it.'
        )
        warnings.warn(message, PliantWarning, stacklevel=3)
    curvature = np.abs(np.linalg.eigvalsh(triangles.curvature(sheet.node_normals))).max(axis=1)
    bent = float(np.median(thickness * curvature))  # the median: folds are sharp, but few
    if bent > SHARPEST:
        message = (
            f"the shell's thickness is {bent:.2g} of its radius: forces act on the middle of a shell, "
            "but on the faces of such a wall. A Solid has faces."
        )
        warnings.warn(message, PliantWarning, stacklevel=3)

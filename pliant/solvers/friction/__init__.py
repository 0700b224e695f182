"""Contact with Coulomb friction, in the true cone. The files of this folder:

    scaled          rows in units of unit compliance
    cone            the laws, contact modes (open, stick, slip) and their margins
    mode_equations  the linear equations of fixed modes; newton solves them again and again
    turns           which contacts push: normals and tangents by turns, then Newton's method on these
    path            Lemke's method with cones, from open contacts (lift) through changes of modes (events)
    forward         `friction`: contact efforts, by turns, and by paths where these fail
    inverse         `frictional_inverse`: actuator efforts, by a descent over a task

Rows and modes are described in `cone`.
"""

from pliant.solvers.friction.forward import friction
from pliant.solvers.friction.inverse import frictional_inverse
from pliant.solvers.friction.solution import (
    FrictionalCertificate,
    FrictionalSolution,
    FrictionCertificate,
    FrictionSolution,
)

__all__ = [
    "FrictionCertificate",
    "FrictionSolution",
    "FrictionalCertificate",
    "FrictionalSolution",
    "friction",
    "frictional_inverse",
]

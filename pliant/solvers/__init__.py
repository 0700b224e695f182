"""Optimisation on condensed matrices: arrays in, a `Solution` with its certificate out."""

from typing import TYPE_CHECKING

from pliant.lazy import lazy
from pliant.solvers.lcp import lcp
from pliant.solvers.mcp import mcp
from pliant.solvers.problem import work_scale
from pliant.solvers.qp import QpCertificate, QpSolution, qp
from pliant.solvers.qpcc import qpcc
from pliant.solvers.qpcc_solution import QpccCertificate, QpccSolution
from pliant.solvers.solution import Certificate, Solution

if TYPE_CHECKING:
    from pliant.solvers.coulomb import friction
    from pliant.solvers.coulomb_inverse import frictional_inverse
    from pliant.solvers.enumeration import GlobalSolution, Landscape, landscape, qpcc_global
    from pliant.solvers.friction_solution import FrictionCertificate, FrictionSolution
    from pliant.solvers.frictional_solution import FrictionalCertificate, FrictionalSolution
else:
    __getattr__ = lazy(
        __name__,
        {
            **dict.fromkeys(
                ("GlobalSolution", "Landscape", "landscape", "qpcc_global"), "pliant.solvers.enumeration"
            ),
            "friction": "pliant.solvers.coulomb",
            "frictional_inverse": "pliant.solvers.coulomb_inverse",
            **dict.fromkeys(("FrictionCertificate", "FrictionSolution"), "pliant.solvers.friction_solution"),
            **dict.fromkeys(
                ("FrictionalCertificate", "FrictionalSolution"), "pliant.solvers.frictional_solution"
            ),
        },
    )

__all__ = [
    "Certificate",
    "FrictionCertificate",
    "FrictionSolution",
    "FrictionalCertificate",
    "FrictionalSolution",
    "GlobalSolution",
    "Landscape",
    "QpCertificate",
    "QpSolution",
    "QpccCertificate",
    "QpccSolution",
    "Solution",
    "friction",
    "frictional_inverse",
    "landscape",
    "lcp",
    "mcp",
    "qp",
    "qpcc",
    "qpcc_global",
    "work_scale",
]

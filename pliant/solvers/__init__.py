"""Optimisation on condensed matrices: arrays in, a `Solution` with its certificate out."""

from typing import TYPE_CHECKING

from pliant.lazy import lazy
from pliant.solvers.complementarity.lcp import lcp
from pliant.solvers.complementarity.mcp import mcp
from pliant.solvers.friction import (
    FrictionalCertificate,
    FrictionalSolution,
    FrictionCertificate,
    FrictionSolution,
    friction,
    frictional_inverse,
)
from pliant.solvers.qp import QpCertificate, QpSolution, qp
from pliant.solvers.qpcc import qpcc
from pliant.solvers.qpcc.problem import work_scale
from pliant.solvers.qpcc.solution import QpccCertificate, QpccSolution
from pliant.solvers.solution import Certificate, Solution

if TYPE_CHECKING:
    from pliant.solvers.qpcc.enumeration import GlobalSolution, Landscape, landscape, qpcc_global
else:
    __getattr__ = lazy(
        __name__,
        dict.fromkeys(
            ("GlobalSolution", "Landscape", "landscape", "qpcc_global"), "pliant.solvers.qpcc.enumeration"
        ),
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

"""Optimisation on condensed matrices: arrays in, a `Solution` with its certificate out."""

from pliant.solvers.enumeration import GlobalSolution, Landscape, landscape, qpcc_global
from pliant.solvers.lcp import lcp
from pliant.solvers.mcp import mcp
from pliant.solvers.problem import work_scale
from pliant.solvers.qp import QpCertificate, QpSolution, qp
from pliant.solvers.qpcc import qpcc
from pliant.solvers.qpcc_solution import QpccCertificate, QpccSolution
from pliant.solvers.solution import Certificate, Solution

__all__ = [
    "Certificate",
    "GlobalSolution",
    "Landscape",
    "QpCertificate",
    "QpSolution",
    "QpccCertificate",
    "QpccSolution",
    "Solution",
    "landscape",
    "lcp",
    "mcp",
    "qp",
    "qpcc",
    "qpcc_global",
    "work_scale",
]

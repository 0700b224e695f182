"""Optimisation on condensed matrices: arrays in, a `Solution` with its certificate out."""

from pliant.solvers.lcp import lcp
from pliant.solvers.mcp import mcp
from pliant.solvers.problem import work_scale
from pliant.solvers.qpcc import qpcc
from pliant.solvers.solution import Certificate, Solution

__all__ = ["Certificate", "Solution", "lcp", "mcp", "qpcc", "work_scale"]

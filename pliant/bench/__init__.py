"""Benchmarks that ship with the package: accuracy against cost, reference equilibria, speed.

Times are given as ratios to that of a matrix product, dgemm(1500), on the same machine.
"""

from pliant.bench.cantilever import cantilever
from pliant.bench.dynamics import dynamics
from pliant.bench.golden import golden
from pliant.bench.lcp import lcp_bench
from pliant.bench.manipulator import manipulator
from pliant.bench.qpcc import qpcc_bench
from pliant.bench.rates import rates
from pliant.bench.speed import speed
from pliant.bench.validation import validation

__all__ = [
    "cantilever",
    "dynamics",
    "golden",
    "lcp_bench",
    "manipulator",
    "qpcc_bench",
    "rates",
    "speed",
    "validation",
]

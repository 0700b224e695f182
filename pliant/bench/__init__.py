"""Benchmarks that ship with the package: accuracy against cost, reference equilibria, speed. Ratios, not clocks."""

from pliant.bench.cantilever import cantilever
from pliant.bench.golden import golden
from pliant.bench.speed import speed
from pliant.bench.table import Table, save
from pliant.bench.validation import validation

__all__ = ["Table", "cantilever", "golden", "save", "speed", "validation"]

"""Sparse symmetric block matrices: analyse a pattern, factorise values on it, solve and condense."""

from pliant.algebra.backends import analyse, factorise
from pliant.algebra.factor import Condensation, Factor, NotPositiveDefinite, Symbolic
from pliant.algebra.pattern import Pattern
from pliant.algebra.rows import SparseRows
from pliant.algebra.update import Updated

__all__ = [
    "Condensation",
    "Factor",
    "NotPositiveDefinite",
    "Pattern",
    "SparseRows",
    "Symbolic",
    "Updated",
    "analyse",
    "factorise",
]

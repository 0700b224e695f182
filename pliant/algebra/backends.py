"""The calls that everyone uses: analyse once per pattern, factorise for every matrix on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra import blas
from pliant.algebra.cholesky import CholeskySymbolic
from pliant.algebra.factor import Factor, Symbolic
from pliant.algebra.pattern import Pattern
from pliant.algebra.splu import SuperLUSymbolic
from pliant.errors import InputError, unknown_name

BACKENDS = ("multifrontal", "splu")


def analyse(
    pattern: Pattern, coordinates: ArrayLike | None = None, *, backend: str | None = None
) -> Symbolic:
    """Find a fill-reducing order and the layout of the factor; once per mesh.

    The order is minimum degree or, given coordinates (size, 3) [m], geometric nested dissection, whichever
    costs fewer operations. Backend "multifrontal" is the default, "splu" where SciPy's BLAS is out of reach.
    """
    if backend is None:
        backend = "multifrontal" if blas.addresses() is not None else "splu"
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    if coordinates is not None:
        coordinates = np.asarray(coordinates, np.float64)
        if coordinates.ndim != 2 or len(coordinates) != pattern.size or not np.isfinite(coordinates).all():
            raise InputError("coordinates", expected=f"finite ({pattern.size}, 3)", got=coordinates.shape)
    if backend == "splu":
        return SuperLUSymbolic(pattern)
    return CholeskySymbolic.of(pattern, coordinates)


def factorise(symbolic: Symbolic, data: NDArray[np.float64], *, indefinite: bool = False) -> Factor:
    """Factorise the symmetric matrix with values data (nb, block, block) on the analysed pattern.

    A = Pᵀ L S Lᵀ P with S = diag(±1), without pivoting; S = 1 for positive definite A. A negative pivot
    raises `NotPositiveDefinite`, unless `indefinite`: then `Factor.negative` counts them. A zero pivot always
    raises. A factor is a value: it stays what it is whatever is factorised later.
    """
    return symbolic.factorise(data, indefinite=indefinite)

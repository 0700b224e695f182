"""SciPy's BLAS, called from Numba kernels by address.

The addresses travel as an array argument instead of being compiled in, so that kernels can be cached on disk
and used by another process, where the library sits elsewhere.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from pliant.algebra.jit import inner
from pliant.threads import pin_blas

DTRSM, DSYRK, DGEMM, DTRSV, DGEMV = range(5)  # places of the routines in `addresses`
_NAMES = ("dtrsm", "dsyrk", "dgemm", "dtrsv", "dgemv")

LEFT, RIGHT, LOWER = np.uint8(ord("L")), np.uint8(ord("R")), np.uint8(ord("L"))
PLAIN, TRANSPOSED, NONUNIT = np.uint8(ord("N")), np.uint8(ord("T")), np.uint8(ord("N"))


@cache
def addresses() -> np.ndarray | None:
    """Addresses of the BLAS routines, indexed by DTRSM…; None where SciPy does not export them."""
    try:
        routines = [get_cython_function_address("scipy.linalg.cython_blas", name) for name in _NAMES]
    except (ImportError, ValueError, AttributeError):
        return None
    pin_blas()  # SciPy's own BLAS is loaded only now
    return np.array(routines, dtype=np.uintp)


def _pointer(typingctx, array, offset):
    """Address of array[offset] of a contiguous 1-D array."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        moved = builder.gep(data, [args[1]])
        return builder.bitcast(moved, context.get_value_type(types.voidptr))

    return types.voidptr(array, types.intp), generate


def _call(typingctx, address, arguments):
    """Call a Fortran routine: pointers are passed on, characters and numbers by reference.

    Integers go through 64-bit slots: on little-endian machines that serves 32-bit and 64-bit BLAS alike.
    """

    def generate(context, builder, signature, args):
        pointers = []
        for position, kind in enumerate(signature.args[1].types):
            value = builder.extract_value(args[1], position)
            if kind != types.voidptr:
                value = cgutils.alloca_once_value(builder, value)
            pointers.append(builder.bitcast(value, byte_pointer))
        routine = ir.FunctionType(ir.VoidType(), [byte_pointer] * len(pointers))
        builder.call(builder.inttoptr(args[0], routine.as_pointer()), pointers)
        return context.get_dummy_value()

    byte_pointer = ir.IntType(8).as_pointer()
    return types.void(address, arguments), generate


pointer: Any = intrinsic(_pointer)
call: Any = intrinsic(_call)


@inner
def dtrsm(blas, trans, m, n, a, lda, b, ldb):
    """B (m, n) ← B L⁻¹ or B L⁻ᵀ, L (n, n) lower triangular."""
    call(blas[DTRSM], (RIGHT, LOWER, trans, NONUNIT, m, n, 1.0, a, lda, b, ldb))


@inner
def dsyrk(blas, n, k, alpha, a, lda, beta, c, ldc):
    """C (n, n) ← α A Aᵀ + β C, lower half, A (n, k)."""
    call(blas[DSYRK], (LOWER, PLAIN, n, k, alpha, a, lda, beta, c, ldc))


@inner
def dgemm(blas, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """C (m, n) ← α A B + β C or α A Bᵀ + β C, A (m, k)."""
    call(blas[DGEMM], (PLAIN, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))


@inner
def dtrsv(blas, trans, n, a, lda, x):
    """x ← L⁻¹ x or L⁻ᵀ x."""
    call(blas[DTRSV], (LOWER, trans, NONUNIT, n, a, lda, x, 1))


@inner
def dgemv(blas, trans, m, n, alpha, a, lda, x, beta, y):
    """y ← α A x + β y or α Aᵀ x + β y, A (m, n)."""
    call(blas[DGEMV], (trans, m, n, alpha, a, lda, x, 1, beta, y, 1))

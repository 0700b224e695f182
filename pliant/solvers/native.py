"""Kernels that are compiled one by one and work on bare memory.

Numba compiles everything a function calls into that function, and optimises it again at every level of calls. A
`native` function is compiled once, by itself, and others reach it by its symbol, as they would reach a routine of
LAPACK. Its vectors are pointers, which compile in half the time of arrays and are quick to pass; nobody checks their
bounds. `link` compiles what a function needs, or finds it in Numba's cache on disk, when it is first called. As everywhere
in Numba, constants of other files are compiled in: delete the caches (*.nbi, *.nbc) after changing them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba import cfunc, njit, types
from numba.extending import intrinsic

from pliant.algebra.jit import INNER

REAL, INTEGER, NOTHING = types.float64, types.int64, types.void
REALS, INTEGERS = types.CPointer(REAL), types.CPointer(INTEGER)
# reassociation lets dot products use vector instructions; NaN and infinity keep their meaning
FAST: Any = {"reassoc", "contract"}
inner = njit(**INNER, fastmath=FAST)
"""Compiled into every function that calls it."""


class Declared(NamedTuple):
    """A native function and its signature."""

    function: Callable
    signature: Any


_declared: dict[str, Declared] = {}
_linked: dict[str, Any] = {}


def native(result: Any, *arguments: Any) -> Callable[[Callable], Any]:
    """Declare a function that compiled code may call; it may itself call those declared before."""

    def declare(function: Callable) -> Any:
        symbol = f"{function.__module__}.{function.__qualname__}"
        _declared[symbol] = Declared(function, result(*arguments))
        return types.ExternalFunction(symbol, result(*arguments))

    return declare


@cache
def link(function: Callable) -> None:
    """Make the native functions that a function calls available, and those that they call."""
    for symbol in _called(function):
        if symbol not in _linked:
            callee, signature = _declared[symbol]
            link(callee)
            collecting = gc.isenabled()
            gc.disable()  # it would take an eighth of the time of compiling
            try:
                _linked[symbol] = cfunc(signature, cache=True, error_model="numpy", fastmath=FAST)(callee)
            finally:
                if collecting:
                    gc.enable()
            llvm.add_symbol(symbol, _linked[symbol].address)


def _called(function: Callable) -> Iterator[str]:
    """Symbols of the native functions that a function names."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ExternalFunction) and value.symbol in _declared:
            yield value.symbol


def _at(context, pointer, offset):
    """The pointer, moved on by some elements."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, INTEGER), generate


def _row(context, memory, head, index):
    """Row of a memory whose rows are as long as the first integer of `head` says."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [builder.mul(builder.load(args[1]), args[2])])

    return memory(memory, head, INTEGER), generate


def _pointer(context, array):
    """Where an array begins."""
    kind = types.CPointer(array.dtype)

    def generate(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return kind(array), generate


at: Any = intrinsic(_at)
row: Any = intrinsic(_row)
pointer: Any = intrinsic(_pointer)

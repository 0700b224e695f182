"""A cluster of dask.distributed by its address, for whatever takes an executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pliant.errors import InputError, MissingExtraError

PATIENCE = "10s"  # that a scheduler has to answer


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, tcp://host:8786, to give as `executor`; None for "".

    A worker that is lost loses the work that it had; the scheduler gives that to another.
    """
    if not address:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("a cluster", "cluster") from None
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        hint = "Is its scheduler running? `dask scheduler` and `dask worker ADDRESS` start one."
        raise InputError(
            "cluster", expected="a scheduler of dask.distributed", got=address, hint=hint
        ) from error
    with client:
        yield client

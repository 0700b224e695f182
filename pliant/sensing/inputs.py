"""A check of candidates, before any frame comes."""

from __future__ import annotations

from pliant.errors import InputError
from pliant.sensing.identifiability import Identifiability


def check_influence(report: Identifiability) -> None:
    """Raise InputError naming forces that nothing measured feels."""
    if report.blind:
        hint = "Nothing that is measured moves when they act: are they on a fixed support?"
        raise InputError(
            "candidates", expected="forces that move some sensor", got=", ".join(report.blind), hint=hint
        )

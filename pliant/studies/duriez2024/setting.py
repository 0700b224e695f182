"""How fine the models of this study are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """bodies: kinds of bodies that every interaction is tried on, effectors: those on which it is a target. fine: refinement of meshes against closed forms. steps: time
    steps in a period or a time constant."""

    bodies: tuple[str, ...]
    effectors: tuple[str, ...]
    fine: int
    steps: int


KINDS = ("solid", "beam", "shell")
FULL = Setting(bodies=(*KINDS, "tetrahedra"), effectors=KINDS, fine=2, steps=100)
QUICK = Setting(bodies=KINDS, effectors=("beam",), fine=1, steps=40)

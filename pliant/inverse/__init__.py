"""The inverse model: which efforts bring effectors to their targets.

At rest (`Inverse`: `controller.py` on `model.py`, decided by `policy/`) or in motion (`MovingInverse`:
`moving/`). Both choose efforts by the same `program.py`.
"""

from typing import TYPE_CHECKING

from pliant.inverse.controller import Inverse
from pliant.inverse.outcome import InverseCertificate, Outcome
from pliant.inverse.settings import Settings
from pliant.lazy import lazy

if TYPE_CHECKING:
    from pliant.inverse.moving import MovingInverse
else:
    __getattr__ = lazy(__name__, {"MovingInverse": "pliant.inverse.moving"})

__all__ = ["Inverse", "InverseCertificate", "MovingInverse", "Outcome", "Settings"]

"""The inverse model: which efforts bring effectors to their targets."""

from pliant.inverse.controller import Inverse
from pliant.inverse.outcome import InverseCertificate, Outcome
from pliant.inverse.settings import Settings

__all__ = ["Inverse", "InverseCertificate", "Outcome", "Settings"]

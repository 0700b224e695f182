"""Reduced models: snapshots of what a robot does, and bases of its contact forces and of its motion.

plan  = pl.reduction.plans.plackett_burman(robot, steps=120)
shots = pl.reduction.collect(robot, plan, folder="snapshots")
"""

from __future__ import annotations

from pliant.contact import ContactBasis
from pliant.reduction import plans
from pliant.reduction.campaign import WorkerLostError, collect
from pliant.reduction.contact_fit import ContactFit, contact_basis, with_contact_basis
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.plackett_burman import hadamard
from pliant.reduction.plans import Plan
from pliant.reduction.snapshots import Snapshots

__all__ = [
    "ContactBasis",
    "ContactFit",
    "Fingerprint",
    "Plan",
    "Snapshots",
    "WorkerLostError",
    "collect",
    "contact_basis",
    "hadamard",
    "plans",
    "with_contact_basis",
]

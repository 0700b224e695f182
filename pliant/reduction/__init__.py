"""Reduced models: snapshots of what a robot does, and bases of its contact forces and of its motion.

plan  = pl.reduction.plans.plackett_burman(robot, steps=120)
shots = pl.reduction.collect(robot, plan, folder="snapshots")
model = pl.reduction.reduced_model(robot, shots)
small = model.on(robot)                                  # a robot like any other

quick = pl.reduction.fast(robot)                         # all of it, from the limits of the robot's rows
quick.robot
"""

from __future__ import annotations

from pliant.contact import ContactBasis
from pliant.reduction import plans
from pliant.reduction.campaign import WorkerLostError, collect
from pliant.reduction.contact_fit import ContactFit, contact_basis, with_contact_basis
from pliant.reduction.controller import Damper
from pliant.reduction.ecsw import Sampling, ecsw
from pliant.reduction.fast import Fast, fast
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.held_out import HeldOut, held_out
from pliant.reduction.linear_dynamics import LinearDynamics, linear_dynamics
from pliant.reduction.modal import modal
from pliant.reduction.model import ReducedModel, reduced_model
from pliant.reduction.observer import Observer
from pliant.reduction.plackett_burman import hadamard
from pliant.reduction.plans import Plan
from pliant.reduction.pod import pod
from pliant.reduction.reduce import reduce
from pliant.reduction.responses import responses
from pliant.reduction.saved import load, save
from pliant.reduction.snapshots import Snapshots
from pliant.reduction.state_basis import StateBasis
from pliant.reduction.workspace import few

__all__ = [
    "ContactBasis",
    "ContactFit",
    "Damper",
    "Fast",
    "Fingerprint",
    "HeldOut",
    "LinearDynamics",
    "Observer",
    "Plan",
    "ReducedModel",
    "Sampling",
    "Snapshots",
    "StateBasis",
    "WorkerLostError",
    "collect",
    "contact_basis",
    "ecsw",
    "fast",
    "few",
    "hadamard",
    "held_out",
    "linear_dynamics",
    "load",
    "modal",
    "plans",
    "pod",
    "reduce",
    "reduced_model",
    "responses",
    "save",
    "with_contact_basis",
]

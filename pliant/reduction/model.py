"""ReducedModel: from snapshots of a robot to the robot on a reduced body, and back from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.contact import ContactBasis
from pliant.reduction.contact_fit import contact_basis, with_contact_basis
from pliant.reduction.ecsw import Sampling, ecsw
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.pod import pod
from pliant.reduction.reduce import reduce
from pliant.reduction.snapshots import Snapshots
from pliant.reduction.state_basis import StateBasis
from pliant.robot import Robot

SHOWN = 250  # postures by whose forces cells are chosen, at most


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """A basis, the cells that stand for the mesh (None: all of them), and the robot they belong to.

    `body` is the number of the body that is reduced. `contact` is a basis of its contact forces; None leaves
    contacts one by one. `facts` are plain data that are saved with it, such as errors and the plan.
    """

    fingerprint: Fingerprint
    basis: StateBasis
    sampling: Sampling | None = None
    body: int = 0
    contact: ContactBasis | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    def __repr__(self) -> str:
        cells = "" if self.sampling is None else f", {len(self.sampling)} of {self.sampling.every} cells"
        touch = "" if self.contact is None else f", {len(self.contact)} contact modes"
        return f"ReducedModel({self.fingerprint.robot!r}, {len(self.basis)} modes{cells}{touch})"

    def on(self, robot: Robot) -> Robot:
        """The reduced robot, of the full one that this was made from.

        Another is refused, with what differs.
        """
        self.fingerprint.check(robot, "reduced model", coordinates=False)
        reduced = reduce(robot, self.basis, self.sampling, body=self.body)
        return reduced if self.contact is None else with_contact_basis(reduced, self.contact)


def reduced_model(
    robot: Robot,
    snapshots: Snapshots,
    *,
    tolerance: float = 1e-4,
    modes: int | None = None,
    force_tolerance: float | None = 0.005,
    cells: int | None = None,
    contact_modes: int | None = 0,
    body: int = 0,
) -> ReducedModel:
    """A POD basis of the snapshots and an ECSW sampling of the cells.

    `tolerance` and `modes` are those of the basis, see `pod`; `force_tolerance` and `cells` those of the
    sampling, see `ecsw`; force_tolerance=None keeps all cells. `contact_modes` is the number of modes of
    contact forces, None to choose it (see `contact_basis`), 0 to leave contacts as they are. Snapshots taken
    with probe=responses also contribute how each of them answers the efforts, to the modes and to the cells,
    whose stiffness these show.
    """
    snapshots.fingerprint.check(robot, "snapshots")
    span, solid = robot.q_spans[body], robot.bodies[body]
    good = snapshots.finite()
    coordinates, more = good.coordinates[:, span], None
    answered = coordinates[:0]
    if "responses" in good.extra and len(good):
        nodes = slice(span.start, span.start + solid.coordinates.rest.size)
        answers = good.extra["responses"][:, :, nodes]
        more = answers.reshape(-1, answers.shape[-1]).T
        answered = np.repeat(coordinates, answers.shape[1], axis=0)
        answered[:, : answers.shape[-1]] += answers.reshape(-1, answers.shape[-1])
    basis = pod(solid, coordinates, tolerance=tolerance, modes=modes, more=more)
    basis = StateBasis(basis.modes, basis.kind, basis.values, (*good.skipped, *basis.skipped))
    sampling = None
    if force_tolerance is not None:
        shown = np.concatenate([coordinates, answered])
        sampling = ecsw(solid, basis.modes, shown, tolerance=force_tolerance, cells=cells, snapshots=SHOWN)
    contact = None if contact_modes == 0 else contact_basis(robot, snapshots, contact_modes).basis
    return ReducedModel(snapshots.fingerprint, basis, sampling, body, contact)

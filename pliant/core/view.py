"""A view: the scene linearised in a situation.

r = f_ext − f(q)        K = −∂(r + Hᵀλ)/∂q        H = ∂δ/∂q
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.algebra import SparseRows
from pliant.bodies.overstress import Overstress
from pliant.contact import Contacts, Detector
from pliant.contact.stiffness import Change
from pliant.core.situation import Situation
from pliant.robot import Robot


@dataclass(frozen=True)
class View:
    """r (ndof,), H, δ and λ of all rows, K on the robot's pattern, and the energy [J].

    Contacts are rows like any other, below the robot's own: gaps, then with friction two slips each.
    """

    at: Situation
    energy: float
    r: np.ndarray
    H: SparseRows
    delta: np.ndarray
    lam: np.ndarray
    K: np.ndarray | None
    contacts: Contacts | None = None
    flat: np.ndarray | None = None  # K without contact stiffness, where it has some
    change: Change | None = (
        None  # of K, where its pattern has no entries: between bodies that push each other
    )

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,) at which it was linearised."""
        return self.at.q

    @property
    def own(self) -> int:
        """How many rows are the robot's."""
        return len(self.lam) - (0 if self.contacts is None else self.contacts.scalars)

    @property
    def force(self) -> np.ndarray:
        """Forces of the contact rows [N]: normal ones (n,), then along the tangents."""
        return self.lam[self.own :]

    def bare(self) -> View:
        """The same without its contacts."""
        own, K = self.own, self.K if self.flat is None else self.flat
        H = self.H.take(np.arange(own))
        return replace(
            self, H=H, delta=self.delta[:own], lam=self.lam[:own], K=K, contacts=None, flat=None, change=None
        )

    def residual(self) -> np.ndarray:
        """r + Hᵀλ, (ndof,): zero in equilibrium."""
        return self.r + self.H.transpose_dot(self.lam)

    def touching(
        self, contacts: Contacts, force: np.ndarray | None = None, start: np.ndarray | None = None
    ) -> View:
        """With the rows of contacts below the robot's, and their forces [N], by default zero.

        start: coordinates from which slip counts, by default those here.
        """
        force = np.zeros(contacts.scalars) if force is None else force
        H, delta = self.H, [self.delta, contacts.gap]
        if len(contacts):
            H = H.above(contacts.rows(self.q))
        if contacts.frictional:
            H = H.above(contacts.tangent_rows(self.q))
            delta.append(contacts.slip(self.q, self.q if start is None else start).ravel())
        lam = np.concatenate([self.lam, force])
        return replace(self, H=H, delta=np.concatenate(delta), lam=lam, contacts=contacts)

    def stiffened(self, detector: Detector, *, share: float = 1.0, exact: bool = False) -> View:
        """With the contact stiffness in K. share: of the contact forces that it is computed with."""
        contacts = self.contacts
        if self.K is None or contacts is None:
            return self
        normal = share * self.force[: len(contacts)]
        K, change = detector.stiffness(self.K, contacts, normal, self.q, exact=exact)
        return replace(self, K=K, change=change, flat=None if K is self.K and change is None else self.K)


def linearise(
    robot: Robot,
    q: np.ndarray,
    lam: np.ndarray,
    z: np.ndarray,
    gravity: np.ndarray,
    *,
    tangent: bool = True,
    clamp: bool = False,
    predicted: np.ndarray | None = None,
    viscous: Sequence[Overstress | None] | None = None,
) -> View | None:
    """The robot alone at q, or None when q is inadmissible (an element turned inside out).

    clamp=True limits the terms of K that can make it indefinite. `predicted` is what `Robot.predict` said of
    the motion that led to q: the geometric stiffness of slender bodies is then that of the forces which the
    motion was meant to bring, the same in balance and far calmer on the way; without it, that of the forces
    at q. `viscous`: what materials add to their stress during a step in time, one for each body.
    """
    energy, r, K = 0.0, np.empty(robot.ndof), None
    blocks = np.zeros((len(robot.pattern.rows), 3, 3)) if tangent else None
    for n, body in enumerate(robot.bodies):
        e, r_body, K_body = body.linearise(
            q[robot.q_spans[n]],
            gravity,
            z[robot.z_spans[n]],
            tangent=tangent,
            clamp=clamp,
            predicted=None if predicted is None else predicted[robot.predicted_spans[n]],
            viscous=None if viscous is None else viscous[n],
        )
        if r_body is None:
            return None
        energy += e
        r[robot.dq_spans[n]] = r_body
        if blocks is not None:
            blocks[robot.body_placement[robot.block_spans[n]]] = K_body
            K = blocks
    bundle = robot.bundle
    p = bundle.positions(q)
    remembered = z[robot.row_z]
    gradient = bundle.gradient(p, remembered)
    H = bundle.jacobian(q, gradient)
    load = bundle.loads(q, p, gravity)
    if load is not None:
        r += bundle.load_vector(q, load)
    if K is not None and (lam.any() or load is not None):
        bundle.add_geometric_stiffness(
            K, robot.row_placement, robot.rotation_placement, q, p, lam, remembered, gravity, gradient, load
        )
    return View(Situation(q, lam, z, gravity), energy, r, H, bundle.delta(p), lam, K)

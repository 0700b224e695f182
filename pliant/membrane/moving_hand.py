"""The hand in motion: its fingers, object and skins as a mechanism, and as a plant for a controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.membrane.bodies import At, Motor, PlanarBody
from pliant.membrane.cable import Membrane, Over
from pliant.membrane.equilibrium import size_of
from pliant.membrane.hand import Hand
from pliant.membrane.joints import Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.plant import MASS, STIFFNESS, Reading, joint_inertia
from pliant.membrane.shapes import rotation
from pliant.membrane.simulation import Simulation

OBJECT = "object"
PARTS = ("proximal", "slide", "paddle")


def part(name: str, finger: int) -> str:
    """Name of a part of a finger, counted from zero: "paddle 1" …"""
    return f"{name} {finger}"


def mechanism_of(
    hand: Hand,
    joints: Any = None,
    pose: Any = None,
    *,
    mass: float = 0.05,
    finger_mass: float = MASS,
    drag: float = 0.2,
    stiffness: float = STIFFNESS,
    friction: float = 0.0,
) -> Mechanism:
    """Bodies, motors and skins of a hand at `joints` (3f,), the object at `pose`.

    mass: of the object [kg]; finger_mass: what a slider moves [kg], see `joint_inertia`; drag: of the object
    [N·s/m]; stiffness of the inner loop [1/s²] per unit of inertia, with critical damping; friction of the
    skins.
    """
    if not mass > 0.0 or not stiffness > 0.0:
        raise InputError("mass, stiffness", expected="positive numbers", got=(mass, stiffness))
    q = hand.middle if joints is None else hand.joints(joints)
    here = hand.rest(q).pose if pose is None else hand.pose(pose)
    inertia = joint_inertia(hand, finger_mass)
    bodies, motors = [], []
    for k in range(len(hand.fingers)):
        own = slice(3 * k, 3 * k + 3)
        bodies += _finger(hand, k, q[own], inertia[own], finger_mass)
        motors += [
            Motor(part(name, k), stiffness * i, 2.0 * np.sqrt(stiffness) * i)
            for name, i in zip(PARTS, inertia[own])
        ]
    bodies.append(_object(hand, here, mass, drag))
    skins = [_skin(hand, k, friction) for k in range(len(hand.fingers))]
    return Mechanism(bodies, cables=skins, motors=motors, name="hand")


def _finger(hand: Hand, k: int, q: np.ndarray, inertia: np.ndarray, mass: float) -> list[PlanarBody]:
    """Proximal part, slider and paddle.

    Slider and paddle share the mass, the proximal part has the inertia that is left.
    """
    finger, (proximal, slide, paddle) = hand.fingers[k], (part(name, k) for name in PARTS)
    rest = inertia[0] - mass * finger.link**2 - inertia[2]
    hinge = Revolute(at=tuple(finger.base), angle=finger.heading, start=float(q[0]))
    return [
        PlanarBody(proximal, hinge, 0.0, max(float(rest), 0.1 * float(inertia[0]))),
        PlanarBody(slide, Prismatic(parent=proximal, at=(finger.link, 0.0), start=float(q[1])), 0.5 * mass),
        PlanarBody(paddle, Revolute(parent=slide, start=float(q[2])), 0.5 * mass, float(inertia[2])),
    ]


def _object(hand: Hand, pose: np.ndarray, mass: float, drag: float) -> PlanarBody:
    """An object that keeps its angle by the frame of its joint, or turns."""
    turn = mass * size_of(hand.shape) ** 2
    if hand.rotates:
        joint = Free(start=tuple(pose), damping=drag * np.array([1.0, 1.0, size_of(hand.shape) ** 2]))
        return PlanarBody(OBJECT, joint, mass, turn, shape=hand.shape)
    place = rotation(float(pose[2])).T @ pose[:2]
    joint = Translating(start=tuple(place), angle=float(pose[2]), damping=drag)
    return PlanarBody(OBJECT, joint, mass, turn, shape=hand.shape)


def _skin(hand: Hand, k: int, friction: float) -> Membrane:
    finger, paddle = hand.fingers[k], part("paddle", k)
    half, front = 0.5 * finger.paddle, finger.side * finger.offset
    path = (At(paddle, (-half, front)), Over(OBJECT, finger.side), At(paddle, (half, front)))
    return Membrane(
        part("skin", k),
        path,
        finger.stiffness,
        finger.damping,
        rest_length=finger.paddle - finger.preload,
        friction=friction,
    )


class Moving:
    """A plant that moves by the laws of mechanics: `options` are those of `mechanism_of`."""

    def __init__(
        self, hand: Hand, joints: Any = None, pose: Any = None, *, time_step: float = 1e-3, **options: Any
    ) -> None:
        self.hand = hand
        self.mechanism = mechanism_of(hand, joints, pose, **options)
        self.simulation = Simulation(self.mechanism, time_step=time_step)
        names = [part(name, k) for k in range(len(hand.fingers)) for name in PARTS]
        self._names = names
        self._at = np.array([self.mechanism.coordinate(name) for name in names])
        object_names = [n for n in self.mechanism.coordinates if n.startswith(f"{OBJECT} ")]
        self._own = np.array([self.mechanism.coordinate(name) for name in object_names])
        if any(hand.wrench):
            self.simulation.command(wrenches={OBJECT: hand.wrench})

    def read(self) -> Reading:
        """Where everything is now."""
        sim = self.simulation
        pose, velocity = np.array(sim.moment.pose[OBJECT]), np.zeros(3)
        velocity[: len(self._own)] = sim.v[self._own]
        if not self.hand.rotates:  # coordinates along the axes of a tilted joint
            velocity[:2] = rotation(pose[2]) @ velocity[:2]
        return Reading(sim.t, sim.q[self._at], pose, velocity)

    def advance(self, command: np.ndarray, duration: float) -> Reading:
        """Move towards joint positions (3f,) for a `duration` [s], rounded to whole time steps."""
        self.simulation.run(duration, targets=dict(zip(self._names, map(float, command))))
        return self.read()

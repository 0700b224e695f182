"""A crawler: a soft arch on two feet that walks by tightening its belly, and what makes it walk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Plane, Samples, Surroundings
from pliant.interactions import Cable, CentreOfMass, Combined
from pliant.laws import Bounded, Known, Target
from pliant.materials import library
from pliant.mesh import box
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY

if TYPE_CHECKING:
    from pliant.dynamics import Moment

SETTLING_TIME = 0.4  # [s] before the gait begins
PERIOD = 1.0  # [s], of the gait
VISCOSITY = 0.02  # [s], of the silicone
CABLE_POINTS = 9  # of the body that each cable runs through
SAMPLE_SPACING = 1.0  # [m], wider than any facet: nodes only


def crawler(
    *,
    length: float = 0.12,
    width: float = 0.03,
    thickness: float = 0.012,
    arc: float = 1.2,
    along: int = 16,
    across: int = 2,
    layers: int = 2,
    kind: str = "hex",
    material: str = "dragon skin 20",
    poisson: float = 0.45,
    depth: float = 0.001,
    tension: float = 4.0,
    friction: float = 0.6,
    alarm: float = 0.003,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A free silicone strip along x, an arch of the angle `arc` [rad] that stands on the edges of its ends.

    In the manner of the tendon-driven crawlers of Umedachi, Vikas and Trimmer, 'Softworms: the design and
    control of non-pneumatic, 3D-printed, deformable robots', Bioinspir. Biomim. 2016, but with plain feet,
    the same friction in every direction. There are two tendons along the belly, one in each half. One that is
    tightened draws its foot in and shifts weight; the foot that carries less slides. So the order of the two
    decides where it goes, see `crawler_gait`.

    `length` [m] is that of the belly, `depth` [m] how far inside it the tendons lie, `friction` Coulomb's
    coefficient of the ground, the plane z = 0. Only the ground supports it: it moves by `Simulation` and
    `MovingInverse`, and rests where it stands.

    Rows: "rear" and "front", the tendons, up to `tension` [N]; "ahead", the x of the centre of mass, the
    effector; "centre", all of the centre of mass.
    """
    radius, stuff = length / arc, library[material]
    mesh = box(
        (1.0, width, thickness), cells=(along, across, layers), kind=kind, origin=(-0.5, -0.5 * width, 0.0)
    )
    s, y, h = mesh.nodes.T
    body = Solid(mesh.with_nodes(_arch(s, y, h, arc, radius)), stuff.hooke(poisson), density=stuff.density)
    n = CABLE_POINTS
    tendon = lambda a, b: Cable(
        body.points(_arch(np.linspace(a, b, n), np.zeros(n), np.full(n, depth), arc, radius))
    )
    ends = 0.5 - 0.25 / along
    mass = CentreOfMass.of(body)
    rows = {
        "rear": Row(tendon(-ends, 0.0), Bounded(effort=(0.0, tension))),
        "front": Row(tendon(0.0, ends), Bounded(effort=(0.0, tension))),
        "ahead": Row(Combined(mass, [[1.0], [0.0], [0.0]]), Target()),
        "centre": Row(mass),
    }
    surroundings = Surroundings(
        [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), name="ground")],
        samples=Samples.on(body, spacing=SAMPLE_SPACING, mid_nodes=False),
        friction=friction,
        alarm=alarm,
    )
    return Robot(body, rows, gravity=gravity, name="crawler", surroundings=surroundings)


def crawler_gait(
    time: float, *, period: float = PERIOD, tension: float = 3.0, lead: float = 0.25
) -> dict[str, Known]:
    """Commands of the tendons at a time [s].

    Each is tightened up to `tension` [N] once a `period` [s], the front one `lead` periods before the rear
    one. A lead of −0.25 goes backwards, 0 stays.
    """
    pull = lambda phase: 0.5 * tension * (1.0 - np.cos(2.0 * np.pi * phase))
    begins = min(1.0, time / period)
    return {
        "rear": Known(effort=begins * pull(time / period)),
        "front": Known(effort=begins * pull(time / period + lead)),
    }


def crawl(
    robot: Robot | None = None, *, cycles: int = 3, time_step: float = 0.01, damping: Any = None, **gait: Any
) -> Iterator[Moment]:
    """The moments of so many cycles of a crawler's walk; the first is that of rest on the ground before them.

    `gait` are options of `crawler_gait`; `damping` is by default a viscosity of the silicone of 20 ms.
    """
    from pliant.dynamics import KelvinVoigt, Simulation  # comes with many kernels

    robot, damping = robot or crawler(), KelvinVoigt(VISCOSITY) if damping is None else damping
    sim = Simulation(robot, time_step=time_step, damping=damping)
    for _ in range(round(SETTLING_TIME / time_step) - 1):
        sim.step()
    yield sim.step()
    start, period = sim.t, gait.get("period", PERIOD)
    for _ in range(round(cycles * period / time_step)):
        yield sim.step(crawler_gait(sim.t + time_step - start, **gait))


def _arch(s: np.ndarray, y: np.ndarray, h: np.ndarray, arc: float, radius: float) -> np.ndarray:
    """Places (n, 3) [m] in the arch: share s of its length, 0 in the middle; height h above the belly."""
    r, angle = radius + h, arc * s
    return np.column_stack([r * np.sin(angle), y, r * np.cos(angle) - radius * np.cos(0.5 * arc)])

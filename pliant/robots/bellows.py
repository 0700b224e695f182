"""A hydraulic bellows: liquid pumped in or out sets its length."""

from __future__ import annotations

from pliant.bodies import Solid
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import bellows as bellows_mesh
from pliant.mesh import cavity_surfaces, near_plane
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, cavity, tip

LARGEST_WITHDRAWAL = 0.5  # of the volume at rest


def bellows(
    *,
    length: float = 0.08,
    radius: float = 0.017,
    amplitude: float = 0.004,
    wall: float = 0.0015,
    end: float = 0.004,
    convolutions: int = 4,
    around: int = 12,
    steps: int = 8,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    liquid: float = 1000.0,
    volume: float = 30e-6,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A silicone bellows along z on a fixed base, filled with a `liquid` [kg/m³] whose volume a pump imposes.

    A liquid does not compress: the volume is the command, and the pressure at the height of the cavity's
    centre is the effort. The liquid's weight acts on the wall. Rows: "chamber", from half empty to `volume`
    [m³] more than at rest; "tip", the middle of the upper end.
    """
    mesh = bellows_mesh(
        length,
        radius=radius,
        amplitude=amplitude,
        wall=wall,
        end=end,
        convolutions=convolutions,
        around=around,
        steps=steps,
        order=2,
    )
    stuff = library[material]
    foot = near_plane(mesh, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, fixed=foot)
    (inside,) = cavity_surfaces(body.mesh)
    chamber = cavity(body, inside, liquid_density=liquid)
    rows = {
        "chamber": Row(chamber, Bounded(displacement=(-LARGEST_WITHDRAWAL * chamber.rest_volume, volume))),
        "tip": tip(body, (0.0, 0.0, length)),
    }
    return Robot(body, rows, gravity=gravity, name="bellows")

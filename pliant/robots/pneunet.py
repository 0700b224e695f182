"""A pneumatic-network finger: air in a row of chambers makes it curl."""

from __future__ import annotations

from pliant.bodies import Solid
from pliant.materials import library
from pliant.mesh import cavity_surfaces, near_plane
from pliant.mesh import pneunet as pneunet_mesh
from pliant.robot import Robot
from pliant.robots.parts import GRAVITY, cavity, pressure_row, tip

SUCTION = 20e3  # [Pa], the lowest pressure below that of the air


def pneunet(
    *,
    chambers: int = 5,
    chamber: float = 0.01,
    wall: float = 0.002,
    gap: float = 0.002,
    root: float = 0.008,
    width: float = 0.016,
    height: float = 0.018,
    layer: float = 0.003,
    size: float = 0.01,
    material: str = "dragon skin 30",
    layer_material: str = "smooth-sil 950",
    poisson: float = 0.48,
    pressure: float = 60e3,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A finger along x that curls down when inflated: chambers of soft silicone on a layer of a stiffer one.

    After Mosadegh et al., 'Pneumatic networks for soft robotics that actuate rapidly', Adv. Funct. Mater.
    2014: the walls between neighbouring chambers are free, so that they bulge towards each other and little
    strain is needed to bend. Neo-Hookean, because the walls stretch far. Fixed at x = 0. Rows: "chamber", all
    chambers with their channel as one cavity, up to `pressure` [Pa] with up to 20 kPa of suction; "tip", the
    middle of the layer's end.
    """
    mesh = pneunet_mesh(
        chambers,
        chamber=chamber,
        wall=wall,
        gap=gap,
        root=root,
        width=width,
        height=height,
        layer=layer,
        size=size,
    )
    soft, stiff = library[material], library[layer_material]
    root_face = near_plane(mesh, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    body = Solid(
        mesh,
        {0: soft.material(poisson), 1: stiff.material(poisson)},
        density={0: soft.density, 1: stiff.density},
        fixed=root_face,
    )
    (inside,) = cavity_surfaces(body.mesh)
    end = (float(mesh.nodes[:, 0].max()), width / 2, layer / 2)
    rows = {"chamber": pressure_row(cavity(body, inside), pressure, suction=SUCTION), "tip": tip(body, end)}
    return Robot(body, rows, gravity=gravity, name="pneunet")

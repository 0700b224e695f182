"""A tower of four sections that inflate one by one, and push each other away."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Surroundings
from pliant.materials import library
from pliant.mesh import cavity_surfaces
from pliant.mesh import tower as tower_mesh
from pliant.robot import Robot
from pliant.robots.parts import GRAVITY, cavity, pressure_row, tip


def tower(
    *,
    sections: int = 4,
    width: float = 0.04,
    chamber: float = 0.008,
    wall: float = 0.0035,
    slit: float = 0.0015,
    depth: float = 0.65,
    base: float = 0.006,
    chamfer: float = 0.002,
    size: float = 0.02,
    kind: str = "hex",
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pressure: float = 25e3,
    alarm: float = 0.00095,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A square silicone tower along z whose sections have a pressure chamber at +x, +y, −x and −y in turn.

    After the tower of Coevoet et al., 'Optimization-based inverse model of soft robots with contact
    handling', RA-L 2017: below each chamber a slit parts it from the section beneath. An inflated chamber
    bulges through the slit, pushes itself off, and the tower bends to the other side. The underside of each
    section touches the top of the one below wherever they meet (`alarm` [m]: how near counts as a possible
    contact). The base up to the first slit is fixed. Rows: "chamber 1" (at the base) to "chamber 4", between
    half of `pressure` [Pa] of suction and the whole of it; "tip", the middle of the top.
    """
    mesh = tower_mesh(
        sections,
        width=width,
        chamber=chamber,
        wall=wall,
        slit=slit,
        depth=depth,
        base=base,
        chamfer=chamfer,
        size=size,
        kind=kind,
    )
    stuff = library[material]
    foot = mesh.nodes[:, 2] < base + 1e-6 * mesh.size
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, fixed=foot)
    rows = {
        f"chamber {n + 1}": pressure_row(cavity(body, inside), pressure, suction=0.5 * pressure)
        for n, inside in enumerate(cavity_surfaces(body.mesh))
    }
    rows["tip"] = tip(body, (0.0, 0.0, float(mesh.nodes[:, 2].max())))
    floors = base + np.arange(sections) * (slit + 2 * wall + chamber)
    surroundings = _slits(body, floors, slit, alarm)
    return Robot(body, rows, gravity=gravity, name="tower", surroundings=surroundings)


def _slits(body: Solid, floors: np.ndarray, slit: float, alarm: float) -> Surroundings:
    """Contact of the underside above each slit, whose nodes are the samples, with the top below it."""
    surface = body.mesh.surface
    height, up = surface.centres[:, 2], surface.facet_normals[:, 2]
    at = lambda z, side: (np.abs(height - z) < 1e-6 * body.mesh.size) & (side * up > 0.9)
    under = [at(z + slit, -1.0) for z in floors]
    pairs = [(surface.patch(u), surface.patch(at(z, 1.0))) for u, z in zip(under, floors, strict=True)]
    samples = Samples.on(body, np.any(under, axis=0), spacing=body.mesh.size)
    return Surroundings(samples=samples, self_contact=pairs, alarm=alarm)

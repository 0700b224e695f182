"""The gallery: functions that build robots, with keyword parameters in SI units, and their demonstrations.

robot = pl.robots.trunk(length=0.25)
pl.robots.gallery["trunk"].laws         # the commands of its demonstration
pl.robots.grippers                      # those with a loose thing between their fingers
pl.robots.scenes["trunk"]()             # the same robot with something to do among obstacles, see `scene`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pliant.errors import unknown_name
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots.beam import FIGURE_2, FIGURE_3, beam
from pliant.robots.bellows import bellows
from pliant.robots.cantilever import cantilever
from pliant.robots.crawler import crawl, crawler, crawler_gait
from pliant.robots.drive import drive
from pliant.robots.emio import emio
from pliant.robots.fibre_bender import fibre_bender
from pliant.robots.finger import finger
from pliant.robots.folding_finger import folding_finger
from pliant.robots.gripper import gripper, three_fingers
from pliant.robots.manipulator import manipulator
from pliant.robots.muscle import muscle
from pliant.robots.parallel import parallel, parallel_layouts
from pliant.robots.pneunet import pneunet
from pliant.robots.rod import rod
from pliant.robots.scene import Event, Scene, follow
from pliant.robots.scenes import scene, scenes
from pliant.robots.sheet import sheet, sheet_layouts
from pliant.robots.tower import tower
from pliant.robots.tripod import tripod
from pliant.robots.trunk import trunk
from pliant.robots.two_bodies import two_bodies

cable_finger = finger


@dataclass(frozen=True)
class Entry:
    """A robot of the gallery and its demonstration.

    `laws` are the commands at the end of the demonstration; `view` is where its picture is seen from, degrees
    (azimuth, elevation); `effector` is the row whose path is plotted.
    """

    build: Callable[..., Robot]
    laws: Mapping[str, Known]
    summary: str
    view: tuple[float, float] = (-60.0, 16.0)
    effector: str = "tip"


gallery: dict[str, Entry] = {
    "cantilever": Entry(
        cantilever,
        {"load": Known(effort=-0.15)},
        "a bar that sags under its weight and a load at its tip",
    ),
    "finger": Entry(
        finger,
        {"cable": Known(displacement=0.018)},
        "a notched silicone finger curled by one cable",
        view=(25.0, 12.0),
    ),
    "folding_finger": Entry(
        folding_finger,
        {"cable": Known(displacement=0.034)},
        "a finger whose joints fold until their sides touch",
        view=(25.0, 12.0),
    ),
    "trunk": Entry(
        trunk,
        {"cable 1": Known(displacement=0.04), "cable 8": Known(displacement=0.015)},
        "a trunk that hangs from its base, with eight cables",
        view=(-55.0, 14.0),
    ),
    "tower": Entry(
        tower,
        {"chamber 1": Known(effort=20e3), "chamber 2": Known(effort=20e3)},
        "four inflatable sections that push off each other",
        view=(-50.0, 14.0),
    ),
    "beam": Entry(
        beam,
        {"lower": Known(effort=400.0)},
        "a soft beam with two cables that bends over a ball",
        view=(-70.0, 14.0),
    ),
    "two_bodies": Entry(
        two_bodies,
        {"force": Known(effort=0.4)},
        "a soft wall that is pushed against a soft organ",
        view=(-60.0, 10.0),
    ),
    "pneunet": Entry(
        pneunet,
        {"chamber": Known(effort=40e3)},
        "a pneumatic-network finger that curls when inflated",
    ),
    "tripod": Entry(
        tripod,
        {
            "motor 1": Known(displacement=np.radians(-40.0)),
            "motor 2": Known(displacement=np.radians(0.0)),
            "motor 3": Known(displacement=np.radians(30.0)),
        },
        "three legs on servo motors that move and tilt a hub",
        view=(-50.0, 28.0),
    ),
    "rod": Entry(
        rod,
        {"insertion": Known(displacement=0.1), "cable 1": Known(effort=0.45)},
        "a rod pushed into a forked pipe and steered by cables",
        view=(-60.0, 30.0),
    ),
    "manipulator": Entry(
        manipulator,
        {f"tendon {n}": Known(effort=32.0) for n in (1, 4, 7)},
        "a spine with ribs that touch when its tendons bend it",
        view=(-75.0, 10.0),
    ),
    "sheet": Entry(
        sheet,
        {"load": Known(effort=-3.0)},
        "a sheet held by its corners, to feel forces on",
        view=(-60.0, 22.0),
    ),
    "parallel": Entry(
        parallel,
        {"cable 1": Known(displacement=0.022)},
        "four legs that meet in a hub, drawn by cables",
        view=(-50.0, 24.0),
    ),
    "emio": Entry(
        emio,
        {f"motor {n}": Known(displacement=np.radians(a)) for n, a in ((1, 75), (2, 40), (3, -15), (4, 40))},
        "a platform on four soft legs that are bent into place and driven by motors",
        effector="platform",
        view=(-50.0, 20.0),
    ),
    "bellows": Entry(
        bellows,
        {"chamber": Known(displacement=25e-6)},
        "a liquid-filled bellows whose length follows the volume pumped in",
        view=(-60.0, 10.0),
    ),
    "muscle": Entry(
        muscle,
        {"chamber": Known(effort=100e3), "load": Known(effort=10.0)},
        "a McKibben muscle that lifts a load as it is inflated",
        view=(-60.0, 10.0),
    ),
    "fibre_bender": Entry(
        fibre_bender,
        {"chamber": Known(effort=60e3)},
        "a tube that curls when inflated, as threads keep one side's length",
        view=(-60.0, 10.0),
    ),
}


# Robots with a loose thing, in motion: `pliant view` begins them with inertia, and the commands close them.
grippers: dict[str, Entry] = {
    "gripper": Entry(
        gripper,
        {"cable 1": Known(displacement=0.012), "cable 2": Known(displacement=0.012)},
        "two cable fingers and a loose box: close, lift, shake, drag the box",
        effector="object",
    ),
    "three_fingers": Entry(
        three_fingers,
        {f"finger {n}": Known(effort=30e3) for n in (1, 2, 3)},
        "three pneumatic fingers on a palm and a loose ball: close, lift, shake, drag the ball",
        effector="object",
    ),
}


def entry(name: str) -> Entry:
    """The gallery's entry called `name`; an unknown name is an error with the nearest names."""
    if name not in gallery:
        raise unknown_name("robot", name, gallery)
    return gallery[name]


__all__ = [
    "FIGURE_2",
    "FIGURE_3",
    "Entry",
    "Event",
    "Scene",
    "beam",
    "bellows",
    "cable_finger",
    "cantilever",
    "crawl",
    "crawler",
    "crawler_gait",
    "drive",
    "emio",
    "entry",
    "fibre_bender",
    "finger",
    "folding_finger",
    "follow",
    "gallery",
    "gripper",
    "grippers",
    "manipulator",
    "muscle",
    "parallel",
    "parallel_layouts",
    "pneunet",
    "rod",
    "scene",
    "scenes",
    "sheet",
    "sheet_layouts",
    "three_fingers",
    "tower",
    "tripod",
    "trunk",
    "two_bodies",
]

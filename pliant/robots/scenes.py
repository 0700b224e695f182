"""Scenes with contact for the inverse model: each function builds one; `scenes` has them by name.

They are those of Coevoet et al., 'Optimization-based inverse model of soft robots with contact handling',
RA-L 2017. Sizes are those of Table 12 in the paper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.contact import Cylinder, Pipe, Plane, Surroundings
from pliant.errors import unknown_name
from pliant.inverse import Inverse
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots.beam import FIGURE_2, FIGURE_3, beam
from pliant.robots.parts import GRAVITY
from pliant.robots.scene import Event, Paper, Scene, through
from pliant.robots.tower import tower
from pliant.robots.trunk import trunk
from pliant.robots.two_bodies import two_bodies

TUBES = 500.0  # [N/m] of the tubes in which the trunk's cables run, from point to point of a cable
HEX8 = "hexahedra, 8 nodes, incompatible modes"


def tower_scene() -> Scene:
    """The tower's top goes round, while its sections push off each other."""
    return Scene(
        name="tower",
        robot=tower(),
        path=through(TOWER, closed=True),
        element=HEX8,
        start={f"chamber {n + 1}": Known(effort=p) for n, p in enumerate((15e3, 8e3, 1e3, 8e3))},
        paper=Paper(contacts=21, dofs=1680, compliance=10.53, programs=0.445),
    )


def beam_scene() -> Scene:
    """The *upper* cable moves the beam's tip down and up again, as it turns about a ball (Figs 2 and 4)."""
    return Scene(
        name="beam",
        robot=beam(**{**FIGURE_2, "alarm": 0.0022}),
        path=through([[-0.004], [-0.006], [-0.0075], [-0.005], [-0.004]]),
        element=HEX8,
        start={"upper": Known(effort=270.0)},
        paper=Paper(contacts=16, dofs=480, compliance=2.003, programs=0.15),
    )


def beam_other_scene() -> Scene:
    """The beam with its balls elsewhere and stronger cables: it bends down over the lower ball (Fig. 3)."""
    robot = beam(**FIGURE_3)
    path = through([[0.0], [-0.02], [-0.045], [-0.03], [0.0]])
    return Scene(name="beam, figure 3", robot=robot, path=path, element=HEX8)


def rod_scene() -> Scene:
    """The rod is pushed into one branch of the pipe, drawn back, and pushed into the other (Fig. 6)."""
    from pliant.robots.rod import rod  # comes with the beams

    branch = np.array(
        [[0.0, 0.0, 0.0], [0.025, 0.0, 0.0], [0.05, 0.0055, 0.0], [0.068, 0.018, 0.0], [0.085, 0.03, 0.0]]
    )
    waypoints = np.vstack([branch, branch[-2:0:-1], branch * (1.0, -1.0, 1.0)])
    return Scene(
        name="rod",
        robot=rod(),
        path=through(waypoints),
        element="beam, 2 nodes",
        paper=Paper(contacts=47, dofs=66, compliance=0.757, programs=3.136),
    )


def two_bodies_scene() -> Scene:
    """A point of the organ goes down and round as a probe presses and pulls on the wall above it (Fig. 7)."""
    turn = np.linspace(0.0, 2.0 * np.pi, 9)
    middle, radius = (0.0031, 0.00216, -0.0033), 1e-4  # about where pressing alone brings it
    ring = middle + radius * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    return Scene(
        name="two bodies",
        robot=two_bodies(),
        path=through(np.vstack([(0.00301, 0.00211, -0.0028), (0.00306, 0.00214, -0.0031), ring])),
        element=HEX8,
        start={"force": Known(effort=0.07)},
        paper=Paper(contacts=16, dofs=2313, compliance=10.458, programs=0.123),
    )


def trunk_scene() -> Scene:
    """The trunk between two cylinders, with its base on a platform: to one side and to the other (Fig. 8)."""
    cylinders = [_cylinder(name, side * 0.0525, 0.04) for name, side in (("right", 1.0), ("left", -1.0))]
    return Scene(
        name="trunk",
        robot=trunk(travel=0.03, surroundings=Surroundings(cylinders, alarm=0.005)),
        path=through(TRUNK),
        element=HEX8,
        paper=Paper(contacts=76, dofs=1665, compliance=23.288, programs=5.529),
    )


def lying_scene() -> Scene:
    """A trunk with many discs lies on a table and sweeps over it: two dozen contacts push all the time."""
    floor = 0.0127
    sweep = [_bent(np.radians(degrees)) for degrees in (0, 15, 30, 45, 30, 0, -15, -30, -45, -30, 0)]
    table = Plane((floor, 0.0, 0.0), (-1.0, 0.0, 0.0), name="table")
    around = Surroundings([table], alarm=0.002)
    return Scene(
        name="trunk, on a table",
        robot=_lying(around),
        path=through(sweep),
        element=HEX8,
        start={"cable 1": Known(effort=0.0)},
    )


def tube_scene() -> Scene:
    """The same trunk lies in a tube 0.1 mm wider than its discs; in front of it the tip goes down and round.

    Inside the tube its cables cannot bend it: two to five dozen discs' edges push, now here, now there.
    """
    tube = Pipe([(0.0, 0.0, -0.02), (0.0, 0.0, 0.11)], 0.0126, name="tube")
    return Scene(
        name="trunk, in a tube",
        robot=_lying(Surroundings([tube], alarm=0.0006)),
        path=through(FROM_TUBE),
        element=HEX8,
        start={"cable 1": Known(effort=0.0)},
    )


def moving_obstacle_scene() -> Scene:
    """A cylinder pushes into the trunk and goes away, while the tip is to stay where it is (Fig. 10)."""
    here, there = 0.045, 0.014
    start = _cylinder("cylinder", here, 0.02)

    def move(controller: Inverse, share: float) -> None:
        away = there + (here - there) * 0.5 * (1.0 + np.cos(2.0 * np.pi * share))
        controller.detector.replace(start.moved(translation=(away - here, 0.0, 0.0)))

    return Scene(
        name="trunk, moving obstacle",
        robot=trunk(travel=0.03, surroundings=Surroundings([start], alarm=0.005)),
        path=_kept((0.0, 0.01, 0.19)),
        element=HEX8,
        events=(Event(0.3, 0.9, move),),
    )


def lost_cable_scene() -> Scene:
    """One of the trunk's cables breaks during the run, while the tip is to stay where it is (Fig. 11)."""
    return Scene(
        name="trunk, lost cable",
        robot=trunk(travel=0.03),
        path=_kept((0.05, 0.02, 0.18)),
        element=HEX8,
        events=(Event(0.6, 0.6, lambda controller, _: controller.lose("cable 1")),),
    )


def _lying(around: Surroundings) -> Robot:
    """A trunk of equal width along z with 16 discs and its cables in tubes, on its side: +x is down."""
    shape = {"discs": 16, "thickness": 0.004, "base_radius": 0.012, "tip_radius": 0.012}
    return trunk(**shape, tubes=TUBES, gravity=(GRAVITY, 0.0, 0.0), surroundings=around)


def _cylinder(name: str, x: float, radius: float) -> Cylinder:
    """Across the trunk, beside its fifth disc."""
    return Cylinder((x, -0.05, 0.0975), (x, 0.05, 0.0975), radius, name=name)


def _bent(angle: float) -> tuple[float, float, float]:
    """Where the tip of a trunk of 195 mm is that lies on the table, bent to an arc of this angle [rad]."""
    radius = 0.195 / angle if angle else np.inf
    aside, along = (radius * (1.0 - np.cos(angle)), radius * np.sin(angle)) if angle else (0.0, 0.195)
    return 0.0002, float(aside), float(along)


def _kept(place: tuple[float, ...]) -> Callable[[int], np.ndarray]:
    """From rest to a place in the first quarter of the run, then still."""
    approach = through([(0.0, 0.0, 0.1953), place])

    def path(steps: int) -> np.ndarray:
        moving = max(1, steps // 4)
        return np.vstack([approach(moving), np.tile(place, (steps - moving, 1))])

    return path


# Waypoints [m], all within reach; those of the tower are equilibria under pressures of 8 ± 7 kPa that go
# round, those in front of the tube under tensions of up to 1.5 N on the cables down and to the sides.
TOWER = [
    [-0.00214, -0.00318, 0.07462],
    [-0.00136, -0.00386, 0.07455],
    [0.00022, -0.00374, 0.07447],
    [0.00223, -0.00286, 0.07439],
    [0.00343, -0.00173, 0.07446],
    [0.00404, -0.00022, 0.07451],
    [0.00392, 0.00147, 0.07452],
    [0.00315, 0.0026, 0.0745],
    [0.00182, 0.00244, 0.07457],
    [0.0002, 0.00162, 0.0745],
    [-0.00124, 0.00014, 0.07465],
    [-0.00209, -0.00165, 0.07474],
]
TRUNK = [
    [0.0, 0.0, 0.1953],
    [0.021, 0.0, 0.1922],
    [0.049, 0.007, 0.1813],
    [0.0595, 0.014, 0.173],
    [0.042, 0.021, 0.184],
    [0.0, 0.014, 0.1922],
    [-0.035, 0.0, 0.1895],
    [-0.0595, -0.014, 0.173],
    [-0.035, -0.014, 0.1868],
    [0.0, 0.0, 0.1953],
]

FROM_TUBE = [
    [0.01564, 0.0, 0.19365],
    [0.03057, 0.0, 0.18791],
    [0.03883, 0.0, 0.18241],
    [0.03513, 0.01378, 0.18157],
    [0.03088, 0.02061, 0.18187],
    [0.02584, 0.01736, 0.18646],
    [0.0214, 0.0, 0.19186],
    [0.02584, -0.01736, 0.18646],
    [0.03088, -0.02061, 0.18187],
    [0.03513, -0.01378, 0.18157],
    [0.03883, 0.0, 0.18241],
    [0.03057, 0.0, 0.18791],
    [0.01564, 0.0, 0.19365],
]

scenes: dict[str, Callable[[], Scene]] = {
    "tower": tower_scene,
    "rod": rod_scene,
    "beam": beam_scene,
    "beam, figure 3": beam_other_scene,
    "two bodies": two_bodies_scene,
    "trunk": trunk_scene,
    "trunk, on a table": lying_scene,
    "trunk, in a tube": tube_scene,
    "trunk, moving obstacle": moving_obstacle_scene,
    "trunk, lost cable": lost_cable_scene,
}


def scene(name: str) -> Scene:
    """The scene called `name`; an unknown name is an error with the nearest names."""
    if name not in scenes:
        raise unknown_name("scene", name, scenes)
    return scenes[name]()

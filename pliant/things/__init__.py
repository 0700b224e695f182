"""Things: loose objects that a robot pushes, rolls and grasps, and what holds them.

cup = pl.things.cylinder(0.03, 0.09, at=(0.1, 0, 0.045), mass=0.08, name="cup")
robot = pl.Robot([hand, cup], rows, surroundings=Surroundings([table], friction=0.5))
pl.things.grasp(result, cup, laws).weakest()
"""

from pliant.things.grasp import Grasp, Limit, Response, grasp
from pliant.things.shapes import box, cylinder, place, pose, shape, sphere

__all__ = [
    "Grasp",
    "Limit",
    "Response",
    "box",
    "cylinder",
    "grasp",
    "place",
    "pose",
    "shape",
    "sphere",
]

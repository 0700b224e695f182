"""A bar that is let go swings below where it will hang, and comes to rest where statics says."""

import pliant as pl
from pliant.dynamics import KelvinVoigt

mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2))
clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=clamp)
tip = pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])))
robot = pl.Robot(body, {"tip": tip}, gravity=(0, 0, -9.81))

sim = pl.Simulation(robot, time_step=0.01, damping=KelvinVoigt(time=0.02))
heights = [sim.step().displacement["tip"][2] for _ in range(60)]
hangs = pl.static(robot).displacement["tip"][2]
print(f"lowest {1e3 * min(heights):.2f} mm, at rest {1e3 * heights[-1]:.2f} mm, statics {1e3 * hangs:.2f} mm")
assert min(heights) < hangs - 5e-4 and abs(heights[-1] - hangs) < 5e-4

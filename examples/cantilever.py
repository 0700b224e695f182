"""A bar under its own weight bends as beam theory says: w = ρ g A L⁴ / 8 E I."""

import pliant as pl

length, side, young, density = 0.1, 0.01, 3e7, 1000.0
mesh = pl.mesh.box((length, side, side), cells=(20, 2, 2))
clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
body = pl.Solid(mesh, pl.Hooke(young=young, poisson=0.3), density=density, fixed=clamp)
tip = pl.Row(pl.Position(body.points([[length, side / 2, side / 2]])))
robot = pl.Robot(body, {"tip": tip}, gravity=(0, 0, -9.81))

sag = side / 2 - pl.static(robot).displacement["tip"][2]  # a Position's δ is the place itself
theory = density * 9.81 * side**2 * length**4 / (8 * young * side**4 / 12)
print(f"sag {1e3 * sag:.4f} mm, theory {1e3 * theory:.4f} mm")
assert abs(sag / theory - 1) < 0.02

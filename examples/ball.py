"""A target behind a ball: the tip comes as near as the ball lets it, leans on it, and stays out of it."""

import numpy as np

import pliant as pl

mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(10, 2, 2))
clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp, order=1)
rows = {"tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target())}
for k, (y, z) in enumerate([(0.003, 0.01), (0.017, 0.01), (0.01, 0.003), (0.01, 0.017)]):
    path = body.points([[x, y, z] for x in np.linspace(0.0, 0.095, 8)])
    rows[f"cable {k}"] = pl.Row(pl.Cable(path), pl.Bounded(effort=(0, 10)))
robot = pl.Robot(body, rows, gravity=(0, 0, -9.81))

controller = pl.Inverse(robot, obstacles=[pl.Sphere((0.07, 0.034, 0.01), 0.01, name="ball")])
for _ in range(60):
    out = controller.step(targets={"tip": [0.094, 0.025, 0.012]})
force = out.touch("ball").force  # of the ball on the bar [N]
print(out.why, force)
assert out.certificate.penetration < 1e-4 and force[1] < -0.01  # pushed back, along −y

"""A cable that is let out goes slack: it cannot push."""

import numpy as np

import pliant as pl

robot = pl.robots.finger()
pulled, let_out = (pl.static(robot, {"cable": pl.Known(displacement=u)}) for u in (0.005, -0.005))
free = pl.static(robot)
print(f"tension {pulled.effort['cable'][0]:.2f} N pulled, {let_out.effort['cable'][0]:.2f} N let out")
assert pulled.effort["cable"][0] > 0.1 and let_out.effort["cable"][0] == 0
assert np.allclose(let_out.positions, free.positions, atol=1e-6)

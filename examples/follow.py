"""The inverse model pulls a cable until the tip is where another pull had brought it: it finds that pull."""

import numpy as np

import pliant as pl

robot = pl.robots.finger()
aim = pl.static(robot, {"cable": pl.Known(displacement=0.008)}).displacement["tip"]
controller = pl.Inverse(robot)
for _ in range(40):
    out = controller.step(targets={"tip": aim})
print(out.why)
assert np.linalg.norm(out.error["tip"]) < 5e-4
assert np.allclose(out.command["cable"], 0.008, atol=2e-4)

"""The condensed compliance predicts how a tip moves with its cable: W_ea / W_aa is ∂tip/∂cable."""

import numpy as np

import pliant as pl

robot = pl.robots.finger()
pull = lambda u: pl.static(robot, {"cable": pl.Known(displacement=u)})
here, step = pull(0.006), 5e-5
predicted = pl.compliance(robot, here.state).jacobian("tip", "cable").ravel()
measured = (pull(0.006 + step).displacement["tip"] - pull(0.006 - step).displacement["tip"]) / (2 * step)
print("metres per metre: predicted", predicted.round(3), "measured", measured.round(3))
assert np.allclose(predicted, measured, atol=1e-2 * np.linalg.norm(measured))

"""Forces from markers: what pushes on a sheet is found from how twelve of its points moved."""

import numpy as np

import pliant as pl
from pliant.sensing import ForceEstimator

layout = pl.robots.sheet_layouts["s1"]
estimator = ForceEstimator(pl.robots.sheet(cells=(11, 1)), layout.markers, layout.candidates, noise=1e-4)
real = pl.static(estimator.robot, {"forces": pl.Known(effort=layout.applied.ravel())})
found = estimator.converge(real.displacement["markers"])
print("applied", layout.applied.round(3).tolist(), "found", found.forces().round(3).tolist())
assert np.abs(found.forces() - layout.applied).max() < 1e-5

"""A mass on a table that is pushed harder than μ m g slides by h² (P − μ m g) / m in a step h."""

import numpy as np

import pliant as pl

mass, gravity, step, mu, push = 2.0, 9.81, 0.01, 0.4, 12.0
W = step**2 / mass * np.eye(3)  # rows: normal, two tangents
free = step**2 / mass * np.array([-mass * gravity, push, 0.0])
found = pl.solvers.friction(W, free, np.array([mu]))
slip = step**2 * (push - mu * mass * gravity) / mass
print(f"slips {1e6 * found.slip[0, 0]:.1f} µm, {1e6 * slip:.1f} µm expected")
assert found.certificate.solved and np.allclose(found.slip[0], [slip, 0.0])

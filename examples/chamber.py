"""Work done on a chamber is the area below its pressure: ∫ p dV rises as the bellows fills."""

import numpy as np

import pliant as pl

robot = pl.robots.bellows(gravity=(0, 0, 0))
volumes = np.linspace(0.0, 10e-6, 6)  # [m³]
states = [pl.static(robot, {"chamber": pl.Known(displacement=v)}) for v in volumes]
pressure = np.array([state.effort["chamber"][0] for state in states])  # [Pa]
stored = [robot.body.energy(state.state.q) for state in states]
work = np.trapezoid(pressure, volumes)
print(f"{1e3 * work:.3f} mJ pumped in, {1e3 * (stored[-1] - stored[0]):.3f} mJ stored")
assert (np.diff(pressure) > 0).all()
assert abs((stored[-1] - stored[0]) / work - 1) < 0.02

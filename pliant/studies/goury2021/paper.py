"""What the paper reports."""

from __future__ import annotations

SOURCE = (
    "O. Goury, B. Carrez, C. Duriez, Real-Time Simulation for Control of Soft Robots with Self-Collisions "
    "Using Model Order Reduction for Contact Forces, IEEE Robotics and Automation Letters 6 (2), 2021."
)
FINGER_POINTS, FINGER_MODES, FINGER_SHOTS = 495, 5, 800
MANIPULATOR_POINTS, MANIPULATOR_MODES, TABLE_II_ROWS = 1290, 23, 4500
STEPS_PER_SECOND = {  # table II
    ("full", "straight"): 18.0,
    ("full", "bent"): 0.2,
    ("reduced", "straight"): 18.0,
    ("reduced", "bent"): 17.0,
}
TIP_ERROR = {"no contact": 0.280, "23 modes": 0.030}  # [m], figure 12

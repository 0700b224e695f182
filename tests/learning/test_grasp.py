"""The grasping environment can be done by hand: close, lift by what is left, hold."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
import pliant.learning  # noqa: E402, F401


def test_close_and_lift_by_what_is_left_brings_the_box_to_its_height():
    env = gymnasium.make("Pliant/Grasp-v0")
    seen, _ = env.reset(seed=6)
    first, info = seen, {}
    for k in range(100):
        up = np.clip(seen[2] + 0.6 * seen[-1], -1.0, 1.0) if k >= 25 else -1.0
        seen, reward, *_, info = env.step(np.array([0.5, 0.5, up], np.float32))
        if info["is_success"]:
            break
    assert info["is_success"] and k > 25
    assert abs(seen[-1]) < 0.05 and reward > -0.05 and first[-1] > 0.2


def test_fingers_that_stay_open_lift_nothing():
    env = gymnasium.make("Pliant/Grasp-v0")
    first, _ = env.reset(seed=6)
    for _ in range(12):
        seen, reward, *_, info = env.step(np.array([-1.0, -1.0, 1.0], np.float32))
    assert seen[2] > 0.9 and seen[-1] == pytest.approx(first[-1], abs=1e-4)  # the palm is up, the box is not
    assert not info["is_success"] and reward == pytest.approx(-first[-1], abs=1e-4)

"""A project file as an environment: limits become actions, targets can be reached, episodes repeat."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InputError

gymnasium = pytest.importorskip("gymnasium")
from pliant.learning import environment  # noqa: E402

ARM = """
format = 1
name = "arm"

[[bodies]]
mesh = "arm.vtu"
order = 1
fixed = [{ plane = { point = [0, 0, 0], normal = [1, 0, 0] } }]
materials = [{ law = "Hooke", young = "0.3 MPa", poisson = 0.3, density = 1000 }]

[cables.upper]
through = [[0.0, 0.01, 0.018], [0.03, 0.01, 0.018], [0.06, 0.01, 0.018], [0.095, 0.01, 0.018]]
effort = [0, "1.5 N"]

[cables.lower]
through = [[0.0, 0.01, 0.002], [0.03, 0.01, 0.002], [0.06, 0.01, 0.002], [0.095, 0.01, 0.002]]
effort = [0, "1.5 N"]

[effectors.tip]
points = [[0.1, 0.01, 0.01]]
"""

SHARES = {"upper": 0.5, "lower": -1.0}  # of an action


@pytest.fixture
def project(tmp_path):
    pl.mesh.write(pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 1, 1), kind="hex"), tmp_path / "arm.vtu")
    path = tmp_path / "robot.toml"
    path.write_text(ARM, encoding="utf-8")
    return path


def test_gymnasium_is_content_and_episodes_repeat(project):
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("Pliant/Robot-v0", project=project)
    assert env.spec.max_episode_steps == 100 and env.action_space.shape == (2,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*env has been wrapped.*")
        check_env(env.unwrapped, skip_render_check=True)
    moves = np.random.default_rng(0).uniform(-1, 1, (5, 2)).astype(np.float32)
    runs = []
    for _ in range(2):
        env.reset(seed=3)
        runs.append([env.step(move)[0] for move in moves])
    assert np.array_equal(runs[0], runs[1])


def test_its_targets_are_equilibria_and_commands_lead_there(project):
    """An action is a share of the row's limits; the tensions that a target was drawn by reach it, at rest."""
    env = environment(project)
    assert "full model runs" in env.words
    _, info = env.reset(seed=1)
    upper, lower = (env.drives[k].laws(share)[name] for k, (name, share) in enumerate(SHARES.items()))
    assert (upper.effort, lower.effort) == (pytest.approx(0.75 * 1.5), 0.0)
    assert env.command == pytest.approx([-1, -1])  # slack
    action = gymnasium.utils.seeding.np_random(1)[0].uniform(-0.5, 0.5, 2)  # as the target was drawn
    assert not info["is_success"]
    for _ in range(120):
        observation, reward, _, _, info = env.step(action)
    assert info["is_success"] and reward > -0.05
    assert np.abs(observation[-3:]).max() < 0.05


def test_a_task_of_your_own(project):
    class Rise:
        def observations(self, robot, effectors):
            return 1

        def begin(self, env):
            return {"level": env.np_random.uniform(0.0, 0.01)}

        def observed(self, env):
            return np.array([env.task["level"] / 0.01])

        def judged(self, env, before):
            height = env.deltas()["tip"][2] - env.rest["tip"][2]
            return float(height), bool(height > env.task["level"])

    env = environment(project, Rise())
    observation, _ = env.reset(seed=0)
    assert observation.shape == (2 + 6 + 1,)
    rewards = [env.step([1.0, -1.0])[1] for _ in range(30)]
    assert rewards[-1] > rewards[0] and rewards[-1] > 0.005
    with pytest.raises(InputError, match="reach"):
        environment(project, "fly")

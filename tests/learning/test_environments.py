"""Learning environments: Gymnasium's own checker, episodes that repeat bit by bit, moments, a search."""

from __future__ import annotations

import os
import pickle
import warnings

import numpy as np
import pytest

from pliant.errors import ConvergenceError, InputError, PliantError

gymnasium = pytest.importorskip("gymnasium")
import pliant.learning as learning  # noqa: E402

made = {}


@pytest.fixture(params=list(learning.ENVIRONMENTS))
def env(request):
    if request.param not in made:
        made[request.param] = gymnasium.make(request.param, render_mode="rgb_array")
    return made[request.param]


def actions(env, count, seed=5):
    """Smooth and wild ones."""
    random = np.random.default_rng(seed)
    wild = random.uniform(-1.0, 1.0, (count, *env.action_space.shape))
    return np.where(np.arange(count)[:, None] % 7 < 5, 0.3 * wild, wild).astype(np.float32)


def run(env, actions):
    return [env.step(a)[:3] for a in actions]


def same(one, two):
    return all(np.array_equal(a[0], b[0]) and a[1:] == b[1:] for a, b in zip(one, two, strict=True))


def test_gymnasium_is_content(env):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*env has been wrapped.*")
        check_env(env.unwrapped, skip_render_check=True)
    assert (env.action_space.low == -1).all() and (env.action_space.high == 1).all()
    assert (env.observation_space.low == -1).all() and (env.observation_space.high == 1).all()


def test_an_episode_comes_from_its_seed_alone(env):
    """Also in another copy, and after other episodes."""
    moves = actions(env, 10)
    first, _ = env.reset(seed=11)
    one = run(env, moves)
    env.reset(seed=12)
    run(env, moves[:3])
    again, _ = env.reset(seed=11)
    assert np.array_equal(first, again)
    assert same(one, run(env, moves))
    other, _ = env.reset(seed=13)
    assert not np.array_equal(first, other)


def test_a_moment_can_be_returned_to(env):
    bare, moves = env.unwrapped, actions(env, 14)
    env.reset(seed=2)
    run(env, moves[:6])
    saved = pickle.loads(pickle.dumps(bare.save()))  # as between processes
    onward = run(bare, moves[6:])
    drawn = bare.np_random.random()
    bare.restore(saved)
    assert same(onward, run(bare, moves[6:]))
    assert bare.np_random.random() == drawn


def test_it_moves_and_stays_in_bounds(env):
    env.reset(seed=1)
    seen = np.array([env.step(a)[0] for a in actions(env, 12)])
    assert np.isfinite(seen).all() and abs(seen).max() <= 1.0
    assert np.ptp(seen, axis=0).max() > 0.01


def test_it_can_be_seen(env):
    env.reset(seed=1)
    picture = env.render()
    assert picture.ndim == 3 and picture.dtype == np.uint8 and np.ptp(picture) > 100


def test_what_the_model_cannot_follow_ends_the_episode(env, monkeypatch):
    bare = env.unwrapped
    env.reset(seed=1)

    def fails(laws):
        raise ConvergenceError("no step")

    monkeypatch.setattr(bare.simulation, "step", fails)
    _, reward, terminated, _, info = bare.step(np.zeros(env.action_space.shape))
    assert terminated and info["failed"] and reward < 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_action_is_refused(env, bad):
    env.reset(seed=1)
    with pytest.raises(InputError, match="action"):
        env.unwrapped.step(np.full(env.action_space.shape, bad))
    with pytest.raises(InputError, match="action"):
        env.unwrapped.step(np.zeros(99))


def test_reaching_is_possible():
    """Cables pulled in proportion to the way left take the tip to every target that is drawn."""
    from pliant.learning.searching import episode

    root = np.sqrt(0.5)
    pull = np.array([[1, 0], [0, 1], [root, root], [-root, root]])  # towards +x, +y and between
    matrix = np.zeros((4, 14))
    matrix[:, 10:12] = 2.0 * pull
    outcomes = [episode(("Pliant/TrunkReach-v0", matrix, seed)) for seed in range(3)]
    assert all(o.success for o in outcomes)


class Slide(gymnasium.Env):
    """A point that is pushed to a place: what the search should solve at once."""

    def __init__(self):
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1.0, 1.0)
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.x += 0.2 * float(action[0])
        return np.array([self.x], np.float32), -abs(self.x), False, False, {"is_success": abs(self.x) < 0.05}


gymnasium.register("Slide-v0", entry_point=Slide, max_episode_steps=20)


def test_the_search_improves_and_repeats():
    curve = learning.search("Slide-v0", iterations=20, directions=8, best=4, seed=3)
    assert curve.returns[-1] > 0.6 * curve.returns[0]  # they are negative
    assert curve.returns.max() > -4.0 > curve.returns[0] and curve.success[np.argmax(curve.returns)] == 1.0
    assert curve.policy.matrix[0, 0] < 0  # back to the middle
    again = learning.search("Slide-v0", iterations=20, directions=8, best=4, seed=3, processes=2)
    assert np.array_equal(curve.returns, again.returns) and np.array_equal(curve.steps, again.steps)


class Crash(Slide):
    """Ends its process."""

    def step(self, action):
        os._exit(1)


gymnasium.register("Crash-v0", entry_point=Crash)


def test_a_search_that_loses_a_process_says_so():
    with pytest.raises(PliantError, match="Crash-v0"):
        learning.search("Crash-v0", iterations=1, directions=1, best=1, processes=2)


def test_the_curve_is_drawn(tmp_path):
    curve = learning.search("Slide-v0", iterations=2, directions=2, best=1)
    assert curve.plot(tmp_path / "curve.png").stat().st_size > 5000


@pytest.mark.parametrize("bad", [{"iterations": 0}, {"best": 9, "directions": 4}, {"processes": 0}])
def test_a_search_without_sense_is_refused(bad):
    with pytest.raises(InputError, match="search"):
        learning.search("Slide-v0", **bad)


def test_a_person_looks_on_in_the_studio(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    env = gymnasium.make("Pliant/TrunkReach-v0", render_mode="human")
    env.reset(seed=1)
    for _ in range(3):
        env.step(env.action_space.sample())
    plain = env.unwrapped
    watched = plain._studio.watched
    assert opened == [plain._studio.window.url] and watched.newest.step == 3
    np.testing.assert_array_equal(watched.newest.positions, plain.robot.positions(plain.simulation.state.q))
    assert watched.newest.target["tip"] is not None and not watched.actuators
    with pytest.raises(InputError, match="to watch"):
        watched.aim("tip", (0, 0, 0))
    env.close()
    assert plain._studio is None

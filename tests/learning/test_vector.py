"""Many environments at once: as Gymnasium's own vector, with any number of processes; lost processes.

Nothing is left behind.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from pliant.errors import InputError, PliantError

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import pliant.learning as learning  # noqa: E402
from pliant.learning import Environment  # noqa: E402


class Wish:
    """A drive: the share itself."""

    idle = 0.0

    def __init__(self, name):
        self.name = name

    def laws(self, share):
        return {self.name: share}


class Cart:
    """x ← x + u/4, v = what it was told; "fuse" ends the process or fails."""

    def __init__(self):
        self.state = (0.0, 0.0)

    def step(self, laws):
        fuse = laws.get("fuse", 0.0)
        if fuse > 0.3:
            os.kill(os.getpid(), signal.SIGKILL)
        if fuse < -0.3:
            raise OSError("the fuse has blown")
        self.state = (self.state[0] + 0.25 * laws["push"], laws["push"])


class Toy(Environment):
    """Push a cart out of [-1, 1] before it ends; begins anywhere near the middle."""

    drives = ("push", "fuse")

    def __init__(self, render_mode=None):
        import scipy.linalg  # noqa: F401  (brings a BLAS of its own, after pliant's)

        super().__init__(Cart(), [Wish(name) for name in self.drives], 3, render_mode)

    def begin(self):
        return {"offset": self.np_random.uniform(-0.5, 0.5)}

    def observed(self):
        blas = 1  # other tests may have loaded another BLAS here
        if multiprocessing.parent_process() is not None:
            blas = max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
        return np.array(
            [self.simulation.state[0] + self.task["offset"], self.simulation.state[1], blas / 100]
        )

    def judged(self, before):
        here = abs(self.simulation.state[0] + self.task["offset"])
        return here, here > 0.5

    def over(self):
        return abs(self.simulation.state[0] + self.task["offset"]) > 0.7

    def picture(self):
        return np.full((4, 4, 3), round(100 + 100 * self.simulation.state[0]), np.uint8)


class Calm(Toy):
    """Without a fuse."""

    drives = ("push",)


class Stillborn(Toy):
    """Ends its process where it is made."""

    def __init__(self, render_mode=None):
        os._exit(3)


gymnasium.register("Toy-v0", entry_point=Toy, max_episode_steps=9)
gymnasium.register("Calm-v0", entry_point=Calm, max_episode_steps=99)
gymnasium.register("Stillborn-v0", entry_point=Stillborn)
gymnasium.register("Strange-v0", entry_point="gymnasium.envs.classic_control:PendulumEnv")


@pytest.fixture
def made():
    """vector(), closed at the end; no process is left."""
    kept = []

    def make(name="Toy-v0", **options):
        kept.append(learning.vector(name, **options))
        return kept[-1]

    yield make
    for envs in kept:
        envs.close()
    assert not list(Path("/dev/shm").glob("pliant-*"))


@pytest.fixture(scope="module")
def two():
    """Four toys in two processes, for tests that leave them whole."""
    envs = learning.vector("Toy-v0", envs=4, processes=2)
    yield envs
    envs.close()


def moves(envs, count, seed=0):
    """Of every environment, held for three steps."""
    random = np.random.default_rng(seed)
    held = random.uniform(-1.0, 1.0, (-(-count // 3), *envs.action_space.shape))
    if "Toy" in envs.spec.id:
        held[..., 1] = 0.0
    return np.repeat(held, 3, axis=0)[:count].astype(np.float32)


def episodes(envs, actions, seed=4):
    return [envs.reset(seed=seed), *(envs.step(action) for action in actions)]


def same(one, two):
    """Numbers, dtypes and infos, to the last bit."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, (tuple, list)) or getattr(one, "dtype", "") == "O":
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two))
    if one is None or two is None:
        return one is two
    return one.dtype == two.dtype and np.array_equal(one, two)


# The numbers


@pytest.mark.parametrize(("processes", "mode"), [(1, "NextStep"), (1, "SameStep"), (3, "SameStep")])
def test_it_is_gymnasiums_vector(made, processes, mode):
    """Observations, rewards, ends and infos; episodes end early and by the limit, and begin again."""
    many = made(envs=7, processes=processes, autoreset_mode=mode)
    actions = moves(many, 40)
    reference = SyncVectorEnv([lambda: gymnasium.make("Toy-v0")] * 7, autoreset_mode=AutoresetMode(mode))
    expected = episodes(reference, actions)
    assert sum(out[2].sum() for out in expected[1:]) > 3 and sum(out[3].sum() for out in expected[1:]) > 3
    assert same(episodes(many, actions), expected)
    assert many.single_observation_space == reference.single_observation_space
    assert many.observation_space == reference.observation_space
    assert many.action_space == reference.action_space and many.metadata["autoreset_mode"].value == mode


@pytest.mark.parametrize("name", ["CrawlerCrawl", "HandInHand", "TrunkReachAround"])
def test_one_simulation_serves_all(made, name):
    """Environments that take turns in one simulation are as those that have one each."""
    many, alone = made(f"Pliant/{name}-v0", envs=3), gymnasium.make(f"Pliant/{name}-v0")
    actions = moves(many, 6)
    out = episodes(many, actions, seed=8)
    for k in (0, 2):
        seen, _ = alone.reset(seed=8 + k)
        assert np.array_equal(out[0][0][k], seen)
        for action, now in zip(actions, out[1:]):
            seen, reward, ended, _, info = alone.step(action[k])
            assert np.array_equal(now[0][k], seen) and now[1][k] == reward and now[2][k] == ended
            assert now[4]["is_success"][k] == info["is_success"]


def test_robots_in_two_processes_are_as_in_three(made):
    """One made here, one by Gymnasium: numbers, moments and pictures.

    All in processes of their own, with kernels from the cache: one that has just compiled them may round
    otherwise.
    """
    name, options = "Pliant/CrawlerCrawl-v0", {"render_mode": "rgb_array", "max_episode_steps": 6}
    first = made(name, envs=2, processes=2, **options)
    episodes(first, moves(first, 8))  # compiles, if nobody has
    first.close()
    three, two = (
        made(name, envs=4, processes=3, **options),
        gymnasium.make_vec(name, num_envs=4, processes=2, **options),
    )
    actions = moves(three, 8)
    assert same(episodes(three, actions), episodes(two, actions))
    assert two.spent.shape == (2,) and two.spent.min() > 0
    three.restore(two.save())
    assert same(three.step(actions[0]), two.step(actions[0]))
    pictures = three.render()
    assert same(pictures, two.render()) and not np.array_equal(pictures[0], pictures[1])
    two.close()


def test_without_seeds_episodes_differ(two):
    first, again = two.reset()[0], two.reset()[0]
    assert len(np.unique(np.concatenate([first, again])[:, 2])) == 8
    two.reset(seed=[1, None, 2, 1])
    seeded = two.reset(seed=[1, 5, 2, 1])[0]
    assert np.array_equal(seeded[0], seeded[3]) and not np.array_equal(seeded[0], seeded[2])


def test_moments_can_be_returned_to(two):
    actions = moves(two, 6)
    episodes(two, actions[:2])
    here = two.save()
    onward = [two.step(a) for a in actions[2:5]]
    two.restore(here)
    assert same(onward, [two.step(a) for a in actions[2:5]])
    two.restore([here[1]] * 4)  # futures of one moment
    futures = two.step([[1, 0], here[1].command, here[1].command, [-1, 0]])[0][:, 3]
    assert futures[0] > futures[1] == futures[2] > futures[3]
    with pytest.raises(InputError, match="moments"):
        two.restore(here[:2])


def test_without_autoreset_the_caller_begins_anew(made):
    many = made(envs=3, autoreset_mode="Disabled", max_episode_steps=4)
    actions = moves(many, 4)
    assert episodes(many, actions)[-1][3].all()
    with pytest.raises(InputError, match="over"):
        many.step(actions[0])
    last = many.reset(options={"reset_mask": np.array([True, True, False])})
    assert (last[1]["_failed"] == [True, True, False]).all()
    with pytest.raises(InputError, match=r"\[2\]"):
        many.step(actions[0])
    many.reset(options={"reset_mask": np.array([False, False, True])})
    assert not many.step(actions[0])[3].any()


def test_blas_has_one_thread_in_every_process(two):
    seen = two.reset(seed=0)[0]
    assert np.allclose(seen[:, 4], 0.01)


# As Gymnasium makes it


def test_gymnasium_makes_it():
    many = gymnasium.make_vec(
        "Pliant/HandInHand-v0", num_envs=2, max_episode_steps=2, autoreset_mode="SameStep"
    )
    assert isinstance(many.unwrapped, learning.Vector) and many.num_envs == 2
    out = episodes(many, moves(many, 2))
    assert out[-1][3].all() and many.observation_space.contains(out[-1][0]) and out[-1][4]["_final_obs"].all()
    many.close()


def test_it_can_be_told_in_json():
    assert "vectorised:HandInHand" in gymnasium.spec("Pliant/HandInHand-v0").to_json()


def test_gymnasiums_wrappers_fit(made):
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    many = RecordEpisodeStatistics(made(envs=3))
    infos = [out[-1] for out in episodes(many, moves(many, 10))]
    assert any((info["episode"]["l"] > 0).any() for info in infos if "episode" in info)


def test_pictures_of_all(made):
    many = made(envs=2, render_mode="rgb_array")
    many.reset(seed=0)
    for _ in range(2):
        many.step([[1, 0], [-1, 0]])
    first, second = many.render()
    assert first.mean() > 100 > second.mean()
    assert made(envs=2).render() is None


# What goes wrong


@pytest.fixture
def before():
    return set(multiprocessing.active_children())


def blown(many, fuse):
    """Steps until environment 2 does what its fuse says."""
    many.reset(seed=0)
    actions = np.zeros((4, 2))
    actions[2, 1] = fuse
    for _ in range(3):
        many.step(actions)


def test_a_lost_process_is_named(made, before):
    many = made(envs=4, processes=2)
    with pytest.raises(PliantError, match=r"Process \d .* SIGKILL in a step of environment 2"):
        blown(many, 1.0)
    assert set(multiprocessing.active_children()) == before
    with pytest.raises(PliantError, match="closed"):
        many.step(np.zeros((4, 2)))


def test_an_error_in_a_process_is_told(made, before):
    many = made(envs=4, processes=2)
    with pytest.raises(PliantError, match=r"(?s)in a step of environment 2.*the fuse has blown"):
        blown(many, -1.0)
    assert set(multiprocessing.active_children()) == before


def test_a_process_that_never_starts_is_told(before):
    with pytest.raises(PliantError, match=r"exit code 3 before it was ready.*__main__"):
        learning.vector("Stillborn-v0", envs=2, processes=2)
    assert set(multiprocessing.active_children()) == before


def test_what_is_let_go_ends(before):
    many = learning.vector("Toy-v0", envs=2, processes=2)
    assert len(set(multiprocessing.active_children()) - before) == 2
    del many
    assert set(multiprocessing.active_children()) == before


def test_a_process_lost_between_steps_is_named(made, before):
    many = made(envs=2, processes=2)
    many.reset(seed=0)
    one = next(child for child in set(multiprocessing.active_children()) - before if child.name == "pliant-1")
    os.kill(one.pid, signal.SIGKILL)
    one.join()
    with pytest.raises(PliantError, match=r"Process 1 .* SIGKILL between steps"):
        many.step(np.zeros((2, 2)))
    assert set(multiprocessing.active_children()) == before


def test_actions_without_sense_are_refused(two):
    two.reset(seed=0)
    for bad in (np.zeros(4), np.zeros((4, 3)), [[0, 0], [0, 0], [0, 0], [0, np.nan]], "left"):
        with pytest.raises(InputError, match="actions"):
            two.step(bad)
    for seed in (-1, [1, 2], [1, 2, 3, "4"]):
        with pytest.raises(InputError, match="seed"):
            two.reset(seed=seed)
    for mask in (np.zeros(4, bool), [1, 0, 1, 1], np.ones(2, bool)):
        with pytest.raises(InputError, match="reset_mask"):
            two.reset(options={"reset_mask": mask})
    assert np.isfinite(two.step(np.zeros((4, 2)))[1]).all()  # and nothing is broken


def test_a_reset_comes_first(made):
    many = made(envs=3)
    with pytest.raises(InputError, match="reset"):
        many.step(np.zeros((3, 2)))
    with pytest.raises(InputError, match="reset"):
        many.save()


@pytest.mark.parametrize(
    "bad",
    [{"name": "Toi-v0"}, {"envs": 0}, {"processes": 0}, {"autoreset_mode": "Never"}, {"name": "Strange-v0"}],
)
def test_vectors_without_sense_are_refused(bad):
    with pytest.raises(InputError, match=str(next(iter(bad))) if "name" not in bad else "environment"):
        learning.vector(**{"name": "Toy-v0", "envs": 2, **bad})


def test_a_moment_that_is_too_large_is_told(monkeypatch, tmp_path):
    from pliant.learning import board

    monkeypatch.setattr(board, "MOMENT_BYTES", 64)
    env = Toy()
    env.reset(seed=0)
    shared = board.Board(board.Shape(1, 1, 2, 5))
    shared.forget()
    with pytest.raises(PliantError, match="more than 64"):
        shared[0] = replace(env.save(), command=np.zeros(99))


def test_the_bench_makes_the_same_steps_in_every_way(monkeypatch):
    """A loop, two loops, and vectors of one process and of two.

    Processes are what they would be, loops threads.
    """
    from pliant.learning import bench
    from pliant.timing import Yardstick

    counted = []
    monkeypatch.setattr(Cart, "step", lambda self, laws: counted.append(1))
    for name, few in {"REPEATS": 1, "ENVS": 4, "STEPS": 5}.items():
        monkeypatch.setattr(bench, name, few)
    with ThreadPoolExecutor(1) as pool:
        runs = bench._measured("Calm-v0", pool)
    assert list(runs) == ["loop", "2 loops", "1 process", "2 processes"]
    assert len(counted) == 2 * 3 * bench.ENVS * bench.STEPS  # two processes count for themselves
    said = {how: bench._figures(run, runs["loop"], Yardstick(50.0)) for how, run in runs.items()}
    assert said["loop"]["times the loop"] == said["loop"]["free cores"] == 1.0
    for how, run in runs.items():
        assert 0 < run.longest <= run.spent and run.wall > 0
        steps = bench.ENVS * bench.STEPS
        assert said[how][bench.DGEMM] == pytest.approx(1e3 * run.wall / steps / 50.0, abs=1e-4)

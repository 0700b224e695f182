"""Snapshot campaigns: the same numbers wherever they run, nothing lost or counted twice, and losses named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant import reduction
from pliant.errors import ConvergenceError, InputError
from pliant.reduction import Snapshots, WorkerLostError, plans
from pliant.reduction.symmetry import Symmetry, multiplied
from pliant.robots import manipulator

SMALL = {
    "length": 0.1,
    "sections": 1,
    "vertebrae": 4,
    "reach": (0.04, 0.04),
    "backbone": (0.003, 0.003),
    "gap": 0.0015,
}
build = partial(manipulator, **SMALL)
FORCE = 8.0


@pytest.fixture(scope="module")
def robot():
    return build()


@pytest.fixture(scope="module")
def plan(robot):
    return plans.plackett_burman(robot, {f"tendon {n}": (0.0, FORCE) for n in (1, 2, 3)}, steps=3)


@pytest.fixture(scope="module")
def shots(robot, plan):
    return reduction.collect(robot, plan)


def same(a: Snapshots, b: Snapshots) -> bool:
    names = ("commands", "coordinates", "contact", "trajectory", "step")
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in names)


def test_snapshots_are_equilibria_in_the_plans_order(robot, plan, shots):
    assert len(shots) == plan.size == 12 and not shots.skipped
    np.testing.assert_array_equal(shots.commands, np.concatenate(plan.trajectories))
    k = 8
    alone = pl.static(robot, plan.laws(shots.commands[k]))
    np.testing.assert_allclose(
        robot.positions(alone.q), robot.positions(shots.coordinates[k]), atol=1e-7 * robot.length
    )
    spread = alone.contacts.spread(alone.contact_force)
    np.testing.assert_allclose(spread, shots.contact[k], atol=1e-4 * max(1.0, spread.max()))
    assert shots.contact.any() and (shots.contact >= 0).all()


def test_files_keep_every_bit(shots, tmp_path):
    noted = replace(shots, extra={"energy": np.arange(12.0)}, skipped=("trajectory 9, step 1: a reason",))
    noted.save(tmp_path / "s.npz")
    read = Snapshots.load(tmp_path / "s.npz")
    assert same(read, noted) and read.fingerprint == shots.fingerprint and read.skipped == noted.skipped
    np.testing.assert_array_equal(read.extra["energy"], np.arange(12.0))
    (tmp_path / "bad.npz").write_bytes((tmp_path / "s.npz").read_bytes()[:200])
    np.savez(tmp_path / "pickle.npz", facts=np.array([object()], dtype=object))
    for name in ("bad.npz", "pickle.npz", "none.npz"):
        with pytest.raises(InputError, match="snapshots"):
            Snapshots.load(tmp_path / name)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_same_bits(kind, plan, shots):
    with kind(2) as executor:
        assert same(reduction.collect(build, plan, executor=executor), shots)


def test_a_dask_client_is_an_executor(plan, shots):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client:
        assert same(reduction.collect(build, plan, executor=client), shots)


def test_a_campaign_goes_on_where_it_stopped(robot, plan, shots, tmp_path, monkeypatch):
    from pliant.reduction import campaign

    real, ran = campaign.run, []

    def run(source, plan, number, *rest):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(number)
        return real(source, plan, number, *rest)

    monkeypatch.setattr(campaign, "run", run)
    with pytest.raises(KeyboardInterrupt):
        reduction.collect(robot, plan, folder=tmp_path)
    assert ran == [0, 1]
    monkeypatch.setattr(campaign, "run", lambda *args: ran.append(args[2]) or real(*args))
    assert same(reduction.collect(robot, plan, folder=tmp_path), shots)
    assert ran == [0, 1, 2, 3]  # nothing twice
    assert same(reduction.collect(robot, plan, folder=tmp_path), shots) and len(ran) == 4


SCRIPT = """
import sys
from functools import partial
from pliant import reduction
from pliant.robots import manipulator
robot = manipulator(**{small!r})
plan = reduction.plans.plackett_burman(robot, {{f"tendon {{n}}": (0.0, {force}) for n in (1, 2, 3)}}, steps=3)
reduction.collect(robot, plan, folder=sys.argv[1])
"""


def test_a_killed_campaign_resumes_to_identical_bases(robot, plan, shots, tmp_path):
    """SIGKILL at some moment after the first trajectory was stored; whatever is half done leaves no trace.

    All runs are processes of their own, with kernels from the cache: one that has just compiled them may
    round otherwise.
    """
    script = SCRIPT.format(small=SMALL, force=FORCE)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    start = lambda folder: subprocess.Popen([sys.executable, "-c", script, str(folder)])
    assert start(whole).wait() == 0
    process, end = start(killed), time.monotonic() + 120
    while not list(killed.glob("trajectory*.npz")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL or len(list(killed.glob("trajectory*"))) == 4
    (killed / ".trajectory 0004.npz.1.part").write_bytes(b"half a file")
    assert start(killed).wait() == 0
    resumed, complete = (reduction.collect(robot, plan, folder=folder) for folder in (killed, whole))
    assert same(resumed, complete) and len(resumed) == len(shots)
    one, two = (reduction.contact_basis(robot, s, 2).basis for s in (resumed, complete))
    np.testing.assert_array_equal(one.modes, two.modes)
    np.testing.assert_array_equal(one.offset, two.offset)


def test_another_plan_or_robot_is_refused(robot, plan, tmp_path):
    reduction.collect(robot, plans.pull(robot, {"tendon 1": (0.0, 1.0)}, steps=1), folder=tmp_path)
    with pytest.raises(InputError, match="plan"):
        reduction.collect(robot, plan, folder=tmp_path)
    other = manipulator(**{**SMALL, "young": 1e9})
    with pytest.raises(InputError, match="robot"):
        reduction.collect(other, plans.pull(other, {"tendon 1": (0.0, 1.0)}, steps=1), folder=tmp_path)


def test_a_lost_worker_is_named(plan, tmp_path):
    with ProcessPoolExecutor(1) as executor:
        # The first builds the robot here, to check the plan; the worker's own kills it.
        source = partial(_built_or_killed, os.getpid())
        with pytest.raises(WorkerLostError, match=r"trajectory . of 4 .*0 are finished") as caught:
            reduction.collect(source, plan, executor=executor, folder=tmp_path)
    assert caught.value.snapshots is None


def _built_or_killed(parent):
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return build()


def test_what_is_not_finite_is_named_and_left_out(shots):
    q, contact = shots.coordinates.copy(), shots.contact.copy()
    q[4, 7], contact[6, 2], contact[4, 0] = np.nan, np.inf, np.nan
    clean = replace(shots, coordinates=q, contact=contact).finite()
    assert len(clean) == 10
    assert clean.skipped == (
        "trajectory 2, step 2: nan or inf in coordinates and contact",
        "trajectory 3, step 1: nan or inf in contact",
    )


def test_steps_without_equilibrium_are_named(robot, monkeypatch):
    from pliant.reduction import drive

    def fail(robot, laws, **options):
        if laws["tendon 1"].effort > 1.5:
            raise pl.errors.ConvergenceError("No equilibrium of 'manipulator': reasons")
        return pl.static(robot, laws, **options)

    monkeypatch.setattr(drive, "static", fail)
    found = reduction.collect(robot, plans.trajectories(robot, {"tendon 1": [1.0, 2.0, 1.2]}))
    assert found.step.tolist() == [0, 2]
    assert found.skipped == ("trajectory 1, step 2: No equilibrium of 'manipulator'",)


def test_creeping_comes_to_the_same_rest(robot):
    plan = plans.pull(robot, {"tendon 1": (0.0, 10.0)}, steps=1)
    crept = reduction.collect(robot, plan, creep=200).coordinates[-1]
    rested = reduction.collect(robot, plan).coordinates[-1]
    moved = np.abs(robot.positions(rested) - robot.positions(robot.rest.q)).max()
    assert np.abs(robot.positions(crept) - robot.positions(rested)).max() < 1e-3 * moved


def test_a_robot_that_cannot_travel_is_refused(robot, plan):
    with ProcessPoolExecutor(1) as executor, pytest.raises(InputError, match="other processes"):
        reduction.collect(robot, plan, executor=executor)
    for bad in ("manipulatro", 3, lambda: 5):
        with pytest.raises(InputError):
            reduction.collect(bad, plan)
    with pytest.raises(InputError, match="executor"):
        reduction.collect(robot, plan, executor=3)


# Symmetry


def test_a_turned_snapshot_is_the_snapshot_of_turned_commands(robot, shots):
    turn = Symmetry.turn(robot, 2 * np.pi / 3)
    assert turn.row == {"tendon 1": "tendon 2", "tendon 2": "tendon 3", "tendon 3": "tendon 1"}
    images = turn.images(shots)
    k = int(np.argmax(shots.contact.sum(axis=1)))
    laws = {name: pl.Known(effort=float(v)) for name, v in zip(images.actuators, images.commands[k])}
    result = pl.static(robot, laws)
    np.testing.assert_allclose(
        robot.positions(images.coordinates[k]), robot.positions(result.q), atol=1e-5 * robot.length
    )
    np.testing.assert_allclose(
        images.contact[k], result.contacts.spread(result.contact_force), atol=0.1 * shots.contact.max()
    )
    back = Symmetry.turn(robot, -2 * np.pi / 3).images(images)
    for q, was in zip(back.coordinates, shots.coordinates):
        np.testing.assert_allclose(robot.positions(q), robot.positions(was), atol=1e-9)
    np.testing.assert_array_equal(back.contact, shots.contact)


def test_symmetries_multiply_snapshots(robot, shots):
    more = multiplied(shots, [Symmetry.turn(robot, s * 2 * np.pi / 3) for s in (1, -1)])
    assert len(more) == 36 and len(np.unique(more.trajectory)) == 12
    assert more.contact.sum() == pytest.approx(3 * shots.contact.sum())


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]]), "image"),
        (np.diag([1.0, 1.0, -1.0]), "gravity"),
        (np.ones((3, 3)), "orthogonal"),
    ],
)
def test_what_is_no_symmetry_is_refused(robot, matrix, message):
    with pytest.raises(InputError, match=message):
        Symmetry.of(robot, matrix)


def test_no_step_is_tried_whose_way_leads_past_one_without_an_equilibrium(robot, plan, monkeypatch):
    """Commands beyond what has equilibria are tried once; one on another way is tried again."""
    far = np.array([3.0, 5.0, 7.0, 2.0])[:, None] * np.array([1.0, 0.0, 0.0])
    asked = []

    def cheap(robot, laws, **options):
        asked.append(laws["tendon 1"].effort)
        if asked[-1] > 4.0:
            raise ConvergenceError("No equilibrium of it: budget", rest)
        return rest

    rest = pl.static(robot, plan.laws(0 * far[0]))
    monkeypatch.setattr("pliant.reduction.drive.static", cheap)
    found = reduction.collect(robot, replace(plan, trajectories=(far,)))
    assert asked == [3.0, 5.0, 2.0] and found.step.tolist() == [0, 3]
    assert found.skipped[1] == "trajectory 1, step 3: its way leads past one without an equilibrium"

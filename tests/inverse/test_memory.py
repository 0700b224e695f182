"""A control step is a function of its memory: the same memory gives the same step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Sphere
from pliant.inverse import Inverse, InverseCertificate, MovingInverse, Settings
from pliant.inverse.policy import advance, line_search
from pliant.inverse.policy.memory import Memory, Tried
from pliant.inverse.policy.modes import (
    Following,
    GoingBack,
    Mode,
    Recovering,
    Resting,
    Searching,
    Settling,
)
from tests.inverse.test_inverse import TIP, arm, tip

BALL = Sphere((0.07, 0.035, 0.01), 0.02, name="ball")
WHALE = Sphere((0.05, 0.01, 0.01), 0.2, name="whale")
SAID = InverseCertificate("out of reach", 0.0, 0.0, 0, 4, 0.0, (), moved=False)


def numbers(thing: Any) -> Any:
    """All that a value contains, as plain data that can be compared; factors and robots are left out."""
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.tobytes()
    if isinstance(thing, tuple | list):
        return tuple(map(numbers, thing))
    if isinstance(thing, dict):
        return {key: numbers(value) for key, value in thing.items()}
    if is_dataclass(thing):
        parts = {f.name: getattr(thing, f.name) for f in fields(thing)}
        left_out = "robot", "timings", "contacts", "linear", "view"
        return type(thing).__name__, {k: numbers(v) for k, v in parts.items() if k not in left_out}
    return repr(thing)


def adventure(controller: Inverse) -> Iterator[dict | None]:
    """Targets, out of reach and back, while obstacles come and go, a cable breaks and laws change."""
    for offset, steps in (((-0.004, 0.018, 0.0), 3), ((0.3, 0.0, 0.0), 5), ((-0.004, 0.015, 0.0), 3)):
        yield from [{"tip": tip(*offset)}] * steps
    controller.detector.add(Sphere((0.09, 0.008, 0.01), 0.015, name="inside"))
    yield from [None] * 4
    controller.detector.remove("inside")
    yield from [{"tip": tip(-0.004, 0.01, 0.01)}] * 3
    controller.lose("cable 1")
    yield from [None] * 3
    controller.change({"cable 0": pl.Known(displacement=0.004)})
    yield from [{"tip": tip(-0.06, 0.002, 0.0)}] * 3


@pytest.mark.parametrize("budget", [3, 15])
def test_the_same_memory_gives_the_same_step(budget):
    """Twice in a row from one memory, in every mode; and the memory is what it was."""
    controller = Inverse(arm(), obstacles=[BALL], settings=Settings(budget=budget))
    for targets in adventure(controller):
        before = numbers(controller.memory)
        first, outcome = advance(controller.model, controller.memory, targets)
        second, again = advance(controller.model, controller.memory, targets)
        assert numbers(controller.memory) == before
        assert numbers(first) == numbers(second) and numbers(outcome) == numbers(again)
        controller.memory = first


def test_a_run_is_repeated_from_a_saved_memory():
    """Also after the controller has been elsewhere, in contact and out of reach."""
    controller = Inverse(arm(), obstacles=[BALL])
    path = [{"tip": tip(-0.004, 0.018, 0.012 * np.sin(angle))} for angle in np.linspace(0.0, 4.0, 12)]
    for targets in path[:6]:
        controller.step(targets)
    saved = controller.memory
    run = [numbers(controller.step(targets)) for targets in path[6:]]
    for _ in range(4):
        controller.step({"tip": tip(0.0, 0.5, 0.1)})
    controller.memory = saved
    assert [numbers(controller.step(targets)) for targets in path[6:]] == run


def test_a_step_goes_through_the_modes_of_the_policy():
    """A robot in the belly of a whale goes back, tries to yield, and rests until something changes."""
    controller, seen = Inverse(arm(), settings=Settings(budget=3)), []
    out = controller.step({"tip": tip(-0.002, 0.01, 0.0)})
    assert isinstance(controller.memory.mode, Following) and out.certificate.status == "moving"
    controller.detector.add(WHALE)
    for _ in range(60):
        out = controller.step()
        seen.append((type(controller.memory.mode), out.certificate.status))
        if isinstance(controller.memory.mode, Resting):
            break
    modes = list(dict.fromkeys(seen))
    assert modes[0] == (GoingBack, "backing out") and modes[-1] == (Resting, "stuck")
    before = controller.memory
    again = controller.step().certificate
    assert (
        again == replace(out.certificate, linearisations=0, pivots=0)
        and controller.memory.pose is before.pose
    )
    controller.detector.remove("whale")
    assert controller.step().certificate.moved and isinstance(controller.memory.mode, Following)


def found_unstable(monkeypatch):
    """From now on the robot would buckle wherever a step begins."""
    attempt = line_search.attempt

    def unstable(model, memory):
        found = attempt(model, memory)
        return found and replace(found, stable=False)

    monkeypatch.setattr(line_search, "attempt", unstable)


@pytest.mark.parametrize("stable_at_first", [True, False])
def test_a_robot_about_to_buckle_goes_back_to_where_it_began_if_that_is_stable(monkeypatch, stable_at_first):
    """One that begins where it would buckle goes on."""
    controller = Inverse(arm())
    begin = controller.pose.q
    if stable_at_first:
        controller.step({"tip": tip(0.0, 0.02, 0.0)})
        assert len(controller.memory.trail.guides) == 1
    found_unstable(monkeypatch)
    statuses = [controller.step({"tip": tip(0.0, 0.02, 0.0)}).certificate.status for _ in range(3)]
    if stable_at_first:
        assert statuses[:2] == ["going back"] * 2
        statuses, away = [], np.abs(controller.pose.q - begin).max()
        assert away < 1e-2 * controller.robot.length
    assert "going back" not in statuses


def test_a_robot_about_to_buckle_goes_back_looks_elsewhere_and_rests(monkeypatch):
    """Along the poses that were stable, then for good where no scout is stable; until the target moves."""
    controller = Inverse(arm())
    for _ in range(5):
        controller.step({"tip": tip(0.0, 0.02, 0.0)})
    stable, brink = controller.memory.trail.guides, controller.pose.q
    assert len(stable) > 2
    found_unstable(monkeypatch)
    seen, motions, q = [], [], brink
    for _ in range(80):
        out = controller.step()
        seen.append(out.certificate.status)
        motions.append(np.abs(out.q - q).max())
        q = out.q
    statuses = list(dict.fromkeys(seen))
    assert statuses == ["going back", "looking for another way", "about to buckle"]
    assert max(motions) < 0.06 * controller.robot.length and np.abs(q - brink).max() > max(motions)
    assert isinstance(controller.memory.mode, Resting) and controller.memory.tried.brink
    assert min(np.abs(guide.q - q).max() for guide in stable) < 1e-5
    monkeypatch.undo()
    controller.step({"tip": tip(0.0, 0.01, 0.01)})
    assert not controller.memory.tried.brink and isinstance(controller.memory.mode, Following)


@pytest.mark.parametrize(
    "mode",
    [
        Following(),
        Searching(2),
        Recovering(None, 10),
        Settling(),
        Settling(spent=3, onwards=True),
        GoingBack(()),
        Resting(SAID),
    ],
    ids=lambda m: type(m).__name__,
)
def test_another_target_ends_what_was_given_up(mode: Mode):
    """Resting robots follow again; what is still being sought is sought on."""
    tried = Tried(scouts=2, doubt=True, brink=True, settled=1)
    memory = Inverse(arm()).memory.with_(mode=mode, step_length=0.1, tried=tried, idle=9, nearest=0.01)
    anew = memory.anew()
    goes_on = isinstance(mode, Searching | Recovering) or mode == Settling(spent=3, onwards=True)
    assert anew.mode == (mode if goes_on else Following())
    assert (anew.step_length, anew.idle, anew.nearest, anew.tried) == (1.0, 0, np.inf, Tried(fresh=True))


def test_memory_is_frozen_through_and_through():
    controller = Inverse(arm(), obstacles=[BALL])
    for _ in range(4):
        controller.step({"tip": tip(-0.004, 0.018, 0.0)})
    memory = controller.memory
    with pytest.raises(AttributeError):
        memory.step_length = 0.5  # type: ignore[misc]
    values = [getattr(memory, f.name) for f in fields(Memory)]
    assert not any(isinstance(value, list | dict | set) for value in values)
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    assert len(arrays) >= 3 and not any(value.flags.writeable for value in arrays)


def test_what_a_step_returns_can_be_written_to_without_harm():
    one, other = (Inverse(arm(), obstacles=[BALL]) for _ in range(2))
    for _ in range(8):
        targets = {"tip": tip(-0.004, 0.018, 0.0)}
        out, same = one.step(targets), other.step(targets)
        assert numbers(out) == numbers(same)
        for values in (out.effort, out.displacement, out.command, out.error, one.targets):
            for value in values.values():
                value[:] = np.nan
        out.contact_force[:] = out.friction_force[:] = np.nan
        targets["tip"][:] = np.nan


def test_a_bad_target_among_good_ones_changes_nothing():
    controller = Inverse(arm())
    before = controller.memory
    with pytest.raises(pl.InputError):
        controller.step({"tip": tip(0.0, 0.01, 0.0), "cable 0": [1.0]})
    assert controller.memory is before


def test_effectors_may_come_and_go_after_a_failure():
    """What is remembered of effectors is kept by row: the target, and where a leap failed."""
    robot = arm()
    middle = pl.Row(pl.Position(robot.body.points([[0.05, 0.01, 0.01]])), pl.Observed())
    controller = Inverse(pl.Robot(robot.body, {"middle": middle, **robot.rows}), obstacles=[BALL])
    controller.step({"tip": tip(-0.004, 0.018, 0.0)})
    failed = replace(controller.memory, failed_leap=TIP, step_length=1e-3)
    controller.memory = failed
    controller.change({"middle": pl.Target()})
    memory = controller.memory
    assert memory.failed_leap is not None and np.array_equal(memory.failed_leap[3:], TIP)
    assert np.array_equal(memory.target[3:], failed.target)
    controller.memory = replace(memory, step_length=1e-3)
    assert controller.step().certificate.moved
    controller.change({"middle": pl.Observed()})
    assert np.array_equal(controller.target, failed.target) and controller.step().certificate.moved


def test_the_memory_of_a_robot_in_motion_is_a_value_too():
    """With the state of the simulation set back as well, a step is repeated."""
    controller = MovingInverse(arm(), [BALL], time_step=0.02)
    targets = {"tip": tip(-0.004, 0.018, 0.0)}
    for _ in range(10):
        controller.step(targets)
    saved, motion = controller.memory, controller.state
    before, runs = numbers(saved), []
    for _ in range(2):
        controller.memory, controller.simulation.state = saved, motion
        runs.append([numbers(controller.step(targets)) for _ in range(5)])
    assert runs[0] == runs[1] and numbers(saved) == before
    assert not saved.target.flags.writeable and not saved.reference.value.flags.writeable

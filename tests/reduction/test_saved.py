"""Saved reduced models, combined reduction, and `pliant reduce` from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, Shell
from pliant.errors import InputError
from pliant.mesh.lines import line
from pliant.reduction import Fingerprint, Snapshots, collect, plans
from pliant.reduction.held_out import held_out
from pliant.reduction.model import ReducedModel, reduced_model
from pliant.reduction.responses import responses
from pliant.reduction.saved import load, save
from pliant.reduction.workspace import few, reaches
from pliant.studies.reduce.command import Options, reduce_robot, the_plan
from pliant.timing import Yardstick
from tests.core.test_models import DOWN, bar, cables

FLOOR = pl.Plane((0.0, 0.0, -0.004), (0.0, 0.0, 1.0), name="floor")


@cache
def robot() -> pl.Robot:
    """The bar above a floor that it touches when the lower cable is pulled."""
    body = bar(cells=(10, 2, 2))
    rows = cables(body, gravity=DOWN).rows
    around = pl.contact.Surroundings(obstacles=[FLOOR])
    return pl.Robot(body, rows, gravity=DOWN, name="bar", surroundings=around)


@cache
def shots() -> Snapshots:
    return collect(
        robot(), plans.pull(robot(), {"bottom": (0.0, 3.0)}, steps=16, drive="effort"), probe=responses
    )


@cache
def model() -> ReducedModel:
    return reduced_model(robot(), shots(), tolerance=1e-5, contact_modes=2)


def test_state_and_contacts_reduced_together(within):
    """With few modes, few cells and two contact modes, tip and total push are those of the full robot."""
    lean = model().on(robot())
    assert len(model().sampling) < len(robot().body.mesh.cells)
    for effort in (1.1, 2.1, 2.9):
        laws = {"bottom": pl.Known(effort=effort)}
        full, small = pl.static(robot(), laws), pl.static(lean, laws)
        assert full.contact_force.sum() > 0.01
        within((small.displacement["tip"] - full.displacement["tip"]) / 0.1, 2e-3, f"tip at {effort} N")
        assert small.contact_force.sum() == pytest.approx(full.contact_force.sum(), rel=0.1)
    assert len(small.contacts) == 2 < len(full.contacts)


# Files


def test_a_saved_model_is_the_same(tmp_path):
    again = load(save(model(), tmp_path / "deep" / "bar.npz"))
    for a, b in (
        (again.basis.modes, model().basis.modes),
        (again.sampling.weights, model().sampling.weights),
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(again.contact.modes, model().contact.modes)
    laws = {"bottom": pl.Known(effort=2.0)}
    tips = [pl.static(m.on(robot()), laws).displacement["tip"] for m in (model(), again)]
    np.testing.assert_array_equal(*tips)
    assert not list(tmp_path.glob("**/*.part"))


def test_another_robot_is_refused_by_name(tmp_path):
    saved = load(save(model(), tmp_path / "bar.npz"))
    finer = pl.Robot(bar(cells=(12, 2, 2)), name="bar")
    other = pl.Robot(robot().body, robot().rows, gravity=DOWN, name="arm")
    soft = bar(cells=(10, 2, 2), material=pl.Hooke(young=2e5, poisson=0.4))
    softer = cables(soft, gravity=DOWN)
    for wrong, word in ((finer, "coordinates"), (other, "'bar'"), (softer, "stiffness")):
        with pytest.raises(InputError, match=word):
            saved.on(wrong)


def test_files_that_are_no_models_are_refused(tmp_path):
    path = save(model(), tmp_path / "bar.npz")
    with np.load(path, allow_pickle=False) as data:
        arrays = dict(data)
    facts = json.loads(str(arrays.pop("facts")))

    def written(name: str, **changes) -> str:
        np.savez(tmp_path / name, facts=np.array(json.dumps(facts | changes)), **arrays)
        return str(tmp_path / name)

    (tmp_path / "text.npz").write_text("not a model")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:2000])
    np.savez(tmp_path / "pickle.npz", facts=np.array([{"a": 1}], dtype=object))
    cases = {
        "missing.npz": "missing",
        "text.npz": "pliant wrote",
        "cut.npz": "pliant wrote",
        "pickle.npz": "pliant wrote",
        written("old.npz", version=99): "version 1",
        written("strange.npz", format="pliant snapshots"): "pliant wrote",
        written("poor.npz", fingerprint={}): "pliant wrote",
    }
    for name, word in cases.items():
        with pytest.raises(InputError, match=word):
            load(tmp_path / name)


# The command


def test_actuators_that_oppose_are_not_pulled_together():
    """The plan pulls one side of the bar at a time, up to the demonstration's reach."""
    reach = reaches(robot(), {"top": pl.Known(effort=2.0)})
    assert reach["bottom"].most == 2.0 and reach["bottom"].drive == "effort"
    plan = few(robot(), reach, postures=12, steps=2)
    ends = np.array([t[-1] for t in plan.trajectories])
    assert ((ends > 0).sum(axis=1) == 1).all() and ends.max() <= 2.0
    pulled = reaches(robot(), {"top": pl.Known(displacement=0.004)})["top"]
    assert pulled.drive == "displacement" and pulled.rest == -0.004  # paid out while it rests
    with pytest.raises(InputError, match="plan"):
        the_plan(robot(), {"top": pl.Known(effort=2.0)}, Options(plan="fw"))


def test_reduce_from_end_to_end(tmp_path, within, monkeypatch):
    """Snapshots, model, report; the snapshots that are there are not taken again."""
    monkeypatch.setattr("pliant.studies.reduce.report.SHOWN_MODES", 1)  # the others are drawn alike
    monkeypatch.setattr("pliant.studies.reduce.command.Yardstick.measure", lambda: Yardstick(100.0))
    arm = cables(bar(cells=(10, 2, 2)), gravity=DOWN)
    options = Options(postures=8, steps=2, held=3, scale=1.0, tolerance=1e-4)
    found, page = reduce_robot(arm, {"top": pl.Known(effort=3.0)}, tmp_path, options)
    within(found.errors.share, 0.01, "held-out error of the stroke")
    assert found.snapshots == 16 and not found.errors.failed
    one, other = (Snapshots.load(tmp_path / n / "trajectory 0001.npz") for n in ("validation", "held out"))
    assert (
        found.validation <= 0.01 and (one.commands != other.commands).any()
    )  # chosen on others than it is scored on
    text = page.read_text("utf-8")
    assert "Reduced model of bar" in text and "speed-up" in text and str(tmp_path) not in text
    numbers = json.loads((tmp_path / "result.json").read_text("utf-8"))["numbers"]
    assert numbers["modes"] == len(found.model.basis) and len(numbers["effector_error"]) == 3
    names = {p.name for p in tmp_path.iterdir()}
    assert {"model.npz", "spectrum.png", "mode_1.png", "index.html", "result.json"} <= names
    lean = load(tmp_path / "model.npz").on(arm)
    assert lean.body.count == numbers["modes"] and len(lean.body.cells) == len(numbers["cells"])
    times = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "snapshots").iterdir()}
    plan = the_plan(arm, {"top": pl.Known(effort=3.0)}, options)
    assert len(collect(arm, plan, folder=tmp_path / "snapshots", probe=responses)) == 16
    assert times == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "snapshots").iterdir()}


def test_held_out_errors_of_the_robot_itself_are_none(within):
    """Against a basis with all its snapshots, the snapshots are no surprise; failures are named."""
    lean = reduced_model(robot(), shots(), tolerance=1e-7, force_tolerance=None).on(robot())
    errors = held_out(robot(), lean, shots())
    within(errors.effector / errors.stroke, 1e-3, "error on training commands")
    assert errors.share == errors.effector.max() / errors.stroke


def three() -> pl.Robot:
    """A solid, a rod and a prestretched sheet."""
    soft, mesh = pl.Hooke(young=1e6, poisson=0.3), pl.mesh.box((0.1, 0.02, 0.02), cells=(3, 1, 1))
    solid = pl.Solid(mesh, soft, density=1000, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)))
    rod = Beam(line((0, 0, 0.1), (0.2, 0.1, 0.1), elements=4), Circle(0.004), soft, density=1000, fixed=0)
    flat = pl.mesh.sheet((0.1, 0.1), cells=(2, 2))
    sheet = Shell(flat, soft, 0.001, density=1000, fixed=lambda x: x[:, 0] < 1e-9, prestretch=1.02)
    return pl.Robot((solid, rod, sheet), name="three")


def test_version_0_1_counted_section_forces_among_the_coordinates():
    """What it wrote of robots with rods and sheets is accepted, unless it contains their coordinates."""
    robot = three()
    old = Fingerprint("three", 906, (), "50b7d6f68fe45cf9", 363999.10658319964)  # as 0.1 took it
    assert robot.nq == 906 - 6 * 4 - 12 * 8
    old.check(robot, "reduced model", coordinates=False)
    with pytest.raises(InputError, match=r"pliant 0\.1"):
        old.check(robot, "snapshots")
    for other in (replace(old, shape="0" * 16), replace(old, stiffness=2 * old.stiffness)):
        with pytest.raises(InputError, match="three"):
            other.check(robot, "reduced model", coordinates=False)
    Fingerprint.of(robot).check(robot, "snapshots")

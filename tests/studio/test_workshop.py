"""A robot of one's own, edited while it runs: what edits do to its project file, without a page."""

from __future__ import annotations

import json
import re
import threading
import warnings

import meshio
import numpy as np
import pytest

import pliant as pl
from pliant.errors import PliantWarning
from pliant.materials import library
from pliant.mesh import convert
from pliant.project import aside, load, save, sizing
from pliant.project.reduced import chosen
from pliant.session import Session
from pliant.studio import messages
from pliant.studio.desk import Desk
from pliant.studio.edits import Begin
from tests.studio.robots import bar

TOP = [0.1, 0.01, 0.01]


@pytest.fixture
def desk(tmp_path):
    """A studio that has opened a project of the bar."""
    save(bar(), tmp_path / "projects" / "bar" / "robot.toml")
    desk = Desk({"twin": lambda: Session(bar())}, "twin", folder=tmp_path / "recordings")
    desk.woken = threading.Event()
    desk.workshop.wake = desk.woken.set
    do(desk, do="open", name="bar")
    yield desk
    desk.close()


def do(desk, **message):
    """An edit, and what the studio says of it when the robot is made."""
    desk.do(messages.parse(json.dumps(message)))
    while desk.workshop.busy:
        desk.woken.wait(60)
        desk.woken.clear()
        desk.gather()
    return desk.notice


def test_an_edit_is_what_the_file_would_say(desk, tmp_path):
    assert desk.name == "bar" and list(desk.session.actuators) == ["upper", "lower"]
    assert do(desk, do="material", name="ecoflex 00-30") == ""
    assert do(desk, do="gravity", value=[0, 0, -5]) == ""
    assert (
        do(desk, do="cable", name="", through=[[0.01, 0.02, 0.01], [0.05, 0.02, 0.01], [0.09, 0.02, 0.01]])
        == ""
    )
    assert do(desk, do="limit", name="cable 1", value=1.5) == ""
    assert do(desk, do="effector", name="", at=[0.1, 0.0, 0.0]) == ""
    assert do(desk, do="forget", name="upper") == ""
    desk.do(messages.parse('{"do": "add", "kind": "sphere", "at": [0.1, 0.01, -0.1], "size": 0.02}'))
    desk.do(messages.parse('{"do": "form", "name": "ball", "numbers": {"radius": [0.015]}}'))
    assert "Saved" in do(desk, do="save", name="../mine")
    (path,) = (tmp_path / "projects").glob("*mine/robot.toml")  # a plain name, never a path
    project = load(path)
    stuff = library["ecoflex 00-30"].hooke(0.48)
    assert project.robot.body.material == stuff and project.robot.gravity[2] == -5.0
    assert sorted(project.robot.rows) == ["cable 1", "lower", "tip", "tip 2"]
    assert project.robot.rows["cable 1"].law.effort == (0.0, 1.5)
    (ball,) = project.robot.surroundings.obstacles
    assert (ball.name, ball.radius) == ("ball", 0.015)
    sag = pl.static(project.robot).displacement["tip"]
    np.testing.assert_allclose(
        sag, desk.session.frame.displacement["tip"], atol=1e-6
    )  # what runs is what is saved


def test_a_face_is_held_and_undo_lets_go(desk):
    before = desk.workshop.facts["held"]
    assert do(desk, do="clamp", at=TOP, normal=[1, 0, 0]) == ""
    assert {p[0] for p in desk.workshop.facts["held"]} == {0.1} and {p[0] for p in before} == {0.0}
    assert do(desk, do="undo") == "" and desk.workshop.facts["held"] == before
    assert "edit before" in do(desk, do="undo")


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        ({"do": "material", "name": "granite"}, "granite"),
        ({"do": "cable", "name": "", "through": [[9, 0, 0], [9, 0, 1]]}, "on the body"),
        ({"do": "chamber", "number": 1, "on": True}, "not hollow"),
        ({"do": "limit", "name": "tip", "value": 3}, "tip"),
        ({"do": "forget", "name": "nose"}, "nose"),
        ({"do": "remesh", "size": 0.01}, "STL or STEP"),
        ({"do": "open", "name": "../../etc"}, "etc"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(desk, edit, word):
    session, document = desk.session, desk.workshop.documents[-1]
    assert word in do(desk, **edit)
    assert desk.session is session and desk.workshop.documents[-1] is document


def test_the_mode_and_obstacles_stay(desk):
    desk.do(messages.parse('{"do": "add", "kind": "box", "at": [0.1, 0.01, -0.1], "size": 0.02}'))
    desk.do(messages.parse('{"do": "mode", "mode": "forward"}'))
    do(desk, do="gravity", value=[0, 0, -3])
    assert desk.session.mode == "forward" and list(desk.session.obstacles) == ["block"]


def test_a_target_that_was_moved_stays_and_others_hang(desk):
    def target():
        return desk.session.frame.target["tip"]

    first = target()
    assert do(desk, do="gravity", value=[0, 0, -3]) == ""
    assert target()[2] > first[2] + 1e-4  # nobody had moved it: where the lighter bar hangs
    desk.do(messages.parse(json.dumps({"do": "aim", "row": "tip", "value": [0.098, 0.01, 0.02]})))
    desk.tick()
    assert do(desk, do="material", name="dragon skin 20") == ""
    assert target().tolist() == [0.098, 0.01, 0.02]


def test_another_project_is_never_overwritten(desk, tmp_path):
    taken = tmp_path / "projects" / "taken" / "robot.toml"
    taken.parent.mkdir()
    taken.write_text("of somebody else")
    assert "there already" in do(desk, do="save", name="taken")
    assert taken.read_text() == "of somebody else"
    assert "Saved" in do(desk, do="save", name="bar")  # its own


def test_robots_of_the_gallery_are_not_edited(tmp_path):
    desk = Desk({"twin": lambda: Session(bar())}, "twin", folder=tmp_path / "recordings")
    desk.do(messages.parse('{"do": "undo"}'))
    assert "a robot of your own" in desk.notice


def at_once(task, path, text):
    """What a process of its own reports when it begins a robot, without the process; nothing of others."""
    reports = []
    if task == "begin":
        aside.TASKS[task](path, text, lambda **report: reports.append(report))
    return reports


def test_a_part_gets_a_mesh_whose_rate_was_measured(desk, tmp_path, monkeypatch):
    """By what `pliant new` does. The mesher is an extra: a stand-in fills the box."""
    block = pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 1, 1), kind="tet")

    def meshed(path, **options):
        warnings.warn("its surface is open", PliantWarning, stacklevel=2)
        return block

    monkeypatch.setattr(convert, "mesh_stl", meshed)
    monkeypatch.setattr(aside, "Aside", at_once)
    monkeypatch.setattr(sizing, "TRIALS", 2)
    skin = pl.mesh.box((0.1, 0.02, 0.02), cells=(1, 1, 1)).surface
    meshio.write(tmp_path / "bar.stl", meshio.Mesh(1e3 * skin.nodes, [("triangle", skin.triangles)]))
    said = []
    desk.do(Begin("bar", "stl", (tmp_path / "bar.stl").read_bytes(), "", 0.0))
    while desk.workshop.busy:
        desk.woken.wait(60)
        desk.woken.clear()
        desk.gather()
        said.append(desk.workshop.busy)
    tried = [re.search(r"edges of (\S+) mm, \S+ Hz", words) for words in said]
    assert desk.notice == "its surface is open" and desk.name == "bar" and any(tried)
    assert desk.session.robot.bodies[0].mesh.volume == pytest.approx(4e-5)


def test_a_part_that_is_none_leaves_the_robot_as_it_was(desk, monkeypatch):
    monkeypatch.setattr(aside, "Aside", at_once)
    documents = desk.workshop.documents
    desk.do(Begin("bad", "stl", b"solid nothing\nendsolid nothing\n", "mm", 0.0))
    while desk.workshop.busy:
        desk.woken.wait(60)
        desk.woken.clear()
        desk.gather()
    assert "triangles" in desk.notice and desk.workshop.documents is documents
    assert do(desk, do="gravity", value=[0, 0, -3]) == "" and desk.name == "bar"


def fastened(desk):
    """Make the robot fast, and wait until it runs; what was told on the way."""
    desk.do(messages.parse('{"do": "fast", "on": true}'))
    told = []
    while desk.workshop.busy:
        desk.woken.wait(120)
        desk.woken.clear()
        desk.gather()
        told.append(desk.workshop.busy)
    return told


def test_a_robot_is_made_fast_while_it_runs(desk, tmp_path):
    """The reduced model runs until an edit, is there again after undo, and in the file that is saved."""
    assert do(desk, do="limit", name="upper", value=1.0) == ""
    assert do(desk, do="limit", name="lower", value=1.0) == ""
    full, edits = desk.session.robot.ndof, len(desk.workshop.documents)
    told = fastened(desk)
    assert desk.notice == "" and any(
        re.search(r"of \d+ equilibria, about .* s left", words) for words in told
    )
    assert desk.session.robot.ndof < full / 5 and len(desk.workshop.documents) == edits
    assert "modes instead of" in desk.workshop.facts["model"]
    desk.session.aim("tip", desk.session.frame.displacement["tip"] + [0, 0, 0.002])
    for _ in range(20):
        frame = desk.session.step()
    assert np.linalg.norm(frame.error["tip"]) < 1e-4 and "reduced model runs" in frame.words

    assert do(desk, do="gravity", value=[0, 0, -3]) == ""
    assert desk.session.robot.ndof == full and desk.workshop.facts["model"] == ""
    assert do(desk, do="undo") == "" and desk.session.robot.ndof < full / 5
    desk.do(messages.parse('{"do": "add", "kind": "sphere", "at": [0.1, 0.01, -0.1], "size": 0.02}'))
    assert "Saved" in do(desk, do="save", name="quick")
    fast, _ = chosen(load(tmp_path / "projects" / "quick" / "robot.toml"))
    assert fast is not None and fast.robot.ndof == desk.session.robot.ndof


def test_making_it_fast_is_stopped_by_a_person_or_an_edit(desk):
    documents = desk.workshop.documents
    desk.do(messages.parse('{"do": "fast", "on": true}'))
    assert desk.workshop.making
    assert "stopped" in do(desk, do="fast", on=False)
    assert not desk.workshop.making and desk.workshop.documents is documents
    desk.do(messages.parse('{"do": "fast", "on": true}'))
    do(desk, do="gravity", value=[0, 0, -3])
    assert not desk.workshop.making and desk.session.robot.gravity[2] == -3
    session = desk.session
    assert do(desk, do="undo") == "" and desk.session is not session

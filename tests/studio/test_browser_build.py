"""A robot of one's own, built in the studio click by click: from an STL part to a followed target.

What the page looked like on the way is in results/studio, for people.
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.project import load
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.view import open_window
from tests.studio.robots import bar
from tests.studio.visitor import Visitor, need_chromium, opened_browser

playwright = need_chromium()
(importlib.import_module if os.environ.get("CI") else pytest.importorskip)("pytetwild")
LARGE = {"width": 1366, "height": 900}
SHOTS = Path(__file__).parents[2] / "results" / "studio"


def finger_stl(path):
    """A block of 18 × 24 × 100 mm as an STL file in millimetres."""
    mesh = pl.mesh.box((0.018, 0.024, 0.1), cells=(1, 1, 1)).surface
    lines = ["solid finger"]
    for triangle in 1e3 * mesh.nodes[mesh.triangles]:
        corners = "".join(f"vertex {x:.6g} {y:.6g} {z:.6g}\n" for x, y, z in triangle)
        lines.append(f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet")
    path.write_text("\n".join([*lines, "endsolid finger\n"]))
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def visitor(place):
    robots = {"bar": partial(Session, bar(), period=0.03)}
    desk = lambda: Desk(robots, "bar", folder=place / "recordings", projects=place / "projects")
    with (
        opened_browser(playwright) as browser,
        open_window(desk, summaries={"bar": "a bar"}) as window,
    ):
        visitor = Visitor(browser, window.url)
        visitor.page.set_viewport_size(LARGE)
        yield visitor
        visitor.context.close()


def on_skin(visitor, x, y, z):
    """Where a place of the undeformed block is on the page; it hardly bends here."""
    visitor.seen()
    return visitor.where(f"studio.marks.group.position.clone().set({x}, {y}, {z})")


def rebuilt(visitor, condition):
    """Until the robot is made anew, and a condition holds for what the page knows of it."""
    return visitor.until(f"studio.scene.draft && !studio.header.desk.build.busy && {condition}")


def test_from_an_stl_to_a_followed_target(visitor, place):
    shot = lambda name: visitor.page.screenshot(path=SHOTS / f"{name}.png")
    draft = "studio.scene.draft"

    with visitor.page.expect_file_chooser() as chooser:
        visitor.page.click("#new")
    chooser.value.set_files(finger_stl(place / "finger.stl"))
    visitor.until("studio.build.busy.textContent.includes('mesh of finger')")
    rebuilt(visitor, f"{draft}.name === 'finger'")
    shot("1-meshed")
    assert visitor.ask("studio.header.desk.chosen") == "finger"
    guessed = visitor.ask(f"Object.keys({draft}.cables)")
    assert guessed and visitor.ask(f"Object.keys({draft}.effectors)") == ["tip"]

    nodes = visitor.ask(f"{draft}.nodes")
    visitor.page.fill("#edges", "14")
    visitor.page.click("#remesh")
    rebuilt(visitor, f"{draft}.nodes !== {nodes}")
    visitor.until("studio.build.figures.textContent.includes('Hz here')")  # its expected rate
    shot("2-meshed-again")

    visitor.page.click("#fast")
    visitor.until("studio.build.busy.textContent.includes('Making it fast')")
    visitor.until("studio.build.faster.textContent === 'Stop'")
    visitor.page.click("#fast")
    visitor.until("studio.bar.words.textContent.includes('stopped')")

    for name in (*guessed, "tip"):
        visitor.page.click(f"[data-own='{name}'] .remove")
        if name != "tip":
            rebuilt(visitor, f"!{draft}.cables['{name}']")
    rebuilt(visitor, f"!{draft}.effectors.tip")
    visitor.page.select_option("#material", "dragon skin 10")
    rebuilt(visitor, f"{draft}.material === 'dragon skin 10'")

    visitor.page.click("[data-tool=clamp]")
    visitor.page.mouse.click(*on_skin(visitor, 0.009, 0.012, 0.1))  # its top
    rebuilt(visitor, f"{draft}.held.every((p) => p[2] > 0.0999)")
    shot("3-held")

    visitor.page.click("[data-tool=cable]")
    visitor.drag(on_skin(visitor, 0.012, 0.0, 0.006), on_skin(visitor, 0.012, 0.0, 0.096), steps=24)
    rebuilt(visitor, f"{draft}.cables['cable 1']")
    way = np.array(visitor.ask(f"{draft}.cables['cable 1']"))
    assert len(way) > 4 and np.ptp(way[:, 2]) > 0.08  # along the skin that is seen
    np.testing.assert_allclose(way[:, 1], 0.0, atol=1e-4)  # fTetWild keeps to a thousandth of the part
    shot("4-cable-drawn")

    visitor.page.click("[data-tool=tip]")
    visitor.page.mouse.click(*on_skin(visitor, 0.009, 0.0, 0.004))
    rebuilt(visitor, f"{draft}.effectors.tip")

    visitor.page.click("[data-own='cable 1'] .name")  # its handles
    visitor.until("studio.pick.group.visible")
    middle = visitor.where("studio.pick.group.children[4].position")
    shot("5-cable-picked")
    visitor.drag(middle, (middle[0] + 14, middle[1]))
    rebuilt(visitor, f"Math.abs({draft}.cables['cable 1'][4][0] - {way[4][0]}) > 1e-3")
    visitor.page.click("#undo")
    rebuilt(visitor, f"Math.abs({draft}.cables['cable 1'][4][0] - {way[4][0]}) < 1e-9")

    field = "[aria-label='gravity, z']"
    visitor.page.fill(field, "-8")
    visitor.page.press(field, "Enter")
    rebuilt(visitor, f"{draft}.gravity[2] === -8")

    visitor.page.click("[data-kind=sphere]")
    visitor.until("studio.things.known.ball && !studio.panel.figures.hidden")
    visitor.page.fill("[aria-label='radius of ball']", "7.5")
    visitor.page.press("[aria-label='radius of ball']", "Enter")
    visitor.until("studio.things.known.ball.shape.radius === 0.0075")
    visitor.page.fill("[aria-label='place of ball, z']", "5")
    visitor.page.press("[aria-label='place of ball, z']", "Enter")
    visitor.until("studio.things.known.ball.shape.centre[2] === 0.005")

    visitor.page.click("#inverse")
    visitor.until("studio.header.mode === 'inverse' && studio.header.status === 'reached'")
    tip = np.array(visitor.ask("studio.header.displacement.tip"))
    wanted = visitor.ask("studio.header.target.tip.map((x, k) => 1e3 * (x + [0, -0.004, 0.0005][k]))")
    for axis, value in zip("xyz", wanted, strict=True):
        visitor.page.fill(f"[aria-label='target of tip, {axis}']", f"{value:.4f}")
        visitor.page.press(f"[aria-label='target of tip, {axis}']", "Enter")
    nearer = f"studio.header.displacement.tip[1] < {tip[1]} - 0.002"
    visitor.until(nearer)  # one cable: as far as it can follow
    shot("6-followed-beside-a-ball")

    visitor.page.fill("#name", "my finger")
    visitor.page.click("#save")
    visitor.until("studio.bar.words.textContent.includes('Saved')")
    project = load(place / "projects" / "my finger" / "robot.toml")
    assert list(project.robot.rows) == ["cable 1", "tip"]
    assert [o.kind for o in project.robot.surroundings.obstacles] == ["sphere"]
    assert project.robot.gravity.tolist() == [0, 0, -8]
    bent = pl.static(project.robot, {"cable 1": pl.Known(displacement=0.004)})
    assert bent.certificate.converged
    top = project.robot.body.mesh.nodes[:, 2] > 0.0999
    moved = np.linalg.norm(project.robot.positions(bent.q) - project.robot.body.mesh.nodes, axis=1)
    assert moved[top].max() < 1e-12 < 1e-3 < moved.max()  # the face that was clicked is held
    assert not visitor.complaints


def test_it_opens_again(visitor):
    visitor.page.select_option("#robot", "bar")
    visitor.until("studio.header.desk.chosen === 'bar' && !studio.scene.draft")
    visitor.page.select_option("#open-project", "my finger")
    rebuilt(visitor, "studio.scene.draft.name === 'my finger'")
    assert visitor.until("Object.keys(studio.things.known).join()") == "ball"


def test_what_is_no_part_is_refused(visitor, place):
    (place / "bad.stl").write_text("solid nothing\nendsolid nothing\n")
    visitor.page.set_input_files("#part", place / "bad.stl")
    words = visitor.until("/bad/.test(studio.bar.words.textContent) && studio.bar.words.textContent")
    assert "triangles" in words
    visitor.until("!studio.header.desk.build?.busy")

"""The studio as a person meets it: look, drag, push, cut, pause, in a real browser."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.view import open_window
from tests.studio.robots import bar
from tests.studio.visitor import Visitor, need_chromium, opened_browser, opened_window

playwright = need_chromium()


@pytest.fixture(scope="module")
def browser():
    with opened_browser(playwright) as browser:
        yield browser


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with opened_window(tmp_path_factory.mktemp("recordings")) as window:
        yield window


@pytest.fixture(scope="module")
def tab(browser, window):
    visitor = Visitor(browser, window.url)
    yield visitor
    visitor.context.close()


@pytest.fixture
def visitor(tab):
    tab.restart()
    return tab


def test_the_robot_is_visible_and_moves(visitor):
    visitor.say(do="play", on=False)
    visitor.until("!studio.header.desk.playing")
    shown = visitor.canvas()
    visitor.ask("studio.skin.group.visible = false")
    hidden = visitor.canvas()
    visitor.ask("studio.skin.group.visible = true")
    body = np.abs(shown - hidden).sum(axis=2) > 30
    assert body.sum() > 2000  # pixels that are the robot
    before = visitor.ask("studio.header.step")
    visitor.say(do="aim", row="tip", value=[0.095, 0.01, 0.035])
    visitor.say(do="play", on=True)
    visitor.until(f"studio.header.step > {before} + 15")
    moved = np.abs(visitor.canvas() - shown).sum(axis=2) > 30
    assert moved.sum() > 300


def test_dragging_the_target_takes_the_tip_along(visitor):
    visitor.until("studio.header.status === 'reached'")
    assert visitor.ask("!studio.marks.hint.hidden || studio.marks.hinted")  # a hint until someone did
    x, y = visitor.where("studio.marks.targets.tip.position")
    start = np.array(visitor.ask("studio.header.displacement.tip"))
    visitor.drag((x + 12, y + 8), (x + 12, y - 34))
    target = visitor.until(f"studio.header.target.tip[2] > {start[2]} + 0.004 && studio.header.target.tip")
    up = target[2] - start[2]  # the way its two cables can bend it
    visitor.until(f"Math.abs(studio.header.error.tip[2]) < {0.2 * up}")
    assert visitor.ask("studio.marks.hint.hidden")


def test_the_ball_moves_freely_wherever_it_is_grabbed(visitor):
    """Five drags along the diagonal of the picture; arrows that pass over the ball do not take them."""
    for dx, dy in ((0, 0), (10, 0), (-8, -4), (0, 10), (4, -12)):
        visitor.settled()
        x, y = visitor.where("studio.marks.targets.tip.position")
        before = np.array([x, y])
        visitor.drag((x + dx, y + dy), (x + dx + 20, y + dy - 15))
        after = np.array(visitor.where("studio.marks.targets.tip.position"))
        np.testing.assert_allclose(after - before, (20, -15), atol=1.5)


def test_a_point_on_the_skin_tells_its_stress(visitor):
    visitor.until("studio.header.status === 'reached'")
    x, y = visitor.where("studio.marks.tips.tip.position.clone().set(0.03, 0, 0.01)")
    visitor.seen()
    visitor.page.mouse.click(x, y)
    words = visitor.until(
        "/stress .*Pa/.test(studio.probe.label.textContent) && studio.probe.label.textContent"
    )
    assert words.startswith("moved ") and words.endswith("no contact")
    assert visitor.ask("studio.header.desk.probe.stress") > 0
    visitor.page.mouse.click(5, 500)  # beside the robot
    visitor.until("studio.probe.label.hidden && !studio.header.desk.probe")


def test_a_reset_ends_the_trail_and_keeps_what_is_there(visitor):
    visitor.page.click("[data-kind=sphere]")
    visitor.until("studio.things.known.ball")
    assert visitor.ask("studio.stage.sees(studio.things.known.ball.object.position)")
    visitor.say(do="aim", row="tip", value=[0.095, 0.01, 0.035])
    visitor.until("studio.lines.path.length > 5")
    visitor.page.click("#reset")
    visitor.until("studio.lines.path.length < 3 && studio.header.step < 20")
    assert visitor.ask("Boolean(studio.things.known.ball)")


def test_it_says_why_it_stops_short(visitor):
    visitor.say(do="aim", row="tip", value=[0.06, 0.01, 0.09])
    visitor.until("studio.header.status === 'at its limits'")
    words = visitor.until("studio.bar.words.textContent.includes('short') && studio.bar.words.textContent")
    assert "upper is at its largest effort" in words
    assert "short" in visitor.until("!studio.marks.shortLabel.hidden && studio.marks.shortLabel.textContent")
    visitor.until("document.querySelector('[data-row=upper]').classList.contains('limit')")


def test_a_slider_pulls_its_cable(visitor):
    visitor.page.click("#forward")
    visitor.until("studio.header.mode === 'forward' && studio.header.desk.asked.upper")
    before = visitor.ask("studio.header.displacement.upper[0]")
    ends = visitor.until("document.querySelector('[data-row=upper] .ends').textContent")
    assert "−30 mm" in ends and "30 mm" in ends  # its limits are shown
    visitor.page.focus("[data-row=upper] input")
    for _ in range(2):
        visitor.page.keyboard.press("PageUp")
    visitor.until(f"studio.header.desk.asked.upper[1] > {before} + 0.008")  # both presses have come
    left = "Math.abs(studio.header.displacement.upper[0] - studio.header.desk.asked.upper[1])"
    visitor.until(f"studio.header.status === 'holds' && {left} < 1e-6")
    assert visitor.ask("studio.header.desk.asked.upper[0]") == "displacement"
    visitor.page.click("[data-row=upper] .kind")  # now by effort, from what it is
    visitor.until("studio.header.desk.asked.upper[0] === 'effort'")


def test_it_swings(visitor):
    visitor.page.click("#dynamic")
    visitor.until("studio.header.mode === 'dynamic' && studio.header.status === 'holds'")
    x, y = visitor.where("studio.marks.tips.tip.position.clone().set(0.09, 0, 0.01)")
    rest = visitor.ask("studio.header.displacement.tip[2]")
    visitor.drag((x, y), (x, y - 60), drop=False)
    visitor.until(f"studio.header.push?.[5] > 0 && studio.header.displacement.tip[2] > {rest} + 0.001")
    visitor.page.mouse.up()
    visitor.until(f"!studio.header.push && studio.header.displacement.tip[2] < {rest} + 0.0005")
    visitor.until("studio.header.status === 'holds' && studio.bar.words.textContent.includes('come to rest')")
    visitor.page.focus("[data-row=upper] input")
    visitor.page.keyboard.press("PageUp")
    visitor.until("studio.header.status === 'moving' && studio.bar.words.textContent.includes('m/s')")


def test_a_contact_shows_its_force(visitor):
    visitor.page.click("[data-kind=sphere]")
    visitor.until("studio.things.known.ball && studio.grab.selected.obstacle === 'ball'")
    assert visitor.ask("studio.marks.contacts.shaft.count") == 0
    start = visitor.ask("studio.things.known.ball.shape.centre")
    x, y = visitor.where("studio.things.known.ball.object.position")
    visitor.drag((x, y), (x + 30, y + 20))  # by its handle: itself, or the arrow that is there
    visitor.until(
        f"Math.hypot(...studio.things.known.ball.shape.centre.map((x, k) => x - {start}[k])) > 0.002"
    )
    visitor.say(do="move", name="ball", at=[0.07, 0.01, 0.0295])
    visitor.say(do="aim", row="tip", value=[0.09, 0.01, 0.04])
    visitor.until("studio.marks.contacts.shaft.count > 0 && studio.header.contact[1] > 0.001")
    visitor.until("!studio.marks.forceLabel.hidden && studio.marks.forceLabel.textContent.includes('N')")
    assert "pushes back" in visitor.until(
        "studio.bar.words.textContent.includes('Touches ball') && studio.bar.words.textContent"
    )
    visitor.page.click("[data-name=ball] .remove")
    visitor.until("!studio.things.known.ball && studio.marks.contacts.shaft.count === 0")


def test_pause_holds(visitor):
    visitor.page.click("#play")
    visitor.until("!studio.header.desk.playing")
    step = visitor.ask("studio.header.step")
    visitor.page.click("#step")
    visitor.until(f"studio.header.step === {step} + 1")
    visitor.say(do="speed", value=2)  # a command while paused is shown, but nothing moves
    visitor.until("studio.header.desk.speed === 2")
    assert visitor.ask("studio.header.step") == step + 1
    visitor.say(do="speed", value=1)


def test_a_gamepad_moves_the_target(visitor):
    """The browser's Gamepad API, with a stick held to the right; and the arrow keys."""
    start = visitor.until("studio.header.target.tip")
    right = visitor.ask("[...studio.stage.camera.matrixWorld.elements].slice(0, 3)")
    stick = "{id: 'pad', axes: [1, 0, 0, 0], buttons: []}"
    visitor.ask("document.activeElement.blur()")
    visitor.ask(f"(studio.grab.select({{target: 'tip'}}), navigator.getGamepads = () => [{stick}], 0)")
    visitor.until(f"Math.hypot(...studio.header.target.tip.map((x, k) => x - {start}[k])) > 0.005")
    visitor.ask("(navigator.getGamepads = () => [], 0)")
    way = np.array(visitor.ask("studio.header.target.tip")) - start
    assert way @ right > 0.99 * np.linalg.norm(way)
    start = visitor.ask("studio.marks.targets.tip.position.toArray()")
    for _ in range(2):  # fast: the second goes on from the first
        visitor.page.keyboard.press("ArrowLeft")
    way = f"studio.header.target.tip.reduce((sum, x, k) => sum + (x - {start}[k]) * {right}[k], 0)"
    visitor.until(f"{way} < -4.9e-3")  # two steps of a fortieth of its length


def test_a_cable_is_cut_by_a_click(visitor):
    visitor.until("studio.lines.segments.length")
    middle = "studio.lines.segments.filter(([name]) => name === 'upper')[5][1]"
    x, y = visitor.where(f"studio.marks.tips.tip.position.clone().fromArray({middle})")
    visitor.page.mouse.click(x, y)
    visitor.page.click(".bubble button")
    visitor.until("studio.header.lost.length === 1")
    lost = visitor.ask("studio.header.lost[0]")
    visitor.until(f"studio.header.effort['{lost}'][0] === 0")
    assert "is cut" in visitor.until(
        "studio.bar.words.textContent.includes('cut') && studio.bar.words.textContent"
    )
    visitor.page.click(f"[data-row={lost}] .cut")  # the scissors have become a mend
    visitor.until("!studio.header.lost.length")


def test_plots_follow(visitor):
    for kind in ("displacement", "error", "contact", "timings", "effort"):
        visitor.page.click(f".tabs [data-kind={kind}]")
        visitor.until(
            "studio.plots.shown[0].plot.data[0].length > 1"
            " && studio.plots.shown[0].plot.data[1].some((y) => y !== null)"
        )


def test_colours_and_view_can_be_chosen(visitor):
    assert visitor.until("document.querySelector('.legend b').textContent") == "Displacement"
    visitor.page.select_option("#colour", "stress")
    visitor.until("studio.skin.legend?.name === 'stress'")
    visitor.until("document.querySelector('.legend span').textContent.includes('Pa')")
    visitor.page.select_option("#colour", "material")
    visitor.until("studio.skin.legend === null && document.querySelector('.legend').hidden")
    plain = visitor.canvas()
    visitor.page.check("#show-wire")
    assert np.abs(visitor.canvas() - plain).sum() > 1e4
    visitor.page.select_option("#clip-axis", "x")
    visitor.until("studio.skin.material.clippingPlanes.length === 1")
    visitor.page.click("#theme")
    visitor.until("document.documentElement.dataset.theme === 'dark'")
    assert visitor.canvas()[5, 5].sum() < 150 < plain[5, 5].sum()
    visitor.page.click("#theme")
    visitor.page.select_option("#colour", "displacement")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1024, 768), (820, 1180)])
def test_everything_fits(visitor, width, height):
    """On a laptop and a tablet: no control outside the page or over another, nothing wider than its place."""
    visitor.page.set_viewport_size({"width": width, "height": height})
    boxes = (
        "[...document.querySelectorAll('header button, header select')].filter((e) => e.offsetParent)"
        ".map((e) => e.getBoundingClientRect().toJSON())"
    )
    found = visitor.ask(boxes)
    assert len(found) > 12
    for k, a in enumerate(found):
        assert a["left"] >= 0 and a["right"] <= width
        for b in found[:k]:
            apart = a["left"] >= b["right"] - 1 or b["left"] >= a["right"] - 1
            assert apart or a["top"] >= b["bottom"] - 1 or b["top"] >= a["bottom"] - 1
    assert len({round(b["top"] + b["bottom"]) // 8 for b in found}) <= (1 if width > 980 else 2)  # rows
    wide = (
        "[...document.querySelectorAll('aside, header, footer')]"
        ".filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert visitor.ask(wide) == 0
    visitor.page.set_viewport_size({"width": 900, "height": 600})


def test_another_robot_of_the_gallery(visitor):
    visitor.page.select_option("#robot", "twin")
    visitor.until("studio.header.desk.chosen === 'twin' && studio.header.mode === 'forward'")
    visitor.page.select_option("#robot", "bar")
    visitor.until("studio.header.desk.chosen === 'bar' && studio.header.mode === 'inverse'")


def test_a_second_viewer_watches_and_may_take_over(visitor, browser, window):
    other = Visitor(browser, window.url)
    other.until("!studio.able && !studio.bar.control.hidden")
    step = other.ask("studio.header.step")
    other.until(f"studio.header.step > {step}")
    other.page.click("#control")
    other.until("studio.able")
    visitor.until("!studio.able")
    other.context.close()
    visitor.until("studio.able")  # it comes back to who is left


def test_no_request_leaves_this_machine_and_nothing_complains(visitor, window):
    """After all of the above."""
    ours = (window.url, window.url.replace("http", "ws"), "data:", "blob:")
    assert visitor.requests and all(url.startswith(ours) for url in visitor.requests)
    assert not visitor.complaints


def test_it_says_so_when_the_simulation_is_gone_and_comes_back(browser, tmp_path):
    robots = {"bar": partial(Session, bar(), period=0.03)}
    first = open_window(lambda: Desk(robots, "bar", folder=tmp_path), summaries={"bar": ""})
    visitor = Visitor(browser, first.url)
    port = first.studio.port
    first.close()
    assert "No connection" in visitor.until(
        "document.body.classList.contains('lost') && studio.bar.words.textContent"
    )
    with open_window(lambda: Desk(robots, "bar", folder=tmp_path), summaries={"bar": ""}, port=port):
        visitor.until("!document.body.classList.contains('lost') && studio.able")
    visitor.context.close()

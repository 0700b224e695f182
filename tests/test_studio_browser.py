"""The studio as a person meets it: a real browser, a mouse, a keyboard. No clock decides; waits only end when something happened."""

from __future__ import annotations

import os
import shutil
from functools import partial

import numpy as np
import pytest
from studio_robots import bar

from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.view import open_window

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 300  # looks, at 50 ms, until a test gives up

if CHROMIUM is None and not os.environ.get("CI"):
    pytest.skip("No Chromium on this machine: the studio is not tried in a browser.", allow_module_level=True)
playwright = (
    pytest.importorskip("playwright.sync_api")
    if not os.environ.get("CI")
    else __import__("playwright.sync_api").sync_api
)


@pytest.fixture(scope="module")
def browser():
    assert CHROMIUM is not None, "CI needs Chromium: apt-get install chromium"
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    robot, folder = bar(), tmp_path_factory.mktemp("recordings")
    robots = {"bar": partial(Session, robot, period=0.03), "twin": partial(Session, robot, mode="forward")}
    texts = {"bar": "a bar with two cables", "twin": "the same bar"}
    with open_window(lambda: Desk(robots, "bar", folder=folder), summaries=texts) as window:
        yield window


class Visitor:
    """A tab on the studio, and what it did that it should not."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(viewport={"width": 1000, "height": 700}, **options)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("websocket", lambda s: self.requests.append(s.url))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.goto(url)
        self.until("window.studio?.drawn > 0")
        self.page.evaluate("document.querySelector('.welcome .strong')?.click()")

    def ask(self, script):
        return self.page.evaluate(script)

    def until(self, script):
        """The value of an expression, as soon as it is true."""
        for _ in range(PATIENCE):
            value = self.ask(script)
            if value:
                return value
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never came true: {script}; {self.complaints}")

    def where(self, script):
        """A point of the scene in pixels of the page."""
        return self.ask(f"studio.stage.toPage({script})")[:2]

    def canvas(self):
        """The picture, drawn now, as an array (rows, columns, 3)."""
        import io

        from PIL import Image

        self.ask("(studio.marks.face(), studio.stage.draw())")
        shot = self.page.locator("main canvas").screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


@pytest.fixture
def visitor(browser, window):
    visitor = Visitor(browser, window.url, accept_downloads=True)
    visitor.until("studio.able")  # the visitor before has gone
    visitor.ask("(studio.send({do: 'play', on: false}), studio.send({do: 'reset'}))")
    visitor.until("studio.header.step === 0 && !studio.header.desk.playing")
    visitor.ask("studio.send({do: 'play', on: true})")
    visitor.until("studio.header.step > 0")
    yield visitor
    visitor.context.close()


def test_the_robot_is_visible_and_moves(visitor):
    visitor.ask("studio.send({do: 'play', on: false})")
    visitor.until("!studio.header.desk.playing")
    shown = visitor.canvas()
    visitor.ask("studio.skin.group.visible = false")
    hidden = visitor.canvas()
    visitor.ask("studio.skin.group.visible = true")
    body = np.abs(shown - hidden).sum(axis=2) > 30
    assert body.sum() > 3000  # pixels that are the robot
    before = visitor.ask("studio.header.step")
    visitor.ask("studio.send({do: 'aim', row: 'tip', value: [0.095, 0.01, 0.035]})")
    visitor.ask("studio.send({do: 'play', on: true})")
    visitor.until(f"studio.header.step > {before} + 15")
    moved = np.abs(visitor.canvas() - shown).sum(axis=2) > 30
    assert moved.sum() > 500


def test_dragging_the_target_takes_the_tip_along(visitor):
    visitor.until("studio.header.status === 'reached' || studio.header.step > 60")
    x, y = visitor.where("studio.marks.targets.tip.position")
    start = np.array(visitor.ask("studio.header.displacement.tip"))
    visitor.page.mouse.move(x + 12, y + 8)
    visitor.page.mouse.down()
    for k in range(1, 9):
        visitor.page.mouse.move(x + 12, y + 8 - 6 * k)
    visitor.page.mouse.up()
    target = np.array(
        visitor.until(f"studio.header.target.tip[2] > {start[2]} + 0.006 && studio.header.target.tip")
    )
    away = np.linalg.norm(target - start)
    step = visitor.ask("studio.header.step")
    visitor.until(f"studio.header.step > {step} + 40")
    now = np.array(visitor.ask("studio.header.displacement.tip"))
    assert np.linalg.norm(target - now) < 0.4 * away
    assert (now - start) @ (target - start) > 0


def test_a_slider_pulls_its_cable(visitor):
    visitor.page.click("#forward")
    visitor.until("studio.header.mode === 'forward' && studio.header.desk.asked.upper")
    before = visitor.ask("studio.header.displacement.upper[0]")
    visitor.page.focus("[data-row=upper] input")
    for _ in range(2):
        visitor.page.keyboard.press("PageUp")
    visitor.until(f"studio.header.displacement.upper[0] > {before} + 0.004")
    visitor.until("studio.header.status === 'holds'")
    asked = visitor.ask("studio.header.desk.asked.upper")
    assert asked[0] == "displacement"
    assert visitor.ask("studio.header.displacement.upper[0]") == pytest.approx(asked[1], abs=1e-6)
    visitor.page.click("#inverse")
    visitor.until("studio.header.mode === 'inverse'")


def test_a_contact_shows_its_force(visitor):
    visitor.page.click("[data-kind=sphere]")
    visitor.until("studio.things.known.sphere")
    assert visitor.ask("studio.marks.contacts.shaft.count") == 0
    visitor.ask("studio.send({do: 'move', name: 'sphere', at: [0.07, 0.01, 0.0295]})")
    visitor.ask("studio.send({do: 'aim', row: 'tip', value: [0.09, 0.01, 0.04]})")
    visitor.until("studio.marks.contacts.shaft.count > 0 && studio.header.contact[1] > 0.001")
    visitor.until("!studio.marks.forceLabel.hidden && studio.marks.forceLabel.textContent.includes('N')")
    assert "sphere" in visitor.until(
        "studio.header.words.includes('Touches') && studio.bar.words.textContent"
    )
    visitor.page.click("[data-name=sphere] .remove")
    visitor.until("!studio.things.known.sphere && studio.marks.contacts.shaft.count === 0")


def test_pause_holds(visitor):
    visitor.page.click("#play")
    visitor.until("!studio.header.desk.playing")
    step = visitor.ask("studio.header.step")
    visitor.page.click("#step")
    visitor.until(f"studio.header.step === {step} + 1")
    visitor.page.keyboard.press("ArrowUp")  # a command while paused is shown, but nothing moves
    visitor.ask("studio.send({do: 'speed', value: 2})")
    visitor.until("studio.header.desk.speed === 2")
    assert visitor.ask("studio.header.step") == step + 1
    visitor.ask("studio.send({do: 'speed', value: 1})")


def test_the_body_can_be_pulled(visitor, window):
    visitor.until("studio.header.step > 5")
    middle = "studio.skin.at([...studio.skin.triangles.subarray(0, 1)], [1]).set(0.06, 0, 0.01)"
    x, y = visitor.where(middle)
    visitor.page.mouse.move(x, y)
    visitor.page.mouse.down()
    for k in range(1, 6):
        visitor.page.mouse.move(x, y - 12 * k)
    push = visitor.until("studio.header.push")
    assert push[5] > 0  # upwards, as the mouse went
    visitor.until("!studio.marks.handLabel.hidden")
    visitor.page.mouse.up()
    visitor.until("!studio.header.push")


def test_a_gamepad_moves_the_target(visitor):
    """The browser's Gamepad API, with a stick held to the right; and the arrow keys."""
    start = visitor.until("studio.header.target.tip")
    right = visitor.ask("[...studio.stage.camera.matrixWorld.elements].slice(0, 3)")
    stick = "{id: 'pad', axes: [1, 0, 0, 0], buttons: []}"
    visitor.ask(f"(navigator.getGamepads = () => [{stick}], 0)")
    visitor.until(f"Math.hypot(...studio.header.target.tip.map((x, k) => x - {start}[k])) > 0.005")
    visitor.ask("(navigator.getGamepads = () => [], 0)")
    way = np.array(visitor.ask("studio.header.target.tip")) - start
    assert way @ right > 0.99 * np.linalg.norm(way)
    before = visitor.ask("studio.marks.targets.tip.position.toArray()")
    visitor.page.keyboard.press("ArrowLeft")
    after = visitor.ask("studio.marks.targets.tip.position.toArray()")
    assert (np.array(after) - before) @ right < -1e-3


def test_a_cable_is_cut_by_a_click(visitor):
    visitor.page.click("[data-row=lower] .cut")
    visitor.until("studio.header.lost.includes('lower') && studio.header.effort.lower[0] === 0")
    assert "cut" in visitor.ask("studio.bar.words.textContent")
    visitor.page.click("[data-row=lower] .cut")
    visitor.until("!studio.header.lost.length")


def test_a_recording_downloads_and_plays_from_its_file(visitor, browser, tmp_path):
    visitor.page.click("#record")
    visitor.until("studio.header.desk.recording > 8")
    visitor.page.click("#record")
    visitor.until("studio.header.desk.recording === null")
    with visitor.page.expect_download() as download:
        visitor.page.click(".toast a >> text=Player")
    path = tmp_path / "run.html"
    download.value.save_as(path)
    replay = Visitor(browser, path.as_uri())
    frames = replay.ask("studio.link.frames.length")
    assert frames > 8 and replay.ask("studio.link.live") is False
    last = replay.ask("studio.link.frames.at(-1).words")
    replay.ask("(studio.link.playing = false, studio.link.seek(studio.link.duration))")
    replay.until(f"studio.link.shown === {frames - 1}")
    assert replay.until("studio.bar.words.textContent") == last
    shown = replay.canvas()
    replay.ask("studio.skin.group.visible = false")
    assert (np.abs(replay.canvas() - shown).sum(axis=2) > 30).sum() > 3000
    assert replay.requests == [path.as_uri()] and not replay.complaints
    replay.context.close()


def test_a_picture_can_be_saved(visitor, tmp_path):
    with visitor.page.expect_download() as download:
        visitor.page.click("#picture")
    path = tmp_path / "picture.png"
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_colours_and_view_can_be_chosen(visitor):
    legend = lambda: visitor.ask("document.querySelector('.legend b').textContent")
    assert legend() == "Displacement"
    visitor.page.select_option("#colour", "stress")
    visitor.until("studio.skin.legend?.name === 'stress'")
    assert "Pa" in visitor.until("document.querySelector('.legend span').textContent")
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
    visitor.until("studio.drawn > 10")
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

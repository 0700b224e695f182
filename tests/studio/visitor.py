"""A person at the studio, for the tests: a real browser, a mouse, a keyboard.

No clock decides; waits only end when something happened.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.view import open_window
from tests.studio.robots import bar

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 600  # looks, at 50 ms, until a test gives up
SIZE = {"width": 900, "height": 600}  # small: it is drawn in software


def need_chromium():
    """Skip a file of tests without Chromium, but never in CI, where that is an error."""
    if os.environ.get("CI"):
        assert CHROMIUM is not None, "CI needs Chromium: apt-get install chromium"
        return __import__("playwright.sync_api").sync_api
    if CHROMIUM is None:
        pytest.skip(
            "No Chromium on this machine: the studio is not tried in a browser.", allow_module_level=True
        )
    return pytest.importorskip("playwright.sync_api")


@contextmanager
def opened_browser(playwright):
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened_window(folder):
    robot = bar()
    robots = {"bar": partial(Session, robot, period=0.03), "twin": partial(Session, robot, mode="forward")}
    texts = {"bar": "a bar with two cables", "twin": "the same bar"}
    with open_window(lambda: Desk(robots, "bar", folder=folder), summaries=texts) as window:
        yield window


class Visitor:
    """A tab on the studio, and what it did that it should not."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(viewport=SIZE, **options)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("websocket", lambda s: self.requests.append(s.url))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.goto(url)
        self.until("window.studio?.drawn > 0")
        self.ask("document.querySelector('.welcome .strong')?.click()")

    def ask(self, script):
        return self.page.evaluate(script)

    def say(self, **message):
        """A message to the server, as the page would send it."""
        self.page.evaluate("message => studio.send(message)", message)

    def until(self, script):
        """The value of an expression, as soon as it is true."""
        for _ in range(PATIENCE):
            value = self.ask(script)
            if value:
                return value
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never came true: {script}; {self.complaints}")

    def told(self, words):
        """Until the sentence at the bottom is this one."""
        self.until(f"studio.bar.words.textContent === {json.dumps(words)}")

    def where(self, script):
        """A point of the scene in pixels of the page."""
        return self.ask(f"studio.stage.toPage({script})")[:2]

    def seen(self):
        """Until there is a new picture: what is pointed at is where it was drawn."""
        count = self.ask("(studio.stage.stale = true, studio.stage.pictures)")
        self.until(f"studio.stage.pictures > {count}")

    def settled(self):
        """Until targets are shown where frames say, and nothing holds them elsewhere."""
        self.until("""!studio.grab.drag && !studio.grab.moving
            && Object.entries(studio.marks.targets).every(([name, ball]) => (studio.header.target[name] ?? [])
                .every((value, k) => Math.abs(value - ball.position.getComponent(k)) < 1e-6))""")

    def drag(self, start, end, steps=6, drop=True):
        """The left button from one pixel to another."""
        self.seen()
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for k in range(1, steps + 1):
            self.page.mouse.move(*(np.array(start) + (np.array(end) - start) * k / steps))
        if drop:
            self.page.mouse.up()

    def canvas(self):
        """The picture, drawn now, as an array (rows, columns, 3)."""
        from PIL import Image

        self.ask("(studio.marks.face(), studio.stage.draw())")
        shot = self.page.locator("main canvas").screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def restart(self):
        """The robot at its beginning, running in inverse mode."""
        self.until("studio.link.live && studio.able")
        self.say(do="play", on=False)
        for name in self.ask("Object.keys(studio.things.known)"):
            self.say(do="remove", name=name)
        if self.ask("!studio.bar.modes.firstChild.hidden"):
            self.say(do="mode", mode="inverse")
        self.say(do="reset")
        self.until("studio.header.step === 0 && !studio.header.desk.playing")
        self.say(do="play", on=True)
        self.until("studio.header.step > 0")
        self.settled()

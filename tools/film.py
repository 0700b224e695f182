"""Film the studio for the README: a trunk follows a target round a ball, step by step in a real browser.

    python tools/film.py docs/images/studio.webp

It needs Debian's Chromium and the `dev` extra. A picture is taken after every few steps of the simulation, so
that the film is the same however slow the machine.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from pliant.studio import view

SIZE = {"width": 1180, "height": 700}
WIDTH = 760  # of the film, in pixels
FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run"]
PICTURES, STEPS, PERIOD = 64, 4, 80  # pictures, steps between them, milliseconds that each is shown
QUALITY = 72
BALL = ([0.05, 0.0, 0.125], 0.032)  # centre and size [m]
ROUND = ([0.0, 0.0, 0.0], [0.1, 0.05, -0.055])  # the way of the target: its centre, and its extent [m]


def target(share: float) -> np.ndarray:
    """Where the target is after this share of the film [m]: out, round, and back to where it began."""
    turn = 2 * np.pi * share
    centre, extent = np.array(ROUND[0]), np.array(ROUND[1])
    return centre + extent * [0.5 * (1 - np.cos(turn)), np.sin(turn), 0.5 * (1 - np.cos(turn))]


def until(page: Page, condition: str) -> None:
    """Wait until an expression is true, however slow the machine."""
    while not page.evaluate(condition):
        page.wait_for_timeout(20)


def stepped(page: Page, at: np.ndarray) -> None:
    """Aim there, go on by some steps and wait until the page shows the last one."""
    page.evaluate("at => studio.send({ do: 'aim', row: 'tip', value: at })", at.tolist())
    for _ in range(STEPS):
        now = page.evaluate("studio.header.step")
        page.evaluate("studio.send({ do: 'step' })")
        until(page, f"studio.header.step > {now}")
    ask = "(studio.written = 0, studio.unwritten = true, studio.stage.stale = true, studio.stage.pictures)"
    count = page.evaluate(ask)
    until(page, f"studio.stage.pictures > {count}")


def filmed(page: Page) -> list[Image.Image]:
    """The pictures of the film."""
    until(page, "window.studio?.drawn > 0")
    page.evaluate("document.querySelector('.welcome .strong')?.click()")
    page.evaluate("(studio.touched(), studio.panel.setColour('stress'))")
    page.evaluate("studio.send({ do: 'play', on: false })")
    until(page, "!studio.header.desk.playing")
    home = np.array(page.evaluate("studio.header.displacement.tip"))
    page.evaluate("ball => studio.send({ do: 'add', kind: 'sphere', at: ball[0], size: ball[1] })", [*BALL])
    pictures = []
    for k in range(PICTURES):
        stepped(page, home + target(k / PICTURES))
        shot = Image.open(io.BytesIO(page.screenshot()))
        size = (WIDTH, WIDTH * shot.height // shot.width)
        pictures.append(shot.convert("RGB").resize(size, Image.Resampling.LANCZOS))
    return pictures


def main(path: Path) -> None:
    """Write the film."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        window = view("trunk", browser=False, folder=folder)
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(window.url)
        pictures = filmed(page)
        browser.close()
        window.close()
    first, *others = pictures
    first.save(path, save_all=True, append_images=others, duration=PERIOD, loop=0, quality=QUALITY, method=6)
    print(f"{path}: {len(pictures)} pictures, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

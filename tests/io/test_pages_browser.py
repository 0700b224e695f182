"""Pages under their policies in a real browser: they look right, and what was smuggled in does not run."""

from __future__ import annotations

import io

import matplotlib.figure
import pytest
from PIL import Image

from pliant.io import page
from pliant.io.player import player
from pliant.io.recording import Recording
from pliant.session import Session
from tests.studio.robots import bar
from tests.studio.visitor import Visitor, need_chromium, opened_browser

playwright = need_chromium()
SMUGGLED = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"


@pytest.fixture(scope="module")
def browser():
    with opened_browser(playwright) as browser:
        yield browser


@pytest.fixture(scope="module")
def report():
    """A page with a picture and a drawing."""
    png, figure = io.BytesIO(), matplotlib.figure.Figure(figsize=(2, 1))
    Image.new("RGB", (30, 20), "red").save(png, "png")
    figure.text(0.5, 0.5, "a name", color=page.INK)
    parts = [page.photo(png.getvalue(), "photo"), page.drawing(page.svg(figure), SMUGGLED), page.meter(0.5)]
    return page.page(SMUGGLED, parts)


@pytest.fixture(scope="module")
def recorded():
    session = Session(bar(), summary=SMUGGLED)
    return player(Recording(session.stage, tuple(session.step() for _ in range(2))))


def look(browser, path, text):
    """A tab on a page; what it complained of, and what it asked for."""
    path.write_text(text, encoding="utf-8")
    tab, complaints, requests = browser.new_page(color_scheme="dark"), [], []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(path.as_uri())
    return tab, complaints, [url for url in requests if not url.startswith("data:")]


def test_a_report_looks_as_it_should(browser, report, tmp_path):
    tab, complaints, requests = look(browser, tmp_path / "report.html", report)
    assert not complaints and requests == [(tmp_path / "report.html").as_uri()]
    assert tab.evaluate("document.images[0].naturalWidth") == 30
    assert tab.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "1024px"
    ink = tab.evaluate("getComputedStyle(document.body).color")
    assert tab.evaluate("getComputedStyle(document.querySelector('svg text')).fill") == ink
    assert tab.title() == tab.locator("figure:not(.photo) figcaption").text_content() == SMUGGLED


def test_what_was_smuggled_into_a_report_does_not_run(browser, report, tmp_path):
    tab, complaints, _ = look(
        browser, tmp_path / "report.html", report.replace("</main>", f"{SMUGGLED}</main>")
    )
    assert tab.evaluate("window.hit") is None
    assert any("Content Security Policy" in text for text in complaints)


@pytest.mark.parametrize("smuggled", ["", SMUGGLED])
def test_a_player_plays_and_nothing_else_runs(browser, recorded, tmp_path, smuggled):
    path = tmp_path / "player.html"
    path.write_text(recorded.replace('<div id="app">', f'{smuggled}<div id="app">'), encoding="utf-8")
    visitor = Visitor(browser, path.as_uri())  # waits until it has drawn
    assert visitor.ask("window.hit") is None
    assert bool(visitor.complaints) is bool(smuggled)
    visitor.context.close()

"""Pages: whatever is text stays text, one file makes HTML, every page says what a browser may do with it."""

from __future__ import annotations

import ast
import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.io import page
from pliant.io.characters import visible
from pliant.io.player import page as studio_page
from pliant.io.player import player
from pliant.io.policy import policy, scripts_of
from pliant.io.recording import Recorder, Recording
from pliant.io.report import report
from pliant.io.run_report import run_report
from pliant.io.table import Table
from pliant.robots import drive
from pliant.session import Session
from pliant.studies.report import write_report
from pliant.studies.study import Findings, Study

ROOT = Path(pl.__file__).parent
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script><!-- \"'& $\\bad$ \x1b[31m"


class Seen(HTMLParser):
    """Tags with their attributes, and the text, as a browser sees them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.policies = [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        found = dict(attributes)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(found["content"])

    def handle_data(self, data):
        self.words += data


def harmless(text):
    """A page without scripts, handlers and links to elsewhere, under a policy against them; what is in it."""
    seen = Seen(text)
    assert not any(
        tag == "script" or any(name.startswith("on") for name in names) for tag, names in seen.tags
    )
    assert seen.policies == [policy()]
    assert seen.tags.index(("meta", ("http-equiv", "content"))) < seen.tags.index(("style", ()))
    return seen.words


# Text


PARTS = {
    "heading": page.heading,
    "paragraph": page.paragraph,
    "kind of a paragraph": lambda text: page.paragraph("", text or " "),
    "table": lambda text: page.table([text], [[text]]),
    "list": lambda text: page.listed([text]),
    "parts": lambda text: page.together([text]),
    "photo": lambda text: page.photo(b"", text),
    "drawn by a script": lambda text: page.drawn_by("draw();", {"data": b"data"}, text),
    "frame": lambda text: page.framed(page.paragraph(text), 100),
    "window": lambda text: page.window(text, 100),
    "drawing": lambda text: page.drawing(text, text),
    "figures": lambda text: page.side_by_side([text]),
    "alarm": page.alarm,
    "link": page.link,
    "footer": page.footer,
    "page": lambda text: page.page(text, [text]),
    "joined": lambda text: page.page("", [page.heading("") + text]),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@given(text=st.one_of(st.just(EVIL), st.text(st.sampled_from("<>&'\"/!-= abc:\x1b"))))
def test_text_never_becomes_markup(part, text):
    assert Seen(part(text)).tags == Seen(part("text")).tags


@given(text=st.text(st.characters(exclude_characters="\r")))
def test_text_is_shown_as_it_is(text):
    assert Seen(page.paragraph(text)).words == visible(text)


def test_a_link_leads_to_a_file_beside_the_page():
    assert 'href="javascript%3Aalert%281%29"' in page.link("javascript:alert(1)")


def test_names_in_curves_are_no_formulas_and_no_markup():
    from pliant.io.plots import time_plot

    svg = time_plot({EVIL: ([0, 1], [0, 1]), "other": ([0, 1], [1, 0])}, "m", EVIL)
    texts = [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert visible(EVIL) in texts and f"{visible(EVIL)} [mm]" in texts
    assert svg.count("<script") == svg.count("<img") == 0


# Reports


@pytest.fixture(scope="module")
def robot():
    plain = pl.robots.cantilever(cells=(4, 1, 1))
    names = {"load": EVIL, "tip": f"tip {EVIL}"}
    rows = {names.get(name, name): row for name, row in plain.rows.items()}
    return pl.Robot(plain.body, rows, gravity=plain.gravity, name=EVIL)


@pytest.fixture(scope="module")
def recording(robot, tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / "run.mcap"
    session = Session(robot, mode="forward", summary=EVIL)
    with Recorder(path, session.stage) as recorder:
        session.listeners.append(recorder.write)
        for _ in range(2):
            session.step()
        recorder.note("event", 0.1, {"what": EVIL, "reason": EVIL})
    return Recording.read(path)


def test_a_report_of_hostile_names_is_harmless(robot, tmp_path):
    laws = {EVIL: pl.Known(effort=-0.1)}
    index = report(list(drive(robot, laws, steps=1)), tmp_path, summary=EVIL, laws=laws)
    words = harmless(index.read_text("utf-8"))
    assert words.count(visible(EVIL)) >= 4  # summary, rows, curves
    for name in ("effort.svg", "path.svg"):
        ElementTree.parse(tmp_path / name)


def test_a_report_of_a_hostile_recording_is_harmless(recording, tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.io.run_report._pictures", lambda run, folder: [])  # slow, and tried elsewhere
    words = harmless(run_report(recording, tmp_path).read_text("utf-8"))
    assert f"{visible(EVIL)} {visible(EVIL)}" in words  # the event


def test_a_report_of_a_study_is_harmless(tmp_path):
    table = Table(EVIL, ("what", EVIL, "check"), notes=[EVIL])
    table.add(**{"what": EVIL, EVIL: EVIL, "check": False})
    study = Study(name=EVIL, title=EVIL, source=EVIL, prepare=lambda setup: None, parts={})
    found = [("part", Findings(EVIL, text=EVIL, tables=(table,)))]
    words = harmless(write_report(study, found, tmp_path).read_text("utf-8"))
    assert words.count(visible(EVIL)) >= 8 and "FAILED" in words


def test_a_player_of_a_hostile_recording_has_one_script(recording):
    text = player(recording)
    held = re.search(r'<script type="application/octet-stream" id="recording">([^<]*)</script>', text)
    assert held and re.fullmatch(r"[A-Za-z0-9+/=]+", held[1])
    assert text.count("<script") == studio_page().count("<script") + 1
    assert scripts_of(text) == scripts_of(studio_page())


# What a browser may do


def test_a_player_runs_its_own_script_and_talks_to_nobody(recording):
    (rules,) = Seen(player(recording).partition("<body>")[0]).policies
    (script,) = scripts_of(studio_page())
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = dict(rule.split(" ", 1) for rule in rules.split("; "))
    assert found["script-src"] == f"'sha256-{digest}'" and found["default-src"] == "'none'"
    assert not {"connect-src", "frame-ancestors"} & set(
        found
    )  # no server; and a file cannot ask for the other


def test_the_studio_has_the_policy_of_a_player_and_its_server():
    served = set(policy(scripts_of(studio_page()), served=True).split("; "))
    assert served - set(policy(scripts_of(studio_page())).split("; ")) == {
        "connect-src 'self'",
        "frame-ancestors 'none'",
    }


def test_a_studio_in_a_notebook_stands_in_frames_of_this_machine_alone():
    shown, served = (set(policy(served=True, framed=framed).split("; ")) for framed in (True, False))
    assert served - shown == {"frame-ancestors 'none'"}
    assert shown - served == {"frame-ancestors http://localhost:* http://127.0.0.1:*"}


def test_a_page_without_scripts_may_show_its_pictures_and_nothing_else():
    assert policy() == (
        "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


# One place


def constants(tree):
    """Strings of a module that are no docstrings."""
    stand_alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in stand_alone:
            yield node.value


def test_one_file_makes_html():
    """Nobody else makes markup, escapes, or writes tags.

    There are marks to be found in the studio's page and in Unicode's tables; messages name elements of URDF.
    """
    read = {"<!-- recording -->", "<head>", "<script>(.*?)</script>", "<super>"}
    read |= {"<!DOCTYPE or <!ENTITY", "<robot>", "Give it an <inertial>."}
    tag = re.compile(r"(?<!\?P)(?<!\(\?)<(!|/?[a-z][a-z0-9]*[\s>/])")  # not the marks of a regular expression
    for path in set(ROOT.rglob("*.py")) - {ROOT / "io" / "page.py"}:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bMarkup\(|\bhtml import|import html\b", text), path
        if tag.search(text):
            assert {found for found in constants(ast.parse(text)) if tag.search(found)} <= read, path

"""Status words: all that certificates and frames say are in one table, and are shown from there."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import pliant as pl
from pliant.io.plain import stage_facts, stage_from
from pliant.session import Session
from pliant.session.words import sentence
from pliant.status import BAD, BUSY, GOOD, LIMIT, STATUSES, shown
from tests.studio.robots import bar

ROOT = Path(pl.__file__).parent
ROOMS = (
    "core",
    "dynamics",
    "inverse",
    "sensing",
    "session",
    "learning",
)  # whose certificates speak of a robot
FILES = [*ROOT.glob("*.py"), ROOT / "membrane" / "session.py"]
OF_SOLVERS = {"solved"}  # of the efforts, not of the robot
STYLE = ROOT.parent / "studio" / "web" / "style.css"


def words(node):
    """Strings that an expression may be."""
    if isinstance(node, ast.IfExp):
        return words(node.body) | words(node.orelse)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return set().union(*map(words, node.elts))
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def said(path):
    """What a file gives, assigns or compares to a status."""
    named = lambda n: getattr(n, "attr", getattr(n, "id", "")) == "status"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (isinstance(node, ast.keyword) and node.arg == "status") or (
            isinstance(node, ast.Assign) and any(map(named, node.targets))
        ):
            yield from words(node.value)
        elif isinstance(node, ast.Compare) and named(node.left):
            yield from set().union(*map(words, node.comparators))


def test_every_word_that_is_said_is_in_the_table():
    files = [*FILES, *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
    found = {word: path.name for path in files for word in said(path)}
    assert len(found) > 8
    assert set(found) - OF_SOLVERS <= set(STATUSES), found


def test_the_page_has_a_colour_for_every_severity():
    style = STYLE.read_text(encoding="utf-8")
    assert {status.severity for status in STATUSES.values()} == {GOOD, BUSY, LIMIT, BAD}
    assert all(f'data-severity="{severity}"' in style for severity in (GOOD, BUSY, LIMIT, BAD))


def test_words_of_a_model_that_waits_are_shown_as_moving():
    assert shown("recovering") == shown("searching") == "moving" and shown("stuck") == "stuck"
    assert shown("a word of tomorrow") == "a word of tomorrow"


@pytest.mark.parametrize("word", [*STATUSES, "a word of tomorrow"])
def test_every_word_has_a_sentence(word):
    session = Session(bar())
    frame = replace(session.step(), status=word)
    text = sentence(frame, {row.name: row for row in session.stage.rows})
    assert text.startswith("Tip ") and "{" not in text and " mm" in text


def test_a_stage_tells_how_bad_words_are_and_old_ones_did_not():
    stage = Session(bar()).stage
    facts = stage_facts(stage)
    assert facts.pop("statuses")["stuck"] == BAD
    arrays = {name: getattr(stage, name) for name in ("rest", "vertices", "triangles", "region")}
    assert stage_from(facts, arrays).robot == stage.robot

"""The terminal: names command nothing, whatever is in them, and every encoding can be written to."""

from __future__ import annotations

import io
import re
import sys
from types import SimpleNamespace

import pytest

from pliant import cli, doctor, robots
from pliant.io import terminal
from pliant.io.characters import readable, visible, write_readably
from pliant.io.console import PlainConsole
from pliant.io.table import Table

EVIL = "[red]a[/bold] :smile: \x1b[31mb\x9b31m\u202e\r"
SHOWN = "[red]a[/bold] :smile: �[31mb�31m��"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def straight(text):
    """Whether all lines of a table's box are equally long."""
    lines = [line.rstrip() for line in text.splitlines() if line.rstrip()[-1:] in "│|┃┓┛┩┤┘+┐"]
    return len({len(line) for line in lines}) == 1


# Names


@pytest.mark.parametrize("colours", [False, True])
def test_a_table_shows_names_as_they_are(capsys, monkeypatch, colours):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1" if colours else "")
    table = Table(EVIL, ("what", EVIL, "check"), notes=[EVIL])
    table.add(**{"what": EVIL, EVIL: EVIL, "check": True})
    table.show()
    out = capsys.readouterr().out
    assert out.count(SHOWN) == 5 and "\x9b" not in out and "\x1b[31m" not in out
    assert bool(re.search("\x1b.32m *ok", out)) is colours  # its own style stays


def test_lines_show_names_as_they_are(capsys):
    terminal.tell("Look at {}.", EVIL)
    terminal.complain(EVIL)
    terminal.console().print(EVIL)
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"Look at {SHOWN}.", SHOWN]
    assert err.splitlines() == [SHOWN[:-1]]  # white space at the end is gone


def test_progress_shows_the_name_as_it_is(monkeypatch):
    page = io.StringIO()
    monkeypatch.setattr(terminal, "console", lambda: PlainConsole(file=page, force_terminal=True, width=200))
    monkeypatch.setattr(robots, "drive", lambda *_, **__: iter("ab"))
    results, _ = terminal.drive_with_progress(SimpleNamespace(name=EVIL), {}, 1)
    assert results == ["a", "b"] and f"Driving the {SHOWN}" in page.getvalue()


# Encodings


@pytest.mark.parametrize(
    "text, ascii_text",
    [
        ("−5 µm ≤ δ ≤ 3·10⁻³ m³", "-5 um <= delta <= 3*10^-3 m^3"),
        ("ρ g L² / 2E ± 45°, K⁻¹", "rho g L^2 / 2E +- 45 deg, K^-1"),
        ("½ Ω → ∞ … é ẋ x̂", "1/2 Omega -> inf ... e x x"),
        ("┌─┐│日", "+-+|?"),
    ],
)
def test_what_an_encoding_lacks_can_still_be_read(text, ascii_text):
    assert readable(text, "ascii") == ascii_text
    assert readable(text, "utf-8") == text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "latin-1", "utf-8", "utf-16"])
def test_no_character_is_too_much_for_a_stream(encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    write_readably(stream)
    stream.write("".join(map(chr, range(0x3000))) + "\ud800🙂 end")
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert text.startswith("".join(map(chr, range(128)))) and text.endswith(" end")


def test_a_stream_that_was_told_what_to_do_keeps_to_it():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="xmlcharrefreplace")
    write_readably(stream)
    write_readably(None)  # a program without a terminal
    write_readably(io.StringIO())
    assert stream.errors == "xmlcharrefreplace"


@pytest.fixture(params=["ascii", "cp1252"])
def output(request, monkeypatch):
    """What a command writes to a terminal of an old encoding: text of stdout and of stderr."""

    def run(*arguments, code=0):
        raw = io.BytesIO(), io.BytesIO()
        for name, errors, where in zip(
            ("stdout", "stderr"), ("strict", "backslashreplace"), raw, strict=True
        ):
            monkeypatch.setattr(sys, name, io.TextIOWrapper(where, encoding=request.param, errors=errors))
        assert cli.main(list(arguments)) == code
        sys.stdout.flush()
        sys.stderr.flush()
        return [where.getvalue().decode(request.param) for where in raw]

    return run


def test_doctor_in_an_old_encoding(output, monkeypatch):
    monkeypatch.setattr(doctor, "_dgemm", lambda: {"found": "−1 ≤ δ", "check": None})
    out, _ = output("doctor")
    assert "-1 <= delta" in out and "rho g L" in out and straight(out)


def test_lists_and_help_in_an_old_encoding(output):
    assert straight(output("list")[0])
    assert "usage: pliant" in output("--help")[0]


def test_errors_in_an_old_encoding(output):
    _, err = output("run", "cantilever", "--set", "δ=effort:1", code=cli.ERROR)
    assert "row 'delta'" in err


def test_visible_text_is_left_alone():
    assert visible("δ ≤ 3\n\t日本 é") == "δ ≤ 3\n\t日本 é"

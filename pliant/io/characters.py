"""Characters that a terminal would obey, and those that its encoding lacks."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from typing import Any

STAND_INS = {
    "−": "-",
    "·": "*",
    "•": "*",
    "×": "x",
    "÷": "/",
    "±": "+-",
    "∓": "-+",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "∞": "inf",
    "√": "sqrt",
    "°": " deg",
    "µ": "u",  # of µm; the Greek letter is a quantity, and is spelt
    "∣": "|",
    "∥": "||",
    "‖": "||",
    "⁄": "/",  # of ½, taken apart
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
READABLE = "pliant.readable"  # the name under which encoders know `_readable`
PYTHONS_OWN = ("strict", "surrogateescape", "backslashreplace")  # what Python chooses if nobody does


def visible(text: str) -> str:
    """Text in which control codes, marks that turn text round and lone surrogates are shown as �."""
    return COMMANDS.sub("\ufffd", text)


def readable(text: str, encoding: str) -> str:
    """Text in characters that an encoding has, with something to read for those that it lacks.

    "−5 µm ≤ δ" is "-5 um <= delta" in ASCII.
    """
    return text.encode(encoding, READABLE).decode(encoding)


def write_readably(stream: Any) -> None:
    """Let a text stream, such as `sys.stdout`, take every character.

    A stream that was told what to do with characters it lacks keeps to that.
    """
    if isinstance(stream, io.TextIOWrapper) and stream.errors in PYTHONS_OWN:
        stream.reconfigure(errors=READABLE)


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, start, end = error.object, error.start, error.end
    return "".join(_stand_in(text[k], text[k - 1 : k]) for k in range(start, end)), end


def _stand_in(character: str, before: str) -> str:
    """ASCII to read in place of a character: a word, a sign, or the letter below its accents."""
    if character in STAND_INS:
        return STAND_INS[character]
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        return "-" if name.endswith(" HORIZONTAL") else "|" if name.endswith(" VERTICAL") else "+"
    if found := re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name):
        return found[2].lower() if found[1] == "SMALL" else found[2].capitalize()
    power = "^" if _raised(character) and not _raised(before) else ""
    parts = unicodedata.normalize("NFKD", character)
    kept = "".join(p if p.isascii() else STAND_INS.get(p, "") for p in parts)
    return power + kept if kept else "" if unicodedata.combining(character) else "?"


def _raised(character: str) -> bool:
    return unicodedata.decomposition(character).startswith("<super>") if character else False


codecs.register_error(READABLE, _readable)

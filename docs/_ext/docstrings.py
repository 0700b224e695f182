"""Docstrings as reStructuredText: the house writes them as plain text.

A plain docstring has paragraphs; blocks indented by four are equations or code; `name` in backticks is code;
a line that begins with "name: " and a parameter's name explains that parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SPECIAL = re.compile(r"([*|\\]|_(?=\W|$))")
ITEM = re.compile(r"^(?:- |\d+\. )")


def to_rst(lines: Iterable[str], parameters: Iterable[str] = (), links: Mapping[str, str] = {}) -> list[str]:
    """A plain docstring as lines of reStructuredText.

    parameters: names that may begin an explanation. links: {short name: full name} of what `name` may mean.
    """
    out: list[str] = []
    for block in _blocks(list(lines)):
        if all(line.startswith("    ") for line in block):
            out += [f".. code-block:: {_language(block)}", "", *("    " + line for line in block), ""]
        elif ITEM.match(block[0]):
            out += [*(inline(line, links) for line in block), ""]
        else:
            out += _paragraph(block, set(parameters), links)
    return out


def inline(text: str, links: Mapping[str, str] = {}) -> str:
    """A line with its code spans kept, links made of known names, and everything else escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its pair
        return SPECIAL.sub(r"\\\1", text.replace("`", "'"))
    done = [SPECIAL.sub(r"\\\1", part) if n % 2 == 0 else _code(part, links) for n, part in enumerate(parts)]
    return _joined(done)


def _code(text: str, links: Mapping[str, str]) -> str:
    name = text.removeprefix("pl.").removesuffix("()")
    if name in links:
        return f":py:obj:`{text} <{links[name]}>`"
    return f"``{text}``" if text.strip() else ""


def _joined(parts: list[str]) -> str:
    """Code spans need a space or punctuation around them; an escaped space is none in the page."""
    out = ""
    for n, part in enumerate(parts):
        if n % 2 == 0 and n and part and (part[0].isalnum() or part[0] in "\\(["):
            part = "\\ " + part
        if n % 2 and out and out[-1].isalnum():
            part = "\\ " + part
        out += part
    return out


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines between blank ones; indented blocks that follow each other are one."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            if (
                blocks[-1]
                and blocks[-1][-1].startswith("    ") != line.startswith("    ")
                and _plain(blocks[-1])
            ):
                blocks.append([])
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _plain(block: list[str]) -> bool:
    return not ITEM.match(block[0])


def _language(block: list[str]) -> str:
    text = "\n".join(line[4:] for line in block)
    try:
        compile(text, "docstring", "exec")
    except SyntaxError:
        return "text"
    return "python" if "(" in text else "text"


def _paragraph(block: list[str], parameters: set[str], links: Mapping[str, str]) -> list[str]:
    """A paragraph; explanations of parameters in it become a list of definitions."""
    out: list[str] = []
    explaining = False
    for line in block:
        names, colon, rest = line.partition(": ")
        bare = {name.strip(" `") for name in re.split(r", | and ", names)}
        if colon and bare <= parameters:
            if not explaining and out:
                out.append("")
            explaining = True
            out += [
                ", ".join(f"**{name}**" for name in sorted(bare, key=names.index)),
                f"    {inline(rest, links)}",
            ]
        else:
            out.append(("    " if explaining else "") + inline(line, links))
    return [*out, ""]

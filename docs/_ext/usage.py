"""Where public names are used in code that runs under test: their examples in the reference.

A block of the page of examples is that of the names in its heading; other names have the shortest statement
that uses them in the docs or the scripts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from names import home_of

DOCS = Path(__file__).resolve().parent.parent
LONGEST = 9  # lines of an example
FENCE = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
EXAMPLES = DOCS / "reference" / "examples.md"
HEADING = re.compile(r"^## (.*)$", flags=re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """Code that uses a name, and the page or script it stands on, from the root."""

    code: str
    where: str


@cache
def written() -> dict[str, Use]:
    """{full name: the block of the page of examples that is about it}."""
    import pliant

    where = EXAMPLES.relative_to(DOCS.parent).as_posix()
    _, *parts = HEADING.split(EXAMPLES.read_text(encoding="utf-8"))
    found = {}
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        code = "\n".join(FENCE.findall(text))
        for name in re.findall(r"`pl\.([\w.]+)`", heading):
            found[home_of()[id(attrgetter(name)(pliant))]] = Use(code.strip("\n"), where)
    return found


def example(full: str) -> Use | None:
    """The example of a public name, if it has one."""
    return written().get(full) or next(iter(uses().get(full, ())), None)


def sources() -> Iterator[tuple[str, list[str]]]:
    """Pages and scripts with their code blocks, in the order in which a reader should meet them."""
    root = DOCS.parent
    for path in sorted((root / "examples").glob("*.py")):
        yield path.relative_to(root).as_posix(), [path.read_text(encoding="utf-8")]
    for path in sorted(DOCS.rglob("*.md")):
        if "generated" not in path.parts and "build" not in path.parts:
            yield path.relative_to(root).as_posix(), FENCE.findall(path.read_text(encoding="utf-8"))


@cache
def uses() -> dict[str, list[Use]]:
    """{full name: its uses, shortest first}."""
    found: dict[str, list[Use]] = {}
    for where, blocks in sources():
        names: dict[str, Any] = {}
        for code in blocks:
            tree = ast.parse(code)
            _import(tree, names)
            for statement in _statements(tree):
                text = ast.get_source_segment(code, statement) or ""
                if text.count("\n") < LONGEST:
                    for full in _used(statement, names):
                        found.setdefault(full, []).append(Use(text, where))
    return {
        name: sorted(of, key=lambda use: (len(use.code) < 25, len(use.code))) for name, of in found.items()
    }


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Statements that are not imports or definitions; of compound ones what is inside."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.Expr, ast.Assert, ast.Return, ast.With, ast.For)):
            yield node


def _import(tree: ast.Module, names: dict[str, Any]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "pliant":
                    module = import_module(alias.name)
                    names[alias.asname or "pliant"] = module if alias.asname else import_module("pliant")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pliant":
            module = import_module(node.module or "")
            for alias in node.names:
                names[alias.asname or alias.name] = getattr(module, alias.name, None)


def _used(statement: ast.stmt, names: dict[str, Any]) -> set[str]:
    """Full names of what a statement uses."""
    found = set()
    for node in ast.walk(statement):
        value = _value(node, names)
        if value is not None and id(value) in home_of():
            found.add(home_of()[id(value)])
    return found


def _value(node: ast.AST, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, names)
        return None if owner is None else getattr(owner, node.attr, None)
    return None

"""Pages of the reference that are made from the code: every public name, project file keys, messages."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import docstrings
import names
import usage


def write(folder: Path) -> None:
    """All generated pages of the reference into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"names.rst": names_page(), "project-keys.md": project_keys(), "statuses.md": statuses()}
    pages |= {f"{module}.rst": module_page(module) for module in names.HOMES}
    for name, text in pages.items():
        write_changed(folder / name, text)


def write_changed(path: Path, text: str) -> None:
    """Write a page only where it differs, so that a second build has less to do."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def first_sentence(value: Any) -> str:
    """The first paragraph of an object's docstring, as one line of reStructuredText."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return docstrings.inline(text) if callable(value) else ""


def names_page() -> str:
    """Everything at the package root, and the modules."""
    lines = ["All names", "=========", "", "At the package root, ``import pliant as pl``:", ""]
    rows = [
        (f":py:obj:`pl.{short} <{full}>`", first_sentence(names.homes()[full]))
        for short, full in names.at_root().items()
    ]
    lines += [*_table(("name", "what"), rows), "", "By module:", ""]
    rows = [(f":doc:`{module}`", first_line(module)) for module in names.HOMES]
    lines += [*_table(("module", "what"), rows), "", ".. toctree::", "    :hidden:", ""]
    return "\n".join([*lines, *(f"    {module}" for module in names.HOMES), ""])


def first_line(module: str) -> str:
    """The first line of a module's docstring."""
    return docstrings.inline((import_module(module).__doc__ or "").strip().split("\n")[0])


def module_page(module: str) -> str:
    """A module of the reference: what it is, its names in a table, and each in full."""
    own = [full for full in names.homes() if full.rpartition(".")[0] == module]
    rows = [
        (f":py:obj:`{full.rpartition('.')[2]} <{full}>`", first_sentence(names.homes()[full])) for full in own
    ]
    lines = [module, "=" * len(module), "", f".. py:module:: {module}", ""]
    about = inspect.getdoc(import_module(module)) or ""
    lines += [
        *docstrings.to_rst(about.splitlines(), links=names.short_names()),
        *_table(("name", "what"), rows),
        "",
    ]
    for full in own:
        lines += [*_entry(full, names.homes()[full]), ""]
    return "\n".join(lines)


def _entry(full: str, value: Any) -> list[str]:
    """The directive that documents an object, with its members, and an example of its use."""
    if inspect.isclass(value):
        return [f".. autoclass:: {full}", "    :members:", "    :show-inheritance:"]
    if inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        return [f".. autofunction:: {full}"]
    return [f".. py:data:: {full}", "", f"    {docstrings.inline(_kind(value))}"]


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"A dictionary with {len(value)} entries: {', '.join(map(str, value))}."
    if isinstance(value, (list, tuple)) and len(value) < 12:
        return f"{type(value).__name__}: {', '.join(str(v) for v in value)}."
    return f"{value!r}" if isinstance(value, (int, float, str)) else f"A {type(value).__name__}."


def example(full: str) -> list[str]:
    """Lines that show a name in use, or none; the code runs under test where it comes from."""
    use = usage.example(full)
    if use is None:
        return []
    name = use.where.removeprefix("docs/").removesuffix(".md")
    link = f":doc:`/{name}`" if use.where.endswith(".md") else f"``{use.where}``"
    code = ["    " + line for line in inspect.cleandoc("\n" + use.code).splitlines()]
    return [f"Example, from {link}:", "", ".. code-block:: python", "", *code, ""]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [".. list-table::", "    :header-rows: 1", "    :widths: 30 70", ""]
    for row in [head, *rows]:
        lines += [f"    {'*' if n == 0 else ' '} - {cell}" for n, cell in enumerate(row)]
    return lines


def project_keys() -> str:
    """Every key of a project file, from the models that read it."""
    from pliant.project.schema import ProjectSpec

    lines = [
        "# Keys of project files",
        "",
        "What each table of a [project file](/project-files.md) may say.",
    ]
    lines += ["", "Made from the models that read the files: a key that is not here is refused.", ""]
    done: set[str] = set()
    waiting: list[tuple[str, Any]] = [("the file", ProjectSpec)]
    while waiting:
        title, model = waiting.pop(0)
        if model.__name__ in done:
            continue
        done.add(model.__name__)
        lines += [f"({_anchor(model)})=", f"## {title}", "", _cell(inspect.getdoc(model) or ""), ""]
        lines += ["| key | takes | if not given |", "|---|---|---|"]
        for key, field in model.model_fields.items():
            lines.append(f"| `{key}` | {takes(field)} | {default(field)} |")
            waiting += [(_title(title, key, field), part) for part in parts(field.annotation)]
        lines.append("")
    return "\n".join(lines)


def _title(above: str, key: str, field: Any) -> str:
    inside = key if above == "the file" else f"{above.strip('[]')}.{key}"
    text = str(field.annotation)
    return (
        f"[[{inside}]]"
        if text.startswith("tuple")
        else f"[{inside}.NAME]"
        if "dict[" in text
        else f"[{inside}]"
    )


def parts(annotation: Any) -> list[Any]:
    """The models that an annotation mentions."""
    from pydantic import BaseModel

    if (
        inspect.isclass(annotation)
        and not hasattr(annotation, "__origin__")
        and issubclass(annotation, BaseModel)
    ):
        return [annotation]
    return [part for inner in getattr(annotation, "__args__", ()) for part in parts(inner)]


def takes(field: Any) -> str:
    """What a key takes, in words."""
    models = parts(field.annotation)
    if models:
        links = ", ".join(
            f"[{model.__name__.removesuffix('Spec').lower()}](#{_anchor(model)})" for model in models
        )
        text = str(field.annotation)
        many = (
            "tables by name: "
            if "dict[" in text
            else "tables: "
            if text.startswith(("tuple", "typing.Tuple"))
            else ""
        )
        return many + links
    limits = [str(m) for m in field.metadata if type(m).__module__ == "annotated_types"]
    words = _words(field.annotation)
    return words + (f" ({', '.join(map(_limit, limits))})" if limits else "")


WORDS = {
    "int": "whole number",
    "float": "number",
    "str": "text",
    "bool": "true or false",
    "NoneType": "nothing",
}
SIGNS = {"Gt": ">", "Ge": "≥", "Lt": "<", "Le": "≤", "MinLen": "at least", "MaxLen": "at most"}


def _limit(text: str) -> str:
    kind, _, rest = text.partition("(")
    return f"{SIGNS.get(kind, kind)} {rest.rpartition('=')[2].rstrip(')')}"


def _words(annotation: Any) -> str:
    """An annotation in words."""
    from typing import Annotated, Literal, get_args, get_origin

    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _words(inner[0])
    if origin is Literal:
        return ", ".join(f"`{value!r}`" for value in inner)
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return f"list of {_words(inner[0])}"
        return f"[{', '.join(_words(part) for part in inner)}]"
    if origin is dict:
        return f"table of {_words(inner[1])}"
    if inner:
        return " or ".join(dict.fromkeys(_words(part) for part in inner if part is not type(None)))
    return WORDS.get(getattr(annotation, "__name__", ""), getattr(annotation, "__name__", str(annotation)))


def default(field: Any) -> str:
    """What holds where a key is not given."""
    if field.is_required():
        return "**must be given**"
    value = field.default
    if field.default_factory is not None or parts(field.annotation) or value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{list(value) if isinstance(value, tuple) else value!r}`"


def _anchor(model: Any) -> str:
    return f"key-{model.__name__.lower()}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def statuses() -> str:
    """Status words, from the table that certificates and the studio read."""
    from pliant.status import BAD, BUSY, GOOD, LIMIT, STATUSES

    meaning = {GOOD: "done", BUSY: "on its way", LIMIT: "as good as it gets", BAD: "no answer"}
    lines = ["# Status words", "", "What `certificate.status` and `frame.status` may say.", ""]
    lines += ["| word | | meaning |", "|---|---|---|"]
    lines += [f"| `{word}` | {meaning[s.severity]} | {_cell(s.meaning)} |" for word, s in STATUSES.items()]
    return "\n".join([*lines, ""])

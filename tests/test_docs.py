"""Every Python example in the README and the docs runs as printed."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pliant as pl
from pliant.errors import MissingExtraError
from tests.studio.visitor import need_chromium

ROOT = Path(__file__).parent.parent
DOCS = [p for p in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in p.parts]
PAGES = [ROOT / "README.md", *DOCS]


def examples(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda p: p.name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for number, code in enumerate(examples(page)):
        try:
            exec(compile(code, f"{page.name}, example {number + 1}", "exec"), namespace)
        except MissingExtraError as missing:  # as the page says; the examples before it have run
            pytest.skip(str(missing))
    assert namespace  # the page defined something


def anchors(page):
    """Anchors of a page's headings, as GitHub and the site make them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if "://" in link or "generated/" in link:
            continue
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), link
        assert not anchor or anchor in anchors(goal), link


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "tutorials").glob("[0-9]*.md")), ids=lambda p: p.stem
)
def test_a_tutorial_as_a_notebook_has_the_code_that_ran(page, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from notebooks import notebook

    cells = notebook(page.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code == [example.strip("\n") for example in examples(page)]
    sys.modules.pop("notebooks")


def test_the_reference_has_all_that_stands_at_the_root_and_an_example_of_each_name(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import names
    import usage

    missing = []
    for name in filter(lambda name: not name.startswith("_"), dir(pl)):
        value = getattr(pl, name)
        if isinstance(value, ModuleType):
            missing += [] if value.__name__ in names.HOMES else [name]
        elif usage.example(names.at_root().get(name, "")) is None:
            missing.append(name)
    assert not missing
    for module in ("names", "usage"):
        sys.modules.pop(module)


def test_links_of_the_site_are_followed_without_a_browser(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from check_links import Site

    (tmp_path / "other page.html").write_text('<h1 id="top">other</h1>')
    page = '<a href="other%20page.html#top">other</a><a href="https://elsewhere.org">far</a>{}'
    (tmp_path / "index.html").write_text(page.format(""))
    assert Site(tmp_path).complaints() == []
    wrong = {
        '<a href="nowhere.html"></a>': "nowhere.html, which is not there",
        '<a href="#nothing"></a>': "#nothing of index.html",
        '<img src="none.png">': "none.png, which is not there",
        '<script src="https://elsewhere.org/a.js"></script>': "asks for https://elsewhere.org/a.js",
    }
    (tmp_path / "index.html").write_text(page.format("".join(wrong)))
    said = Site(tmp_path).complaints()
    assert len(said) == 4 and all(any(words in line for line in said) for words in wrong.values()), said
    sys.modules.pop("check_links")


def test_the_check_of_the_site_finds_what_is_wrong_with_a_page(tmp_path, capsys, monkeypatch):
    need_chromium()
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import check_site

    body = """<style>body {{ background: white }} [data-theme=dark] body {{ background: black }}</style>
        <h1 id="top">page</h1><a href="other.html#top">other</a>{}"""
    (tmp_path / "index.html").write_text(body.format(""))
    (tmp_path / "other.html").write_text(body.format(""))
    assert check_site.main(tmp_path) == 0
    wrong = {
        '<a href="nowhere.html"></a>': "nowhere.html, which is not there",
        '<a href="other.html#nothing"></a>': "#nothing of other.html",
        "<script>console.error('ouch')</script>": "ouch",
        "<script>throw Error('thrown')</script>": "thrown",
        '<img src="none.png">': "none.png does not load",
        '<img src="http://127.0.0.1:9/far.png">': "asks for http://127.0.0.1:9/far.png",
    }
    (tmp_path / "index.html").write_text(body.format("".join(wrong)))
    assert check_site.main(tmp_path) == 1
    said = capsys.readouterr().out
    assert all(words in said for words in wrong.values()), said

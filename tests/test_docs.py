"""Every Python example in the README and the docs runs as printed."""

import re
from pathlib import Path

import pytest

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
        exec(compile(code, f"{page.name}, example {number + 1}", "exec"), namespace)
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

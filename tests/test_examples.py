"""Every script in examples/ runs, and the number that it asserts is right."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_an_example_runs(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "assert " in script.read_text()
    runpy.run_path(str(script))


def test_the_gallery_links_to_every_example():
    page = (ROOT / "docs" / "gallery-pages" / "index.md").read_text()
    assert all(f"(../../examples/{script.name})" in page for script in SCRIPTS)

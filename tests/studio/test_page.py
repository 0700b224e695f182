"""The built page: up to date with its sources (told without Node), small, and complete in itself."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pliant.io.player import MARK, page
from pliant.io.policy import policy, scripts_of

WEB = Path(__file__).parent.parent.parent / "studio" / "web"


def source_hash():
    """As build.mjs computes it."""
    names = ["build.mjs", "index.html", "package-lock.json", "style.css"]
    names += [f"src/{path.name}" for path in (WEB / "src").glob("*.js")]
    total = hashlib.sha256()
    for name in sorted(names):
        total.update(f"{name}\n".encode() + (WEB / name).read_bytes())
    return total.hexdigest()


def test_the_page_is_built_from_these_sources():
    built = re.search(r'name="pliant-sources" content="(\w+)"', page())
    assert built and built.group(1) == source_hash(), "out of date: cd studio/web && npm ci && npm run build"


@pytest.mark.skipif(
    not (shutil.which("node") and (WEB / "node_modules").exists()),
    reason="needs Node and npm ci in studio/web",
)
def test_building_it_again_gives_the_same_bytes():
    run = subprocess.run(
        ["node", "build.mjs", "--check"], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_it_is_below_one_megabyte():
    assert 100_000 < len(page().encode()) < 1_000_000


def test_it_fetches_nothing():
    text = page()
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert not re.search(r"@import|url\(\s*[\"']?https?:", text.split("<script>")[0])
    assert text.count("<script>") == 1 and text.count(MARK) == 1


def test_it_carries_the_licences_of_what_it_contains():
    assert (
        "three.js authors" in page()
        and "Leon Sorokin" in page()
        and page().count("Permission is hereby granted") == 3
    )


def test_the_policy_admits_its_own_script_only():
    rules = policy(scripts_of(page()), served=True)
    assert rules.count("sha256-") == 1 and "unsafe-eval" not in rules and "script-src 'sha256-" in rules
    assert policy(scripts_of("<p>no script</p>"), served=True).startswith(
        "default-src 'none'; script-src 'none'"
    )


def test_the_lock_file_names_no_host():
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")

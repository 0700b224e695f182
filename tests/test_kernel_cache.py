"""Compiled kernels have a place wherever pliant is installed, and nobody else can put code there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import pliant as pl
from pliant import doctor, kernel_cache
from pliant.kernel_cache import KEPT, LOST, TEMPORARY, private_folder

PACKAGE = Path(pl.__file__).parent


@pytest.fixture(autouse=True)
def base(tmp_path, monkeypatch):
    """The folder of temporary files."""
    (tmp_path / "base").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "base"))
    return tmp_path / "base"


def is_private(folder):
    found = folder.lstat()
    return (
        stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.getuid()
    )


def test_the_temporary_folder_is_private_and_found_again(base):
    folder, stay = private_folder()
    assert folder.parent == base and is_private(folder) and stay == TEMPORARY
    (folder / "kernel").touch()
    assert private_folder() == (folder, TEMPORARY) and (folder / "kernel").exists()


def open_to_all(folder):
    folder.mkdir()
    folder.chmod(0o777)


def link_elsewhere(folder):
    (folder.parent / "theirs").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "theirs")


@pytest.mark.parametrize("plant", [open_to_all, link_elsewhere, Path.touch])
def test_what_somebody_else_put_there_is_not_used(base, plant):
    there = base / f"pliant-kernels-{os.getuid()}"
    plant(there)
    folder, stay = private_folder()
    assert folder != there and folder.parent == base and is_private(folder) and stay == LOST


def test_a_folder_of_another_user_is_not_used(base, monkeypatch):
    real = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: real + 1)
    there = base / f"pliant-kernels-{real + 1}"
    there.mkdir(mode=0o700)
    base.chmod(0o1777)
    assert private_folder()[0] != there


@pytest.mark.parametrize(
    "mode, stay", [(0o777, LOST), (0o1777, TEMPORARY), (0o770, LOST), (0o755, TEMPORARY)]
)
def test_a_folder_that_others_could_replace_is_not_used_again(base, mode, stay):
    base.chmod(mode)
    assert private_folder()[1] == stay


def test_without_any_folder_the_error_says_what_to_set(monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(pl.PliantError, match="set NUMBA_CACHE_DIR"):
        private_folder()


@pytest.mark.parametrize("stay, check", [(KEPT, True), (TEMPORARY, None), (LOST, False)])
def test_doctor_says_where_kernels_are_and_how_long(monkeypatch, stay, check):
    monkeypatch.setattr(kernel_cache, "STAY", stay)
    found = doctor._cache()
    assert str(kernel_cache.where().parent) in found["found"] and stay in found["found"]
    assert found["check"] is check and ("NUMBA_CACHE_DIR" in found["found"]) is (stay != KEPT)


def test_the_package_is_imported_where_neither_it_nor_the_home_can_be_written(tmp_path, base):
    """Files where folders would have to be: they stop root, too."""
    for source in (PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir())):
        if source.name != "__pycache__":
            copy = tmp_path / "site" / source.relative_to(PACKAGE.parent)
            copy.mkdir(parents=True)
            (copy / "__pycache__").touch()
            for path in source.glob("*.py"):
                (copy / path.name).symlink_to(path)
    home = tmp_path / "home"
    home.touch()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))
    }
    environment |= {
        "HOME": str(home / "nobody"),
        "LOCALAPPDATA": str(home / "nobody"),
        "TMPDIR": str(base),
        "PYTHONPATH": str(tmp_path / "site"),
    }
    code = "import pliant; from pliant import kernel_cache as cache; "
    code += "print(pliant.__file__, cache.where(), cache.STAY, sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    package, folder, stay = run.stdout.splitlines()
    assert package.startswith(str(tmp_path)) and folder.startswith(str(base)) and stay == TEMPORARY

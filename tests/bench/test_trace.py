"""The trace: runs of everything, recorded and compared with later ones."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench import trace as bench
from pliant.cli import main


@pytest.fixture
def one_case(monkeypatch):
    made = bench.cases()["in time: cantilever"]
    monkeypatch.setattr(bench, "cases", lambda: {"in time: cantilever": made})


def test_a_second_run_is_the_same_and_another_one_differs(one_case, tmp_path):
    (recorded,) = bench.trace(tmp_path)
    assert recorded.rows == [{"case": "in time: cantilever", "steps": bench.STEPS}]
    (again,) = bench.trace(tmp_path)
    assert again.passed and again.rows[0]["same until"] == bench.STEPS and again.rows[0]["q"] <= bench.SAME
    with np.load(tmp_path / bench.FILE) as data:
        other = dict(data)
    other["in time: cantilever/q"][20] += 1e-6
    np.savez(tmp_path / bench.FILE, **other)
    (changed,) = bench.trace(tmp_path)
    assert not changed.passed and changed.rows[0]["same until"] == 20


def test_every_method_and_every_scene_is_there():
    names = bench.cases()
    for robot in ("trunk", "rod", "two_bodies"):
        assert {f"{method}: {robot}" for method in bench.METHODS} <= set(names)
    assert "scene: trunk, lost cable" in names and "in time: crawler" in names


def test_the_command_records_and_then_compares(one_case, tmp_path, capsys):
    command = ["bench", "trace", str(tmp_path), "--only", "cantilever"]
    assert main(command) == 0 and "Recorded" in capsys.readouterr().out
    assert main(command) == 0 and "Compared" in capsys.readouterr().out


def test_the_command_needs_a_folder(capsys):
    assert main(["bench", "trace"]) == 2
    assert "pliant bench trace PATH" in capsys.readouterr().err

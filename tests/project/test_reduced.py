"""The reduced model of a project: kept beside it, used while it fits, refused when the file has changed."""

import shutil

import numpy as np
import pytest

import pliant as pl
from pliant import cli
from pliant.errors import InputError
from pliant.project import load
from pliant.project.reduced import chosen, make, place_of, settled
from pliant.reduction.fast import Fast

ARM = """
format = 1
name = "arm"

[[bodies]]
mesh = "arm.vtu"
fixed = [{ plane = { point = [0, 0, 0], normal = [1, 0, 0] } }]
materials = [{ law = "Hooke", young = "0.3 MPa", poisson = 0.45, density = 1000 }]

[cables.pull]
through = [[0.0, 0.01, 0.018], [0.03, 0.01, 0.018], [0.06, 0.01, 0.018], [0.095, 0.01, 0.018]]
effort = [0, "1.5 N"]

[effectors.tip]
points = [[0.1, 0.01, 0.01]]

[demonstration.commands.pull]
tension = "1 N"
"""


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A project that was reduced."""
    folder = tmp_path_factory.mktemp("once")
    pl.mesh.write(pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2), kind="tet"), folder / "arm.vtu")
    (folder / "robot.toml").write_text(ARM, encoding="utf-8")
    assert cli.main(["reduce", str(folder / "robot.toml"), "--json", str(folder / "r.json")]) == 0
    return folder


@pytest.fixture
def project(once, tmp_path, monkeypatch):
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "robot.toml"


def test_it_is_kept_beside_the_file_and_used(project, capsys):
    fast, words = chosen(load(project))
    assert fast is not None and "modes instead of" in words and "--model full" in words
    assert [path.name for path in (project.parent / "robot.cache").iterdir()] == [
        place_of(load(project)).name
    ]
    law = {"pull": pl.Known(effort=0.8)}
    full, small = pl.static(fast.full, law), pl.static(fast.robot, law)
    off = np.linalg.norm(full.displacement["tip"] - small.displacement["tip"])
    assert off < 0.01 * fast.facts["stroke"]
    error, found = settled(fast, small, law)
    assert found and off / 2 < error < 2 * off
    assert cli.main(["run", "robot.toml", "--steps", "2"]) == 0
    assert "reduced model ends" in capsys.readouterr().out.replace("\n", " ")
    assert cli.main(["run", "robot.toml", "--steps", "2", "--model", "full"]) == 0
    assert "as asked" in capsys.readouterr().out


def test_a_run_beyond_its_trust_is_made_with_the_full_model(project, capsys, monkeypatch):
    monkeypatch.setattr(Fast, "bound", 1e-12)
    assert cli.main(["run", "robot.toml", "--steps", "2"]) == 0
    assert "The full model runs instead" in capsys.readouterr().err.replace("\n", " ")


def test_a_changed_file_has_none_and_what_changes_nothing_keeps_it(project):
    text = project.read_text()
    project.write_text(text.replace("1 N", "1.2 N"))
    assert chosen(load(project))[0] is not None  # another demonstration
    project.write_text(text.replace("0.06, 0.01, 0.018", "0.06, 0.01, 0.016"))
    fast, words = chosen(load(project))
    assert fast is None and "earlier version" in words and f"pliant reduce {project}" in words
    with pytest.raises(InputError, match="earlier version"):
        chosen(load(project), "reduced")
    with pytest.raises(InputError, match="model"):
        chosen(load(project), "quick")


def test_one_that_misses_its_error_or_is_damaged_does_not_run(project):
    made = load(project)
    make(made, error=1e-9)
    fast, words = chosen(made)
    assert fast is None and "misses the error" in words
    assert chosen(made, "reduced")[0] is not None  # who insists may have it
    place_of(made).write_bytes(b"nothing")
    fast, words = chosen(made)
    assert fast is None and words.startswith("The full model runs")

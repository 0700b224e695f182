"""The command line, called as a function: exit codes, files, and errors in one line."""

import json
import re
import sys
from importlib import import_module

import numpy as np
import pytest

import pliant as pl
from pliant import bench, cli, doctor
from pliant.cli import checks
from pliant.errors import InputError
from pliant.io.table import Table
from pliant.laws import Known
from pliant.project.command import check_limits, setting


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def error(capsys):
    """Runs a command that must fail, and returns its one line of complaint."""

    def run(*arguments, code=cli.ERROR):
        assert cli.main(list(arguments)) == code
        complaint = capsys.readouterr().err.strip()
        assert "Traceback" not in complaint
        assert len(complaint.splitlines()) == 1
        return complaint

    return run


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pliant 0.")


def test_a_shell_can_complete_every_command(capsys):
    assert cli.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert "complete -F" in script and all(f"'{name}'" in script for name in cli.COMMANDS)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["run", "--help"], ["bench", "--help"]])
def test_help(arguments, capsys):
    assert cli.main(arguments) == 0
    assert "usage: pliant" in capsys.readouterr().out


def test_list(capsys, tmp_path):
    assert cli.main(["list", "--json", "out/list.json"]) == 0
    assert "trunk" in capsys.readouterr().out
    (table,) = json.loads((tmp_path / "out" / "list.json").read_text())
    taken = lambda command: {r["robot"] for r in table["rows"] if command in r["commands"]}
    assert (
        taken("run")
        == set(pl.robots.gallery)
        >= {"cantilever", "finger", "trunk", "tower", "beam", "bellows"}
    )
    assert taken("view") == {*pl.robots.gallery, *pl.robots.grippers, "hand"}


def test_run_writes_a_folder_and_says_where(capsys, tmp_path):
    assert cli.main(["run", "cantilever", "--steps", "2", "--json", "numbers.json"]) == 0
    out = capsys.readouterr().out
    assert "results/cantilever/index.html" in out and "−0.15 N" in out and "converged" in out
    assert (tmp_path / "results" / "cantilever" / "picture.png").is_file()
    data = json.loads((tmp_path / "numbers.json").read_text())
    assert data["rows"]["load"]["effort"] == [-0.15]
    assert len(data["path"]) == 3


def test_run_with_other_commands(tmp_path):
    command = ["run", "cantilever", "--out", "here", "--steps", "1", "--set", "load=displacement:-0.02"]
    assert cli.main(command) == 0
    data = json.loads((tmp_path / "here" / "result.json").read_text())
    assert data["rows"]["load"]["displacement"] == pytest.approx([-0.02])


def _rows():
    """A cable, a chamber and a motor-less block with a force: one row of each kind that a shell names."""
    mesh = pl.mesh.block_with_cavity((0.03, 0.03, 0.03))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.4), fixed=mesh.nodes[:, 2] < 1e-9, order=1)
    at = mesh.nodes[np.argmax(mesh.nodes.sum(axis=1))]
    rows = {
        "cable 1": pl.Row(pl.Cable(body.points([at]), anchor=(0, 0, 0)), pl.Bounded((0, 5), (-0.02, 0.02))),
        "air": pl.Row(pl.Cavity.on(body, pl.mesh.cavity_surfaces(mesh)[0]), pl.Bounded((0, 4e4))),
        "push": pl.Row(pl.PointForce(body.points([at]))),
    }
    return pl.Robot(body, rows)


@pytest.fixture(scope="module")
def three_rows():
    return _rows()


@pytest.mark.parametrize(
    "text, row, law",
    [
        ("cable 1=effort:2.5", "cable 1", Known(effort=2.5)),
        (" cable 1 = displacement : 1e-2", "cable 1", Known(displacement=0.01)),
        ("cable 1=length:20mm", "cable 1", Known(displacement=0.02)),
        ("cable 1=tension:1.5 N", "cable 1", Known(effort=1.5)),
        ("cable 1=1.5N", "cable 1", Known(effort=1.5)),
        ("cable 1=−1 cm", "cable 1", Known(displacement=-0.01)),
        ("air=pressure:30 kPa", "air", Known(effort=3e4)),
        ("air=5ml", "air", Known(displacement=5e-6)),
        ("push=force:0,0,-100mN", "push", Known(effort=[0.0, 0.0, -0.1])),
    ],
)
def test_settings_have_units_and_words(three_rows, text, row, law):
    name, found = setting(three_rows, text)
    assert name == row
    for side in ("effort", "displacement"):
        given, want = getattr(found, side), getattr(law, side)
        assert (given is None) == (want is None) and (want is None or given == pytest.approx(want))


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "cable 1=pressure:30 kPa",
            "effort, displacement, tension or length, as it is a cable, got pressure",
        ),
        ("air=tension:3 N", "pressure or volume"),
        ("cable 1=length:3 N", "'cable 1': expected a number in m, or with a unit: m, cm, mm"),
        ("cable 1=30 kPa", "tension or length, a colon and a value, got '30 kPa'"),
        ("cable 1=3", "a colon and a value"),
    ],
)
def test_what_does_not_fit_a_row_names_what_does(three_rows, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        setting(three_rows, text)


def test_commands_beyond_the_limits_are_refused_before_solving(three_rows, error):
    check_limits(three_rows, {"cable 1": Known(displacement=0.02), "air": Known(effort=4e4)})
    with pytest.raises(
        InputError, match="pressure of 'air': expected within its limits, 0 kPa to 40 kPa, got 41"
    ):
        check_limits(three_rows, {"air": Known(effort=4.1e4)})
    assert "length of 'cable'" in error("run", "finger", "--set", "cable=length:9m")


@pytest.mark.parametrize(
    "setting, message",
    [
        ("load", "ROW=WHAT:VALUE"),
        ("load=5", "effort, displacement, force or length, a colon and a value"),
        ("load=tension:5", "effort, displacement, force or length, as it is a pointforce"),
        ("=effort:5", "ROW=WHAT:VALUE"),
        ("load=effort:much", "a number in N"),
        ("laod=effort:1", "Did you mean 'load'"),
        ("load=effort:1,2", "a number or 1 numbers"),
        ("load=effort:nan", "finite"),
    ],
)
def test_bad_settings(error, setting, message):
    assert message in error("run", "cantilever", "--steps", "1", "--set", setting)


def test_unknown_names_suggest_the_nearest(error):
    assert "Did you mean 'trunk'" in error("run", "trnk")
    assert "pliant view gripper" in error("run", "gripper")
    assert "Did you mean 'run'" in error("runn", "trunk")


def test_a_cable_cannot_push(error):
    assert "within [0, inf]" in error("run", "finger", "--set", "cable=effort:-1")


def test_a_load_without_equilibrium_is_one_line(error, monkeypatch):
    from pliant import robots
    from pliant.errors import ConvergenceError

    def hopeless(*_, **__):
        raise ConvergenceError("No equilibrium\nof 'cantilever'.")
        yield

    monkeypatch.setattr(robots, "drive", hopeless)
    assert error("run", "cantilever") == "No equilibrium of 'cantilever'."


def test_a_folder_that_cannot_be_written(error, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file" in error("run", "cantilever", "--steps", "1", "--out", "file/below")


def test_wrong_arguments_are_code_2(capsys):
    assert cli.main(["run"]) == cli.ERROR
    assert cli.main(["run", "cantilever", "--steps", "many"]) == cli.ERROR
    assert cli.main(["bench", "everything"]) == cli.ERROR


def test_interrupted(error, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.robots, "drive_with_progress", stop)
    assert error("run", "cantilever", code=cli.INTERRUPTED) == "Interrupted."


def _table(passed):
    table = Table("Made up", ("what", "check"))
    table.add(what="a number", check=passed)
    return [table]


@pytest.mark.parametrize("passed, code", [(True, 0), (False, cli.FAILED), (None, 0)])
def test_bench_fails_when_a_check_does(monkeypatch, tmp_path, passed, code):
    monkeypatch.setattr(bench, "cantilever", lambda: _table(passed))
    assert cli.main(["bench", "cantilever", "--json", "b.json"]) == code
    assert json.loads((tmp_path / "b.json").read_text())[0]["passed"] is (passed is not False)


def test_bench_all_runs_everything_it_can(monkeypatch, capsys):
    ran = []
    for name, place in checks.BENCHES.items():
        module, _, function = place.partition(":")
        measure = lambda *path, name=name: ran.append((name, *map(str, path))) or _table(True)
        monkeypatch.setattr(import_module(module), function, measure)
    assert cli.main(["bench"]) == 0
    assert ran == [(name,) for name in checks.BENCHES if name not in checks.APART]
    assert "skipped" in capsys.readouterr().out
    assert cli.main(["bench", "golden", "folder"]) == 0
    assert ran[-1] == ("golden", "folder")
    assert cli.main(["bench", "studio"]) == 0
    assert ran[-1] == ("studio",)


def test_bench_golden_needs_a_folder(error):
    assert "a folder with cases.json" in error("bench", "golden")
    assert "a folder with cases.json" in error("bench", "golden", "nowhere")


def test_doctor(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(doctor, "_dgemm", lambda: {"found": "not timed here", "check": None})
    assert cli.main(["doctor", "--json", "d.json"]) == 0
    rows = {row["what"]: row for row in json.loads((tmp_path / "d.json").read_text())[0]["rows"]}
    assert rows["Python"]["found"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert rows["hanging bar"]["check"] is True
    assert rows["BLAS"]["check"] is True
    assert "extra stl" in rows and "numba" in rows


def test_doctor_tells_a_bad_installation(monkeypatch):
    monkeypatch.setattr(doctor, "_dgemm", lambda: {"found": "9000 ms", "check": False})
    assert cli.main(["doctor"]) == cli.FAILED


def test_warnings_are_one_yellow_line(monkeypatch, capsys):
    import warnings

    from pliant.errors import PliantWarning

    def build():
        warnings.warn("the mesh is 100 m across", PliantWarning, stacklevel=1)
        raise KeyboardInterrupt

    from pliant import robots

    monkeypatch.setitem(robots.gallery, "cantilever", robots.Entry(build, {}, "a bar"))
    assert cli.main(["run", "cantilever"]) == cli.INTERRUPTED
    assert capsys.readouterr().err.splitlines() == ["the mesh is 100 m across", "Interrupted."]


# Project files


def test_a_robot_of_the_gallery_becomes_a_project_file_that_runs(tmp_path, capsys):
    assert cli.main(["new", "mine.toml", "--robot", "finger"]) == 0
    assert cli.main(["run", "mine.toml", "--steps", "2", "--json", "mine.json"]) == 0
    assert (tmp_path / "results" / "mine" / "index.html").is_file()
    assert cli.main(["run", "finger", "--steps", "2", "--json", "theirs.json"]) == 0
    mine, theirs = (json.loads((tmp_path / f"{who}.json").read_text()) for who in ("mine", "theirs"))
    assert mine["rows"] == theirs["rows"] and mine["certificate"] == theirs["certificate"]


def test_a_part_alone_begins_a_file_beside_it(tmp_path):
    part = tmp_path / "bar.vtu"
    pl.mesh.write(pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1)), part)
    assert cli.main(["new", str(part)]) == 0
    assert cli.main(["run", str(tmp_path / "bar.toml"), "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("arguments", [[], ["--robot", "finger", "--part", "part.vtu"]])
def test_a_new_file_needs_one_beginning(error, arguments):
    assert "--part" in error("new", "mine.toml", *arguments)


def test_a_broken_project_file_is_named(error, tmp_path):
    (tmp_path / "bad.toml").write_text("format = 1\nname = 3\n")
    assert "line 2, name: expected string" in error("run", "bad.toml")


def test_the_doctor_looks_at_a_project_too(tmp_path, capsys):
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="hex")  # hexahedra: no error is known of them
    pl.mesh.write(mesh, tmp_path / "bar.vtu")
    assert cli.main(["new", str(tmp_path / "bar.toml"), "--part", str(tmp_path / "bar.vtu")]) == 0
    found = tmp_path / "found.json"
    assert cli.main(["doctor", str(tmp_path / "bar.toml"), "--json", str(found)]) == 0
    (row,) = json.loads(found.read_text())[0]["rows"]
    assert row["nodes"] == len(mesh.nodes) and row["Hz"] > 0 and row["error %"] is None
    assert "tetrahedra" in " ".join(capsys.readouterr().out.split())

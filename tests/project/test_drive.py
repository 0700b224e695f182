"""Devices of a project file: driven by a loop, and following a studio.

On clocks that move when someone waits: machines are busy.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant import cli
from pliant.errors import InputError
from pliant.hardware import LoopReport
from pliant.hardware.emulators import FakeClock, Microcontroller, Terminal
from pliant.io.recording import Recording
from pliant.project import load, save
from pliant.project.drive import drive, following

HARDWARE = """
[hardware]
rate = 50
watchdog = 0.2

[hardware.devices.winch]
driver = "serial"
port = "@PORT@"
timeout = 60.0  # for the emulator's thread to get its turn

[hardware.channels.cable]
device = "winch"
id = 1
spool_radius = 0.01
limits = [0.0, 0.02]
safe = 0.0
"""
TIP = (0.07, 0.0075, 0.05)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A machine that stalls has not lost its port."""
    monkeypatch.setattr("pliant.hardware.wire.WRITE_TIMEOUT", 60.0)


def write(folder, port: str):
    path = save(pl.robots.finger(), folder / "finger.toml")
    path.write_text(path.read_text(encoding="utf-8") + HARDWARE.replace("@PORT@", port), encoding="utf-8")
    return path


def test_a_project_is_driven_and_recorded(tmp_path):
    device, clock = Microcontroller([1]), FakeClock()
    with Terminal(device, clock=clock.now) as terminal:
        path = write(tmp_path, terminal.port)
        report = drive(path, aims={"tip": TIP}, seconds=0.4, record=tmp_path / "run.mcap", clock=clock)
    assert (report.status, report.periods, report.missed) == ("done", 20, 0), report.reason
    assert device.state == "safe" and device.position[1] == 0
    run = Recording.read(tmp_path / "run.mcap")
    sent = [note.data["counts"]["cable"] for note in run.notes if note.kind == "sent"]
    assert sent == [counts[1] for _, counts in device.accepted] and len(sent) == report.periods
    assert max(sent) > 0  # it pulls, as far as it comes in this time
    assert run.frames[-1].target["tip"] == pytest.approx(TIP)
    assert len(run) == report.periods and run.notes[-1].data["what"] == "done"


def test_a_recording_that_is_there_is_refused_before_a_device_is_touched(tmp_path):
    device, record = Microcontroller([1]), tmp_path / "run.mcap"
    record.write_text("a run of yesterday")
    with Terminal(device) as terminal, pytest.raises(InputError, match=r"run\.mcap: .*another name"):
        drive(write(tmp_path, terminal.port), seconds=0.1, record=record, clock=FakeClock())
    assert record.read_text() == "a run of yesterday" and not device.requests


def test_a_dry_run_needs_no_device(tmp_path):
    path = write(tmp_path, "no-such-port")
    assert drive(path, seconds=0.1, dry_run=True, clock=FakeClock()).status == "done"
    assert drive(path, seconds=0.1, record=tmp_path / "run.mcap").status == "failed"
    assert not (tmp_path / "run.mcap").exists()  # nothing was recorded: the next attempt may have its name
    with pytest.raises(InputError, match="hardware"):
        drive(save(pl.robots.finger(), tmp_path / "bare.toml"), seconds=0.1)


def test_emulators_answer_in_place_of_the_devices(tmp_path):
    path = write(tmp_path, "no-such-port")
    report = drive(
        path, aims={"tip": TIP}, seconds=0.2, emulate=True, record=tmp_path / "run.mcap", clock=FakeClock()
    )
    assert (report.status, report.periods) == ("done", 10), report.reason
    sent = [
        n.data["counts"]["cable"] for n in Recording.read(tmp_path / "run.mcap").notes if n.kind == "sent"
    ]
    assert len(sent) == 10 and max(sent) > 0
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace('driver = "serial"', 'driver = "osc"').replace('port = "no-such-port"', "port = 9000")
    )
    with pytest.raises(InputError, match=r"hardware\.devices\.winch\.driver.*osc"):
        drive(path, seconds=0.1, emulate=True, clock=FakeClock())


def test_devices_follow_a_studio(tmp_path):
    from pliant.studio import view
    from pliant.studio.messages import Play
    from tests.hardware.test_loop import wait_for

    device, clock = Microcontroller([1]), FakeClock()  # which stands still: no watchdog bites
    with Terminal(device, clock=clock.now) as terminal:
        project = load(write(tmp_path, terminal.port))
        with (
            view(project.robot, browser=False) as window,
            following(window, project, clock=clock) as follower,
        ):
            assert wait_for(lambda: len(device.accepted) > 5)
            window.loop.put(Play(do="play", on=False))
            assert wait_for(lambda: device.state == "safe")
            assert follower.emergency.reason == "studio"
            commands = len(device.accepted)
            follower.resume()
            window.loop.put(Play(do="play", on=True))
            assert wait_for(lambda: len(device.accepted) > commands)
        assert wait_for(lambda: device.state == "safe")


# The command


def driven(monkeypatch, *arguments: str, met: int = 100, status: str = "done") -> int:
    """Exit code of a drive of 100 periods, of which some were met."""
    report = LoopReport(status, "", met, 100 - met, 0.02, np.zeros(met), np.full(met, 0.06))
    monkeypatch.setattr("pliant.project.drive.drive", lambda path, **options: report)
    return cli.main(["drive", "robot.toml", *arguments])


def test_a_drive_that_missed_its_deadlines_says_so_and_fails(monkeypatch, capsys):
    assert driven(monkeypatch, met=28) == cli.FAILED
    said = capsys.readouterr()
    assert "28.00 % of deadlines met" in said.out
    assert "Only 28 % of the deadlines were met, 90 % are asked for" in said.err and "50 Hz" in said.err
    assert driven(monkeypatch, met=89) == cli.FAILED
    capsys.readouterr()
    assert driven(monkeypatch, met=90) == 0 and not capsys.readouterr().err
    assert driven(monkeypatch, "--deadlines", "0.2", met=28) == 0
    assert driven(monkeypatch, "--deadlines", "1", met=99, status="stopped") == cli.FAILED
    assert driven(monkeypatch, status="watchdog") == cli.FAILED and driven(monkeypatch, met=0) == cli.FAILED
    assert driven(monkeypatch, "--deadlines", "90") == cli.ERROR


def test_a_new_project_overwrites_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.toml"
    mine.write_text("# a week of work")
    assert cli.main(["new", "mine.toml", "--robot", "finger"]) == cli.ERROR
    assert "mine.toml: expected a new file" in capsys.readouterr().err
    mine.rename(tmp_path / "mine.vtu")
    assert cli.main(["new", "mine.toml", "--robot", "finger"]) == cli.ERROR
    assert "mine.vtu" in capsys.readouterr().err and list(tmp_path.iterdir()) == [tmp_path / "mine.vtu"]
    assert (tmp_path / "mine.vtu").read_text() == "# a week of work"

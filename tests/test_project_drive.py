"""Devices of a project file: driven by a loop, and following a studio."""

from __future__ import annotations

import pytest

import pliant as pl
from pliant.errors import InputError
from pliant.hardware.emulators import Microcontroller, Terminal
from pliant.io.recording import Recording
from pliant.project import load, save
from pliant.project.drive import drive, following

HARDWARE = """
[hardware]
rate = 50
watchdog = 5.0

[hardware.devices.winch]
driver = "serial"
port = "@PORT@"
timeout = 1.0

[hardware.channels.cable]
device = "winch"
id = 1
spool_radius = 0.01
limits = [0.0, 0.02]
safe = 0.0
"""
TIP = (0.07, 0.0075, 0.05)


def write(folder, port: str):
    path = save(pl.robots.finger(), folder / "finger.toml")
    path.write_text(path.read_text(encoding="utf-8") + HARDWARE.replace("@PORT@", port), encoding="utf-8")
    return path


def test_a_project_is_driven_and_recorded(tmp_path):
    device = Microcontroller([1])
    with Terminal(device) as terminal:
        path = write(tmp_path, terminal.port)
        report = drive(path, aims={"tip": TIP}, seconds=0.4, record=tmp_path / "run.mcap")
    assert report.status == "done", report.reason
    assert device.state == "safe" and device.position[1] == 0
    run = Recording.read(tmp_path / "run.mcap")
    sent = [note.data["counts"]["cable"] for note in run.notes if note.kind == "sent"]
    assert sent == [counts[1] for _, counts in device.accepted] and len(sent) == report.periods > 0
    assert max(sent) > 0  # it pulls, as far as it comes in this time
    assert run.frames[-1].target["tip"] == pytest.approx(TIP)
    assert len(run) == report.periods and run.notes[-1].data["what"] == "done"


def test_a_dry_run_needs_no_device(tmp_path):
    assert drive(write(tmp_path, "no-such-port"), seconds=0.1, dry_run=True).status == "done"
    assert drive(write(tmp_path, "no-such-port"), seconds=0.1).status == "failed"
    with pytest.raises(InputError, match="hardware"):
        drive(save(pl.robots.finger(), tmp_path / "bare.toml"), seconds=0.1)


def test_devices_follow_a_studio(tmp_path):
    from test_hardware_loop import wait_for

    from pliant.studio import view
    from pliant.studio.messages import Play

    device = Microcontroller([1])
    with Terminal(device) as terminal:
        project = load(write(tmp_path, terminal.port))
        with view(project.robot, browser=False) as window, following(window, project) as follower:
            assert wait_for(lambda: len(device.accepted) > 5)
            window.loop.put(Play(do="play", on=False))
            assert wait_for(lambda: device.state == "safe")
            assert follower.emergency.reason == "studio"
            commands = len(device.accepted)
            follower.resume()
            window.loop.put(Play(do="play", on=True))
            assert wait_for(lambda: len(device.accepted) > commands)
        assert wait_for(lambda: device.state == "safe")

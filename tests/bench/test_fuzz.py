"""Damaged inputs: a small sample of what `pliant bench fuzz` does at length, and that it notices faults."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.fuzz import ACCEPTED, REFUSED, Trial, fuzz, kinds
from pliant.bench.fuzz_kind import Kind
from pliant.bench.fuzz_mutation import CHANGES, LONGEST_INPUT, Damage
from pliant.cli import main
from pliant.errors import InputError

KINDS = kinds()
SAMPLE = 8  # damaged inputs of each kind


@pytest.mark.parametrize("name", KINDS)
def test_damaged_inputs_are_accepted_or_refused(name, tmp_path, monkeypatch):
    """Valid inputs are accepted, others too or refused by a PliantError; nothing is written elsewhere."""
    monkeypatch.chdir(tmp_path)
    trial = Trial(KINDS[name], 7, tmp_path / "kind")
    found = {trial.outcome(number) for number in range(len(trial.seeds) + SAMPLE)}
    assert found <= {ACCEPTED, REFUSED} and ACCEPTED in found


def test_an_input_follows_from_its_number(tmp_path):
    one, other = (Trial(KINDS["snapshots"], 1, tmp_path / name) for name in ("a", "b"))
    assert [one.input(n) for n in (9, 3)] == [other.input(9), other.input(3)]
    assert one.input(3) != one.input(4) != Trial(KINDS["snapshots"], 2, tmp_path / "c").input(4)


@pytest.mark.parametrize("way", CHANGES, ids=lambda way: way.__name__)
def test_every_way_of_damage_copes_with_any_bytes(way):
    for k, data in enumerate((b"", b"x", b'{"a": [1, 2.5e3]}\nb = "c"\n', bytes(range(256)))):
        damage = Damage(np.random.default_rng(k), [b'{"a": 1}', b""], [b"../x"])
        assert all(isinstance(way(damage, data), bytes) for _ in range(5))
        assert len(damage(data)) <= LONGEST_INPUT


def test_answers_of_servos_that_are_too_short_are_errors_of_the_device(tmp_path):
    """Their checksum is right; ROBOTIS' library believes in the length that an answer should have."""
    pytest.importorskip("dynamixel_sdk")
    from pliant.bench.fuzz_wires import _bus_read, _packets
    from pliant.hardware import DeviceError
    from pliant.hardware.emulators.dynamixel import packet

    parts = _packets(KINDS["dynamixel"].seeds(tmp_path)[0])
    refused = 0
    for k, whole in enumerate(parts):
        short = [*parts[:k], *[packet(whole[4], whole[7], whole[8:9])] * 3, *parts[k + 1 :]]
        try:
            _bus_read(b"".join(short), tmp_path)
        except DeviceError:
            refused += 1
    assert refused >= 10


def faulty(read) -> Kind:
    return Kind(
        "faulty", lambda folder: [b"fine"], lambda data, folder: data == b"fine" or read(data, folder)
    )


def test_faults_are_noticed(tmp_path):
    """Another exception, a valid input that is refused, a file written outside of the folder."""

    def broken(data, folder):
        raise KeyError("not ours")

    def refusing(data, folder):
        raise InputError("input", expected="another", got="this")

    def escaping(data, folder):
        (folder.parent / "escaped").write_bytes(data)
        return True

    with pytest.raises(KeyError):
        Trial(faulty(broken), 0, tmp_path / "a").outcome(1)
    with pytest.raises(AssertionError, match="outside"):
        Trial(faulty(escaping), 0, tmp_path / "b").outcome(1)
    assert Trial(faulty(refusing), 0, tmp_path / "c").outcome(1) == REFUSED
    with pytest.raises(AssertionError, match="valid input"):
        Trial(Kind("none", lambda folder: [b"fine"], lambda data, folder: False), 0, tmp_path / "d").outcome(
            0
        )


def test_the_command(monkeypatch, capsys):
    """A table by kind from processes of their own; one input again, in this one, where its fault shows."""
    (table,) = fuzz(count=12, seed=3, only="regulators")
    (row,) = table.rows
    assert row["inputs"] == 12 == row[ACCEPTED] + row[REFUSED] and table.passed
    assert main(["bench", "fuzz", "--only", "markers json", "--repeat", "5", "--seed", "3"]) == 0
    assert "markers json" in capsys.readouterr().out
    assert main(["bench", "fuzz", "--only", "nothing"]) == 2
    monkeypatch.setattr("pliant.bench.fuzz.kinds", lambda: {"faulty": faulty(lambda data, folder: 1 / 0)})
    with pytest.raises(ZeroDivisionError):
        main(["bench", "fuzz", "--repeat", "5"])
    monkeypatch.setattr(
        "pliant.bench.fuzz._apart", lambda trial, count: [(0, ACCEPTED), (1, "fault: it broke")]
    )
    assert main(["bench", "fuzz"]) == 1
    assert '--only "faulty" --repeat 1: it broke' in capsys.readouterr().out

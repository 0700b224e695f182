"""Files that are damaged, missing or of another kind: one kind of error, with the path and its cause."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

import pliant as pl
from pliant.bench.fuzz import kinds
from pliant.contact import ContactBasis
from pliant.errors import FileError, InputError, PliantWarning
from pliant.files import read_arrays, read_saved, reading
from pliant.io.recording import Recording
from pliant.io.streams import MarkerFile
from pliant.membrane.measurements import read_measurements
from pliant.project import load as load_project
from pliant.project.build import read_lines
from pliant.reduction import Snapshots
from pliant.reduction.saved import load as load_model

READERS = {
    "mesh": (lambda path: pl.mesh.read(path), ".vtk"),
    "sheet": (lambda path: pl.mesh.read_sheet(path), ".stl"),
    "project": (load_project, ".toml"),
    "rods": (read_lines, ".npz"),
    "reduced model": (load_model, ".npz"),
    "snapshots": (Snapshots.load, ".npz"),
    "contact basis": (ContactBasis.load, ".npz"),
    "recording": (Recording.read, ".mcap"),
    "markers": (MarkerFile, ".csv"),
    "measurements": (read_measurements, ".csv"),
}


@pytest.mark.parametrize("name", READERS)
def test_paths_that_lead_to_no_file(name, tmp_path):
    """Missing, a folder, overlong, with a NUL: a FileError that names the path, and does not go on."""
    read, ending = READERS[name]
    (tmp_path / f"folder{ending}").mkdir()
    for path in (
        tmp_path / f"none{ending}",
        tmp_path / f"folder{ending}",
        "x" * 5000 + ending,
        f"a\0b{ending}",
    ):
        with pytest.raises(FileError) as raised:
            read(path)
        assert len(str(raised.value)) < 1000 and ending in str(raised.value)


@pytest.mark.parametrize("name", READERS)
def test_random_bytes_are_refused(name, tmp_path):
    read, ending = READERS[name]
    path = tmp_path / f"junk{ending}"
    for content in (b"", b"\0" * 100, bytes(range(256)) * 8):
        path.write_bytes(content)
        with pytest.raises(FileError, match="junk"):
            read(path)


@pytest.mark.parametrize("name", ["rods", "reduced model", "snapshots", "contact basis"])
def test_archives_with_damaged_members_are_refused(name, tmp_path):
    """A wrong byte in each member, before and behind its compression: each library says it differently."""
    (whole, *_) = kinds()[name].seeds(tmp_path)
    read, ending = READERS[name]
    path = tmp_path / f"input{ending}"
    for place in np.linspace(30, len(whole) - 30, 25).astype(int):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read(path)
        except FileError as error:
            assert error.__cause__ is not None and str(path) in str(error)


# The mechanism


def test_every_error_inside_names_the_file_and_keeps_its_cause(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x")
    for fault in (
        ValueError("odd"),
        RecursionError(),
        MemoryError(),
        OSError(5, "Input/output error"),
        KeyError("k"),
    ):
        with (
            pytest.raises(FileError, match=r"list .*a\.txt: expected numbers") as raised,
            reading(path, "list", "numbers"),
        ):
            raise fault
        assert raised.value.__cause__ is fault
    said = r"a\.txt: column: expected one, got two. Take one."
    with pytest.raises(FileError, match=said), reading(path, "list", "numbers"):
        raise InputError("column", expected="one", got="two", hint="Take one.")
    with pytest.raises(KeyboardInterrupt), reading(path, "list", "numbers"):
        raise KeyboardInterrupt
    with pytest.raises(PliantWarning), reading(path, "list", "numbers"):
        raise PliantWarning("not of the file")


def npz(**members: bytes) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as box:
        for name, content in members.items():
            box.writestr(f"{name}.npy", content)
    return out


def header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    "content",
    [
        header("(1000000000000,)"),
        header("(1000000000000,)") + bytes(80),
        header("(-3, -1)") + bytes(24),
        header("(4,)") + bytes(24),
        header("(1,)", "|O") + bytes(8),
    ],
    ids=["no content", "some content", "negative", "too little", "objects"],
)
def test_arrays_that_claim_another_size_take_no_memory(content, monkeypatch):
    monkeypatch.setattr(np, "frombuffer", lambda *_: pytest.fail("an array was made"))
    with pytest.raises(InputError, match=r"a\.npy"):
        read_arrays(npz(a=content))


def test_arrays_come_back_as_numpy_wrote_them():
    given = {
        "plain": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "none": np.zeros((0, 4)),
        "one": np.array("ä word"),
    }
    for write in (np.savez, np.savez_compressed):
        out = io.BytesIO()
        write(out, **given)
        found = read_arrays(out)
        assert set(found) == set(given)
        for name, array in given.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)


def test_saved_facts_must_be_of_the_kind_and_version(tmp_path):
    path = tmp_path / "a.npz"
    for facts, word in (
        ("[1]", "that pliant wrote"),
        ('{"format": "b"}', "'b'"),
        ('{"format": "a"}', "version 1"),
    ):
        np.savez(path, facts=np.array(facts))
        with pytest.raises(InputError, match=word):
            read_saved(path, "a", 1)
    np.savez(path, other=np.zeros(2))
    with pytest.raises(InputError, match="other"):
        read_saved(path, "a", 1)

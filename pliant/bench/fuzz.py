"""Fuzzing: every reader is given thousands of damaged inputs.

It may accept one or refuse it; anything else is a fault.

Each input follows from the seed, its kind and its number alone, so that a fault can be repeated:

    pliant bench fuzz --count 10000 --seed 1
    pliant bench fuzz --seed 1 --only "mesh vtu" --repeat 123
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bench.fuzz_kind import Kind
from pliant.bench.fuzz_mutation import Damage
from pliant.errors import PliantError, unknown_name
from pliant.io.table import Table

# By name: the studio stands above everything, and is not imported by what it may use.
SOURCES = ("pliant.bench.fuzz_files", "pliant.bench.fuzz_wires", "pliant.studio.bench.fuzz")
ACCEPTED, REFUSED, FAULT = "accepted", "refused", "fault"
MOST_SECONDS = 60.0  # that an input may take, where it is read in a process of its own
MOST_MEMORY = 2 * 2**30  # bytes that it may take
DAMAGED_INSIDE = 0.5  # share of inputs that are damaged behind their checksums, where there are any


def kinds() -> dict[str, Kind]:
    """All kinds of input by name."""
    return {kind.name: kind for source in SOURCES for kind in import_module(source).KINDS}


@dataclass(frozen=True)
class Trial:
    """The damaged inputs of one kind, in a folder of its own."""

    kind: Kind
    seed: int
    folder: Path

    @cached_property
    def seeds(self) -> Sequence[bytes]:
        """Valid inputs, the same every time; what they need stands beside them."""
        self.work.mkdir(parents=True, exist_ok=True)
        return list(self.kind.seeds(self.folder))

    @property
    def work(self) -> Path:
        """Where the inputs are put, and where the reader may write."""
        return self.folder / "work"

    def input(self, number: int) -> bytes:
        """Input `number`; the first ones are the valid inputs."""
        if number < len(self.seeds):
            return self.seeds[number]
        rng = np.random.default_rng([self.seed, zlib.crc32(self.kind.name.encode()), number])
        damage = Damage(rng, self.seeds, self._words())
        data = self.seeds[int(rng.integers(len(self.seeds)))]
        inside = self.kind.inside
        return inside(data, damage) if inside is not None and rng.random() < DAMAGED_INSIDE else damage(data)

    def outcome(self, number: int) -> str:
        """Accepted or refused.

        A fault raises what the reader raised, or AssertionError if something was written elsewhere.
        """
        data, before = self.input(number), self._surroundings()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = ACCEPTED if self.kind.read(data, self.work) else REFUSED
        except PliantError:
            said = REFUSED
        assert number >= len(self.seeds) or said == ACCEPTED, "a valid input is refused"
        assert self._surroundings() == before, "something was written outside of its folder"
        return said

    def _words(self) -> list[bytes]:
        """Names of files that no input should reach, and others that are none."""
        outside = self.folder / "escaped"
        names = (
            "../escaped",
            "../../escaped",
            str(outside),
            "a\0b",
            "x" * 5000,
            "",
            "CON",
            "~",
            "$HOME",
            "https://x",
        )
        return [f"{name}{ending}".encode() for name in names for ending in ("", ".vtu", ".npz")]

    def _surroundings(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file around the folder in which the reader may write."""
        facts = {}
        for base, folders, files in os.walk(self.folder.parent):
            folders[:] = [name for name in folders if Path(base, name) != self.work]
            for name in files:
                about = os.stat(os.path.join(base, name))
                facts[os.path.join(base, name)] = (about.st_size, about.st_mtime_ns)
        return facts


def fuzz(count: int = 10_000, seed: int = 0, only: str = "", repeat: int | None = None) -> list[Table]:
    """How the readers treat `count` inputs, shared among all kinds or of `only` one.

    Each kind is read in a process of its own, with limits on time and memory. `repeat` reads the one input of
    this number here, so that a fault shows where it happens.
    """
    known = kinds()
    if only and only not in known:
        raise unknown_name("kind of input", only, known)
    chosen = {name: kind for name, kind in known.items() if not only or name == only}
    each = -(-count // len(chosen))
    table = Table("Damaged inputs", ("what", "inputs", ACCEPTED, REFUSED, "faults", "check"))
    with tempfile.TemporaryDirectory(prefix="pliant-fuzz-") as base:
        for name, kind in chosen.items():
            trial = Trial(kind, seed, Path(base).resolve() / name.replace(" ", "-"))
            if repeat is not None:
                outcomes: Mapping[int, str] = {repeat: trial.outcome(repeat)}
            else:
                outcomes = dict(_apart(trial, each))
            said = Counter(result.partition(":")[0] for result in outcomes.values())
            table.add(
                what=name,
                inputs=len(outcomes),
                **{ACCEPTED: said[ACCEPTED], REFUSED: said[REFUSED]},
                faults=said[FAULT],
                check=not said[FAULT],
            )
            table.notes += [
                f'--seed {seed} --only "{name}" --repeat {number}: {result.partition(": ")[2]}'
                for number, result in outcomes.items()
                if result.startswith(FAULT)
            ]
    return [table]


def _apart(trial: Trial, count: int) -> Iterator[tuple[int, str]]:
    """Number and outcome of each input, read in another process.

    A process that dies or does not end is a fault of its input.
    """
    method = multiprocessing.get_context("spawn")
    number = 0
    while number < count:
        here, there = method.Pipe()
        process = method.Process(
            target=_serve, args=(there, trial.kind.name, trial.seed, trial.folder, number, count), daemon=True
        )
        process.start()
        there.close()
        try:
            while number < count:
                if not here.poll(MOST_SECONDS):
                    raise EOFError(f"no end within {MOST_SECONDS:g} s")
                yield number, here.recv()
                number += 1
        except EOFError as error:
            process.kill()
            process.join()
            yield number, f"{FAULT}: {error or f'the process ended with {process.exitcode}'}"
            number += 1
        finally:
            process.kill()
            process.join()


def _serve(answers: Connection, name: str, seed: int, folder: Path, begin: int, end: int) -> None:
    """The other process: outcomes of the inputs in turn."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    trial = Trial(kinds()[name], seed, folder)
    trial.outcome(0)  # what is loaded and compiled once is not the inputs' memory
    peak = _limited()
    for number in range(begin, end):
        try:
            said = trial.outcome(number)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            line = f"{Path(where.filename).name}:{where.lineno}"
            said = f"{FAULT}: {type(error).__name__}: {str(error)[:200]} ({line})"
        taken = peak()
        answers.send(said if taken < MOST_MEMORY else f"{FAULT}: {taken / 2**30:.1f} GB of memory")
        if taken >= MOST_MEMORY:
            return  # the peak does not fall again


def _limited() -> Any:
    """Limits the memory of this process, and returns a function of how many bytes it has taken since."""
    try:
        import resource
    except ImportError:  # Windows knows no such limits
        return lambda: 0
    peak = lambda: (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if os.uname().sysname == "Linux" else 1)
    )
    first = peak()
    if os.path.exists("/proc/self/statm"):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + 2 * MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    return lambda: peak() - first

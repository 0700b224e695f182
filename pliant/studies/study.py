"""A study: the experiments of one paper, part by part. Each part returns what it found."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from pliant.errors import unknown_name
from pliant.io.table import Table
from pliant.studies.check import CLAIM, Check, check_table, kind_of, with_kinds
from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup, seed_of


@dataclass(frozen=True)
class Picture:
    """A figure to be written as NAME.png; `figure` is a matplotlib Figure."""

    name: str
    caption: str
    figure: Any


@dataclass(frozen=True)
class Findings:
    """What one part of a study found: tables, checks, pictures, and numbers for the JSON file."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    checks: Sequence[Check] = ()
    pictures: Sequence[Picture] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether no claim failed."""
        return all(c.passed is not False for c in self.checks) and all(t.passed for t in self.tables)

    @property
    def kinds(self) -> list[str]:
        """The kind of every check, and of every row of a table in which something is asked."""
        rows = [kind_of(row) for table in self.tables if "check" in table.columns for row in table.rows]
        return [c.kind for c in self.checks] + rows

    @property
    def claims(self) -> int:
        """How many rows decide whether the study passed."""
        return self.kinds.count(CLAIM)

    @property
    def all_tables(self) -> list[Table]:
        """The tables, and the checks as one more."""
        extra = [check_table(f"{self.title}: paper | measured", self.checks)] if self.checks else []
        return [*(with_kinds(t) for t in self.tables), *extra]


Part = Callable[[Any], Findings]


@dataclass(frozen=True)
class Study:
    """The experiments of a paper.

    `parts` are run in order; each takes what `prepare(setup)` returns: the settings, the generators and
    whatever parts share. `robots(setup)` says in a sentence whose robots they are; `shares` what is the
    paper's and what is ours, `choices` our settings and on what they were chosen.
    """

    name: str
    title: str
    source: str
    parts: Mapping[str, Part]
    prepare: Callable[[Setup], Any]
    robots: Callable[[Setup], str] = lambda setup: ""
    shares: Sequence[Share] = ()
    choices: Sequence[Choice] = ()

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.title}; parts: {', '.join(self.parts)}>"

    def _repr_html_(self) -> str:
        """In a notebook: what it repeats, and its parts."""
        return import_module("pliant.io.notebook").study_html(self)  # by name: pictures stand above

    def setup(self, *, quick: bool = False, seed: int | None = None, data: Path | None = None) -> Setup:
        """Those of a run; the seed is that of the study's name unless one is given."""
        return Setup(seed_of(self.name) if seed is None else seed, quick, data)

    def run(self, setup: Setup | None = None, *, only: Sequence[str] = ()) -> Iterator[tuple[str, Findings]]:
        """Names and findings, one by one, by default under the setup of a full run.

        A part that breaks down counts as a claim that failed: the others still run.
        """
        for name in only:
            if name not in self.parts:
                raise unknown_name("part", name, self.parts)
        shared = self.prepare(setup or self.setup())
        for name in only or self.parts:
            begin = perf_counter()
            findings = _attempted(name, self.parts[name], shared)
            yield name, replace(findings, seconds=perf_counter() - begin)


def _attempted(name: str, part: Part, shared: Any) -> Findings:
    try:
        return part(shared)
    except Exception as error:  # whatever it is, it belongs in the report
        where = "".join(traceback.format_exception(error))
        reason = f"{type(error).__name__}: {error}"
        return Findings(
            name, checks=[Check.holds("ran to its end", False, measured=reason)], data={"traceback": where}
        )

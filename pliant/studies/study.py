"""A study: the experiments of one paper, part by part. Each part returns what it found."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from pliant.errors import unknown_name
from pliant.io.table import Table
from pliant.studies.check import Check, check_table


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
        """Whether no stated check failed."""
        return all(c.passed is not False for c in self.checks) and all(t.passed for t in self.tables)

    @property
    def all_tables(self) -> list[Table]:
        """The tables, and the checks as one more."""
        extra = [check_table(f"{self.title}: paper | measured", self.checks)] if self.checks else []
        return [*self.tables, *extra]


Part = Callable[[Any], Findings]


@dataclass(frozen=True)
class Study:
    """The experiments of a paper.

    `parts` are run in order; each takes what `prepare(quick)` returns: the settings, and whatever parts
    share.
    """

    name: str
    title: str
    source: str
    parts: Mapping[str, Part]
    prepare: Callable[[bool], Any]

    def run(self, *, quick: bool = False, only: Sequence[str] = ()) -> Iterator[tuple[str, Findings]]:
        """Names and findings, one by one.

        A part that breaks down counts as a failed check: the others still run.
        """
        for name in only:
            if name not in self.parts:
                raise unknown_name("part", name, self.parts)
        shared = self.prepare(quick)
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

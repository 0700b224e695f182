"""The papers' experiments, each beside what the paper reports: `pliant reproduce STUDY`."""

from __future__ import annotations

import json as _json
from collections.abc import Sequence
from pathlib import Path

from pliant.errors import unknown_name
from pliant.studies import coevoet2017, duriez2024, goury2021, mirano2017, real, zhang2018
from pliant.studies.check import Check
from pliant.studies.report import as_data, write_report
from pliant.studies.setup import Setup
from pliant.studies.study import Findings, Picture, Study

registry: dict[str, Study] = {
    one.name: one
    for one in (
        coevoet2017.study,
        duriez2024.study,
        goury2021.study,
        mirano2017.study,
        zhang2018.study,
        real.study,
    )
}


def study(name: str) -> Study:
    """The study called `name`; an unknown name is an error with the nearest names."""
    if name not in registry:
        raise unknown_name("study", name, registry)
    return registry[name]


def reproduce(
    name: str,
    *,
    out: Path | None = None,
    quick: bool = False,
    only: Sequence[str] = (),
    seed: int | None = None,
    data: Path | None = None,
    json: Path | None = None,
) -> tuple[Path, bool]:
    """Run a study and write its report; returns the page and whether all claims hold.

    Tables are shown as they come. `out` is results/NAME by default; `only` names the parts to run; `seed`
    decides everything random that is scored (by default it is that of the study's name); `data` is a folder
    with the authors' meshes; `json` takes a copy of the numbers.
    """
    from pliant.io.terminal import console

    chosen = study(name)
    folder, findings = out or Path("results") / name, []
    setup = chosen.setup(quick=quick, seed=seed, data=data)
    parts = chosen.run(setup, only=only)
    for part in only or chosen.parts:
        with console().status(f"{chosen.title}: {part}"):
            findings.append(next(parts))
        for table in findings[-1][1].all_tables:
            table.show()
    page = write_report(chosen, findings, folder, setup)
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        numbers = as_data(chosen, findings, setup)
        json.write_text(_json.dumps(numbers, indent=1, ensure_ascii=False), "utf-8")
    return page, all(f.passed for _, f in findings)


__all__ = ["Check", "Findings", "Picture", "Setup", "Study", "registry", "reproduce", "study"]

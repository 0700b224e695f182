"""Commands that measure and compare: reproduce, bench, doctor."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import tyro

from pliant.cli.app import FAILED, File, Folder, app, project_of, save_tables
from pliant.errors import InputError, unknown_name
from pliant.io.terminal import complain, console, tell

# What can be measured, and where. Those apart are not part of "all": they need a folder, an extra or minutes.
BENCHES = {
    "calibration": "pliant.bench.calibration:calibration",
    "cantilever": "pliant.bench:cantilever",
    "closed": "pliant.hardware.bench_closed:closed_bench",
    "damping": "pliant.bench.damping:damping",
    "dynamics": "pliant.bench:dynamics",
    "fuzz": "pliant.bench.fuzz:fuzz",
    "golden": "pliant.bench:golden",
    "hand": "pliant.bench.hand:hand",
    "hardware": "pliant.hardware.bench:loop_bench",
    "large": "pliant.bench.large:large",
    "lcp": "pliant.bench:lcp_bench",
    "learning": "pliant.learning.bench:learning_bench",
    "manipulator": "pliant.bench:manipulator",
    "precision": "pliant.bench.precision:precision",
    "qpcc": "pliant.bench:qpcc_bench",
    "rates": "pliant.bench:rates",
    "reduced": "pliant.bench.reduced:reduced",
    "soak": "pliant.bench.soak:soak",
    "speed": "pliant.bench:speed",
    "stop": "pliant.hardware.bench_stop:stop_bench",
    "studio": "pliant.studio.bench:studio_bench",
    "trace": "pliant.bench.trace:trace",
    "validation": "pliant.bench:validation",
}
APART = {
    "calibration",
    "closed",
    "fuzz",
    "golden",
    "hardware",
    "large",
    "learning",
    "precision",
    "reduced",
    "soak",
    "stop",
    "studio",
    "trace",
}


@app.command
def bench(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="|".join(["all", *BENCHES]))] = "all",
    path: tyro.conf.Positional[Folder] = None,
    /,
    json: File = None,
    count: int = 10_000,
    draws: int = 40,
    steps: int = 10_000,
    seed: int = 0,
    only: str = "",
    repeat: int | None = None,
) -> int:
    """Measure accuracy and speed; exit code 1 when a stated check fails.

    Args:
        what: calibration (coverage of intervals, and wrong models), cantilever (error against cost), closed
            (feedback on a wrong model), damping (the trunk's first vibration, controlled), dynamics (time
            of a step in motion), fuzz (damaged files and messages), golden (reference equilibria in a
            folder), hand (soft hand), hardware (deadlines of the loop, ten minutes), large (one
            linearisation of large bodies, one and two threads), lcp and qpcc (solvers), learning (steps of
            the environments per second), manipulator (a tree of rods that touches itself), precision (rate
            against discretisation error), rates (steps of the inverse model per second), reduced (the
            hyper-reduced trunk), soak (every robot and scene, troubled at random), speed (one step), stop
            (from an emergency stop to the safe state), studio (how fast the page is served), trace (every
            robot by every method, compared with an earlier run), validation (closed forms and orders of
            convergence), or all but calibration, closed, fuzz, golden, hardware, large, learning,
            precision, reduced, soak, stop, studio and trace.
        path: the folder with cases.json, for golden; with earlier runs, for trace.
        json: also write the tables to this file.
        count: of fuzz, how many inputs.
        draws: of calibration, of noise.
        steps: of soak, how many in all.
        seed: of fuzz, which inputs; of soak, which episodes; of calibration, which noise.
        only: of fuzz, one kind of input; of calibration, precision, trace and soak, cases whose name
            contains it.
        repeat: of fuzz, the number of one input to read again, where a fault can be looked at; of soak, that
            of an episode.
    """
    if what not in ("all", *BENCHES):
        raise unknown_name("benchmark", what, ("all", *BENCHES))
    if what in ("golden", "trace") and path is None:
        inside = "cases.json" if what == "golden" else "an earlier trace, or an empty one"
        raise InputError(
            "path", expected=f"a folder with {inside}", got="none", hint=f"pliant bench {what} PATH"
        )
    tables: list[Any] = []
    chosen = [name for name in BENCHES if name not in APART] if what == "all" else [what]
    if what == "all":
        console().print(f"{', '.join(sorted(APART))}: skipped, ask for them by name.", style="dim")
    given = {
        "calibration": (draws, seed, only),
        "golden": (path,),
        "fuzz": (count, seed, only, repeat),
        "precision": (only,),
        "soak": (steps, seed, only, repeat),
        "trace": (path, only),
    }
    for name in chosen:
        module, _, function = BENCHES[name].partition(":")
        measure = getattr(import_module(module), function)
        with console().status(f"Measuring: {name}"):
            tables += measure(*given.get(name, ()))
    for table in tables:
        table.show()
    save_tables(tables, json)
    failed = [table.title for table in tables if not table.passed]
    if failed:
        complain(f"Checks failed in: {'; '.join(failed)}")
    return FAILED if failed else 0


@app.command
def reproduce(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    out: Folder = None,
    quick: bool = False,
    only: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PART …")] = (),
    seed: int | None = None,
    data: Folder = None,
    json: File = None,
) -> int:
    """Repeat the experiments of a paper and write a page: paper | measured, with figures.

    The exit code is 1 when a claim fails; comparisons with the paper decide nothing.

    Args:
        name: the study, such as coevoet2017.
        out: the folder to write, results/STUDY by default.
        quick: small samples, to see that it runs; a minute instead of a quarter of an hour.
        only: run some parts only.
        seed: of everything random that is scored; by default it is fixed by the study's name.
        data: a folder with meshes of the paper's authors (docs/studies.md says which); else ours are used.
        json: also write the numbers to this file (as result.json in the folder).
    """
    from pliant import studies

    page, passed = studies.reproduce(name, out=out, quick=quick, only=only, seed=seed, data=data, json=json)
    tell("Look at {}", page)
    if not passed:
        complain("Some claims failed: see the report.")
    return 0 if passed else FAILED


@app.command
def doctor(
    path: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = "", /, json: File = None
) -> int:
    """Check the installation: versions, threads, caches, extras, and a solve with a known answer.

    Of a project file it tells whether its mesh fits: how fast it is here, how accurate, and what to change.

    Args:
        path: a project file (robot.toml), instead of the installation.
        json: also write the findings to this file.
    """
    from pliant.doctor import examine

    if path:
        return _examine_project(path, json)

    with console().status("Examining"):
        table = examine()
    table.show()
    save_tables([table], json)
    return 0 if table.passed else FAILED


def _examine_project(path: str, json: Any) -> int:
    from pliant.io.table import Table
    from pliant.project.fit import fit

    with console().status("Solving it on its mesh and on a finer one"):
        found = fit(project_of(path))
    table = Table(f"The mesh of {path}", ("nodes", "coordinates", "Hz", "error %"))
    error = {"error %": None if found.error is None else 100 * found.error}
    table.add(nodes=found.nodes, coordinates=found.coordinates, Hz=found.rate, **error)
    table.notes.append(
        "Hz: steps of the inverse model a second on this machine, without contact. Error: of a small motion "
        "from rest, estimated with a mesh of half the edges"
        + (f"; not known: {found.reason}." if found.reason else ".")
    )
    table.notes.append(found.advice)
    table.show()
    return save_tables([table], json)

"""Commands for work with a robot: new, drive, report, reduce."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from pliant.cli.app import FAILED, File, Folder, Given, Model, Name, app, entry_of, project_of, save_tables
from pliant.errors import InputError
from pliant.io.notes import PUNCTUAL
from pliant.io.terminal import complain, console, note, tell


@app.command
def new(
    path: Given,
    /,
    part: File = None,
    robot: str = "",
    unit: str | None = None,
    size: str = "",
) -> int:
    """Begin a project file (robot.toml), from a part or as a copy of a robot of the gallery.

    From a part, what it does not say is guessed, to go on from.

    Args:
        path: the file to write; or the part, then the file stands beside it.
        part: a mesh (VTK, VTU, MSH, INP), or an STL or STEP part.
        robot: a robot of `pliant list`, instead of a part.
        unit: of the part, m or mm or another; guessed from its size if not given.
        size: edges of the mesh made of an STL or STEP part, such as 4mm; [m] without a unit. If not given,
            the finest mesh that reaches 25 Hz on this machine is taken.
    """
    from pliant.project import save, start
    from pliant.units import parse, quantity

    if part is None and not robot and path.suffix.lower() != ".toml":
        part, path = path, path.with_suffix(".toml")
    if (part is None) == (not robot):
        raise InputError("pliant new", expected="--part FILE or --robot NAME", got="both or none")
    _refuse_existing(path, part)
    if part is not None:
        edge = parse(size, "m", "--size") if size else None
        doing = "Choosing a mesh by its rate and its error" if edge is None else "Measuring"
        with console().status(doing) as status:
            told = lambda edge, rate: status.update(
                f"{doing}: {quantity(edge, 'm', digits=2)}, {rate:.0f} Hz"
            )
            start(part, path, unit=unit, size=edge, fitted=True, told=told)
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                break
            console().print(
                line.removeprefix("# "), style="dim", highlight=False, markup=False, soft_wrap=True
            )
    else:
        chosen = entry_of(robot)
        save(chosen.build(), path, summary=chosen.summary, laws=chosen.laws, view=chosen.view)
    tell("Look at {}, then: {}", path, f"pliant run {quote(str(path))}")
    return 0


@app.command
def drive(
    path: Given,
    /,
    aim: Annotated[tuple[str, ...], tyro.conf.arg(metavar="ROW=X,Y,Z")] = (),
    seconds: float | None = None,
    dry_run: bool = False,
    emulate: bool = False,
    record: File = None,
    deadlines: float = PUNCTUAL,
    model: Model = "auto",
) -> int:
    """Drive the devices of a project file (its [hardware] table). Space, escape, q or Ctrl+C stop it.

    The exit code is 1 if it failed, a watchdog ended it, or fewer deadlines were met than asked for.

    Args:
        path: the project file.
        aim: targets instead of the file's: "tip=30mm,0,180mm", or in SI units, "tip=0.03,0,0.18".
        seconds: how long; until stopped if not given.
        dry_run: everything but the devices.
        emulate: emulators answer in place of the devices, on ports of their own: the whole way but the metal.
        record: write what happens to this new file (.mcap); one that is there already is never overwritten.
        deadlines: the share of them that must be met, from 0 to 1.
        model: full, reduced, or auto for the reduced one where it fits (see `pliant reduce`).
    """
    from pliant.project.drive import drive as drive_devices

    if not 0.0 <= deadlines <= 1.0:
        raise InputError("--deadlines", expected="a share from 0 to 1", got=deadlines)
    aims = dict(_parse_aim(text) for text in aim)
    if dry_run and emulate:
        raise InputError("pliant drive", expected="--dry-run or --emulate", got="both")
    stops = "Space, escape, q or Ctrl+C stop it."
    first = "Dry run: nothing is sent." if dry_run else f"With emulators. {stops}" if emulate else stops
    console().print(first, style="dim")
    options = {"dry_run": dry_run, "emulate": emulate, "model": model, "told": note}
    outcome = drive_devices(path, aims=aims, seconds=seconds, record=record, **options)
    console().print(str(outcome), highlight=False, markup=False, soft_wrap=True)
    late = outcome.met < deadlines
    if late:
        complain(
            f"Only {100 * outcome.met:.3g} % of the deadlines were met, {100 * deadlines:.3g} % are asked "
            "for: commands left late, and the robot moved slower than its model. "
            f"Lower the rate in {path} from {1.0 / outcome.period:g} Hz, make a fast model "
            f"(`pliant reduce {path}`), or give this machine less to do."
        )
    return 0 if outcome.status in ("done", "stopped") and not late else FAILED


@app.command(name="report")
def report_recording(path: Given, /, out: Folder = None) -> int:
    """Draw what a recording (a .mcap file) holds: pictures, curves over time, and what happened.

    Args:
        path: the recording.
        out: the folder to write, results/NAME by default.
    """
    from pliant.io.run_report import run_report

    with console().status("Drawing"):
        page = run_report(path, out or Path("results") / path.stem)
    tell("Look at {}", page)
    return 0


@app.command
def reduce(
    name: Name,
    /,
    out: Folder = None,
    plan: str = "few",
    postures: int = 48,
    turns: int = 1,
    tolerance: float = 1e-4,
    modes: int | None = None,
    cells: int | None = None,
    contact_modes: int | None = 0,
    error: float = 0.01,
    cluster: str = "",
    json: File = None,
) -> int:
    """Make a reduced model of a robot: of a project file one that run, view and drive use from then on.

    Its commands come from the limits of the file's rows; of the options, it takes error, cluster and json. Of
    a robot of the gallery it makes model.npz and a report, with its modes, errors and speed-up.

    Args:
        name: a project file (robot.toml), or a robot of `pliant list`.
        out: the folder to write, "results/NAME reduced" by default. Snapshots in it are used again.
        plan: how the robot is driven: few (a few actuators at a time), halton, latin-hypercube,
            plackett-burman, grid or pull.
        postures: of the plan.
        turns: the robot looks the same after each n-th of a turn about the vertical: its snapshots count n
            times.
        tolerance: of the basis, the share of the motion that it may miss.
        modes: of the basis, instead of as many as the tolerance needs.
        cells: at most so many stand for the mesh.
        contact_modes: of contact forces; 0 leaves contacts as they are.
        error: of the stroke, that held-out motions may miss; more fails the check.
        cluster: the address of a scheduler of dask.distributed, tcp://host:8786, whose workers make the
            snapshots of a project file.
        json: also write the numbers to this file.
    """
    if name.endswith(".toml"):
        return _reduce_project(name, error, cluster, json)
    if cluster:
        raise InputError("--cluster", expected="a project file (robot.toml)", got=repr(name))
    from pliant.studies.reduce import Options, reduce_named

    options = Options(
        plan=plan,
        postures=postures,
        turns=turns,
        tolerance=tolerance,
        modes=modes,
        cells=cells,
        contact_modes=contact_modes,
        error=error,
    )
    page, passed = reduce_named(name, out, options, json=json)
    tell("Look at {}", page)
    return 0 if passed else FAILED


def _reduce_project(path: str, error: float, address: str, json: File) -> int:
    from pliant.io.table import Table
    from pliant.project.reduced import make, place_of
    from pliant.reduction.cluster import connected

    project = project_of(path)
    with connected(address) as executor:
        made = make(project, error=error, executor=executor, progress=True)
    table = Table(
        f"Reduced model of {path}", ("modes", "coordinates", "error mm", "stroke mm", "error %", "check")
    )
    facts = made.facts
    table.add(
        modes=sum(len(model.basis) for model in made.models),
        coordinates=made.full.ndof,
        **{
            "error mm": 1e3 * facts["error"],
            "stroke mm": 1e3 * facts["stroke"],
            "error %": 100 * made.share,
        },
        check=made.share <= error,
    )
    table.notes.append(
        f"Error: the largest of an effector on {facts['held']} held-out motions, of the stroke. "
        f"{len(facts['failed'])} failed. Learnt from {facts['snapshots']} equilibria."
    )
    table.notes += [f"{sentence}; it is made for as far as that." for sentence in facts.get("short", ())]
    table.show()
    save_tables([table], json)
    tell("{} is used by run, view and drive; {} runs the full model.", place_of(project), "--model full")
    return 0 if table.passed else FAILED


def _refuse_existing(path: Path, part: Path | None) -> None:
    """Refuse to overwrite a project file, or the mesh that would be written beside it."""
    from pliant.io.recording import taken
    from pliant.mesh.files import FORMATS

    beside = () if part is not None and part.suffix.lower() in FORMATS else (".vtu", ".npz")
    for file in (path, *map(path.with_suffix, beside)):
        if file.exists():
            raise taken(file)


def _parse_aim(text: str) -> tuple[str, list[float]]:
    """ "tip=0.03,0,0.18" → ("tip", [0.03, 0, 0.18])."""
    from pliant.units import parse

    row, equals, value = text.partition("=")
    if not (row.strip() and equals):
        raise InputError("--aim", expected="ROW=X,Y,Z", got=repr(text), hint='Such as "tip=30mm,0,180mm".')
    return row.strip(), [parse(part, "m", f"--aim {row.strip()}") for part in value.split(",")]

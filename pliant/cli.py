"""The command line. Heavy imports stand inside the functions, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tyro

from pliant.errors import InputError, PliantError, PliantWarning, unknown_name
from pliant.io.terminal import complain, console, drive_with_progress, summarise, warn

FAILED, ERROR, INTERRUPTED = 1, 2, 130

DESCRIPTION = "Model, simulate and control soft robots. Begin with: pliant run trunk"
COMMANDS = ("list", "run", "view", "new", "drive", "report", "reproduce", "bench", "doctor")

app = tyro.extras.SubcommandApp()
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]
Settings = Annotated[
    tuple[tuple[str, ...], ...],
    tyro.conf.UseAppendAction,
    tyro.conf.arg(name="set", metavar="ROW=WHAT:VALUE"),
]


@app.command(name="list")
def list_robots(json: File = None) -> int:
    """Show the robots of the gallery.

    Args:
        json: also write the table to this file.
    """
    from pliant.bench import Table
    from pliant.robots import gallery

    table = Table("Robots of the gallery", ("robot", "what"))
    for name, entry in gallery.items():
        table.add(robot=name, what=entry.summary)
    table.show()
    console().print("Try [bold]pliant run trunk[/bold]. In Python: pliant.robots.trunk().", highlight=False)
    return _save([table], json)


@app.command
def run(
    name: Name,
    /,
    out: Folder = None,
    steps: int = 10,
    json: File = None,
    settings: Settings = (),
) -> int:
    """Drive a robot and write a folder with a page, a picture, curves and numbers.

    Args:
        name: a robot of `pliant list`, or a project file (robot.toml).
        out: the folder to write, results/NAME by default.
        steps: load steps to the final command.
        json: also write the numbers to this file (as result.json in the folder).
        settings: commands instead of the demonstration's, in SI units: "cable 1=displacement:0.02" pulls a cable in by
            20 mm, "chamber=effort:3e4" is a pressure of 30 kPa. Rows that are not named get no effort.
    """
    chosen = _entry(name)
    laws = dict(parse_setting(text) for group in settings for text in group) or dict(chosen.laws)
    robot = chosen.build()
    for row in laws:
        robot.named(row)
    results, first = drive_with_progress(robot, laws, steps)
    folder = out or Path("results") / Path(name).stem
    with console().status("Drawing the picture and writing the report"):
        page = _report(results, folder, chosen, laws)
    summarise(results, laws, first)
    if json is not None:
        _copy(folder / "result.json", json)
    console().print(f"Look at [bold]{page}[/bold]", highlight=False, soft_wrap=True)
    return 0 if results[-1].certificate.converged else FAILED


@app.command
def view(
    name: Name,
    /,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    folder: Folder = None,
    hardware: bool = False,
) -> int:
    """Open a robot in the browser, live; or a recording (a .mcap file), as a player beside it.

    Args:
        name: a robot of `pliant list`, a project file (robot.toml), or a recording.
        host: the address to listen on. Other than this machine's own, the page opens only with the token in its link.
        port: the port to listen on, 0 for any that is free.
        browser: open the page; otherwise only print its link.
        folder: where recordings go, results/recordings by default.
        hardware: the devices of the project file follow what is shown; pause and reset are emergency stops.
    """
    import webbrowser
    from contextlib import ExitStack

    if name.endswith(".mcap"):
        from pliant.io.player import export

        page = export(name, Path(name).with_suffix(".html"))
        console().print(f"Look at [bold]{page}[/bold]", highlight=False, soft_wrap=True)
        if browser:
            webbrowser.open(page.resolve().as_uri())
        return 0
    from pliant.studio import view as open_studio

    project = _project(name) if name.endswith(".toml") else None
    if hardware and project is None:
        raise InputError("--hardware", expected="a project file (robot.toml)", got=repr(name))
    with ExitStack() as stack:
        shown = project.robot if project else name
        window = stack.enter_context(open_studio(shown, host=host, port=port, browser=browser, folder=folder))
        if hardware and project is not None:
            from pliant.project.drive import following

            stack.enter_context(following(window, project))
        console().print(
            f"The studio is at [bold]{window.url}[/bold]. Ctrl+C ends it.", highlight=False, soft_wrap=True
        )
        window.wait()
    return 0


@app.command
def new(
    path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
    /,
    part: File = None,
    robot: str = "",
    unit: str | None = None,
    size: float | None = None,
) -> int:
    """Begin a project file (robot.toml): from a part, with guesses to go on from, or as a copy of a robot of the gallery.

    Args:
        path: the file to write.
        part: a mesh (VTK, VTU, MSH, INP), or an STL or STEP part.
        robot: a robot of `pliant list`, instead of a part.
        unit: of the part, m or mm or another; guessed from its size if not given.
        size: edges of the mesh made of an STL or STEP part [m].
    """
    from pliant.project import save, start

    if (part is None) == (not robot):
        raise InputError("pliant new", expected="--part FILE or --robot NAME", got="both or none")
    if part is not None:
        start(part, path, unit=unit, size=size)
    else:
        chosen = _entry(robot)
        save(chosen.build(), path, summary=chosen.summary, laws=chosen.laws, view=chosen.view)
    console().print(f"Look at [bold]{path}[/bold], then: pliant run {path}", highlight=False, soft_wrap=True)
    return 0


@app.command
def reproduce(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    out: Folder = None,
    quick: bool = False,
    only: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PART …")] = (),
    json: File = None,
) -> int:
    """Repeat the experiments of a paper, paper | measured, and write a page with the figures; exit code 1 when a stated
    check fails.

    Args:
        name: the study, such as coevoet2017.
        out: the folder to write, results/STUDY by default.
        quick: small samples, to see that it runs; a minute instead of a quarter of an hour.
        only: run some parts only.
        json: also write the numbers to this file (as result.json in the folder).
    """
    from pliant import studies

    page, passed = studies.reproduce(name, out=out, quick=quick, only=only, json=json)
    console().print(f"Look at [bold]{page}[/bold]", highlight=False, soft_wrap=True)
    if not passed:
        complain("Some checks failed: see the report.")
    return 0 if passed else FAILED


@app.command
def drive(
    path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
    /,
    aim: Annotated[tuple[str, ...], tyro.conf.arg(metavar="ROW=X,Y,Z")] = (),
    seconds: float | None = None,
    dry_run: bool = False,
    record: File = None,
) -> int:
    """Drive the devices of a project file (its [hardware] table). Space, escape, q or Ctrl+C stop it.

    Args:
        path: the project file.
        aim: targets instead of the file's, in SI units: "tip=0.03,0,0.18".
        seconds: how long; until stopped if not given.
        dry_run: everything but the devices.
        record: write what happens to this file (.mcap).
    """
    from pliant.project.drive import drive as drive_devices

    aims = dict(_parse_aim(text) for text in aim)
    found = drive_devices(path, aims=aims, seconds=seconds, dry_run=dry_run, record=record)
    console().print(str(found), highlight=False, soft_wrap=True)
    return 0 if found.status in ("done", "stopped") else FAILED


@app.command(name="report")
def report_recording(
    path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")], /, out: Folder = None
) -> int:
    """Draw what a recording (a .mcap file) holds: pictures, curves over time, what was sent and read, what happened.

    Args:
        path: the recording.
        out: the folder to write, results/NAME by default.
    """
    from pliant.io.run_report import run_report

    with console().status("Drawing"):
        page = run_report(path, out or Path("results") / path.stem)
    console().print(f"Look at [bold]{page}[/bold]", highlight=False, soft_wrap=True)
    return 0


# What can be measured, and where; those apart are not part of "all": they need a folder, an extra, or minutes.
BENCHES = {
    "cantilever": "pliant.bench:cantilever",
    "closed": "pliant.hardware.bench_closed:closed_bench",
    "speed": "pliant.bench:speed",
    "dynamics": "pliant.bench:dynamics",
    "golden": "pliant.bench:golden",
    "hardware": "pliant.hardware.bench:loop_bench",
    "lcp": "pliant.bench:lcp_bench",
    "learning": "pliant.learning.bench:learning_bench",
    "manipulator": "pliant.bench:manipulator",
    "qpcc": "pliant.bench:qpcc_bench",
    "rates": "pliant.bench:rates",
    "studio": "pliant.studio.bench:studio_bench",
    "validation": "pliant.bench:validation",
}
APART = {"closed", "golden", "hardware", "learning", "studio"}


@app.command
def bench(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="|".join(["all", *BENCHES]))] = "all",
    path: tyro.conf.Positional[Folder] = None,
    /,
    json: File = None,
) -> int:
    """Measure accuracy and speed; exit code 1 when a stated check fails.

    Args:
        what: cantilever (error against cost), closed (feedback on a wrong model), dynamics (time of a step in motion), golden
            (reference equilibria in a folder), hardware (deadlines of the loop, ten minutes), lcp and qpcc (solvers), learning (steps
            of the environments per second), manipulator (a tree of rods that touches itself), rates (steps of the inverse model
            per second), speed (one step), studio (how fast the page is served), validation (closed forms and orders of
            convergence), or all but closed, golden, hardware, learning and studio.
        path: the folder with cases.json, for golden.
        json: also write the tables to this file.
    """
    if what not in ("all", *BENCHES):
        raise unknown_name("benchmark", what, ("all", *BENCHES))
    if what == "golden" and path is None:
        raise InputError(
            "path", expected="a folder with cases.json", got="none", hint="pliant bench golden PATH"
        )
    tables: list[Any] = []
    chosen = [name for name in BENCHES if name not in APART] if what == "all" else [what]
    if what == "all":
        console().print(f"{', '.join(sorted(APART))}: skipped, ask for them by name.", style="dim")
    for name in chosen:
        module, _, function = BENCHES[name].partition(":")
        measure = getattr(import_module(module), function)
        with console().status(f"Measuring: {name}"):
            tables += measure(path) if name == "golden" else measure()
    for table in tables:
        table.show()
    _save(tables, json)
    failed = [table.title for table in tables if not table.passed]
    if failed:
        complain(f"Checks failed in: {'; '.join(failed)}")
    return FAILED if failed else 0


@app.command
def doctor(json: File = None) -> int:
    """Check the installation: versions, threads, caches, extras, and a solve with a known answer.

    Args:
        json: also write the findings to this file.
    """
    from pliant.doctor import examine

    with console().status("Examining"):
        table = examine()
    table.show()
    _save([table], json)
    return 0 if table.passed else FAILED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 fine, 1 a check failed, 2 wrong input or no solution."""
    import warnings

    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        from importlib.metadata import version

        print(f"pliant {version('pliant')}")
        return 0
    try:
        if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
            raise unknown_name("command", arguments[0], COMMANDS)
        with warnings.catch_warnings():
            warnings.simplefilter("default", PliantWarning)
            warnings.showwarning = warn
            return int(app.cli(prog="pliant", description=DESCRIPTION, args=arguments or ["--help"]) or 0)
    except PliantError as error:
        complain(str(error))
        return ERROR
    except OSError as error:
        complain(f"{error.filename or 'file'}: {error.strerror or error}")
        return ERROR
    except KeyboardInterrupt:
        complain("Interrupted.")
        return INTERRUPTED
    except SystemExit as stop:  # --help, or arguments that do not parse
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else ERROR


def parse_setting(text: str) -> tuple[str, Any]:
    """ "cable 1=displacement:0.02" → ("cable 1", Known(displacement=0.02)); several numbers are parted by commas."""
    from pliant.laws import Known

    row, equals, command = text.partition("=")
    kind, colon, value = command.partition(":")
    expected = "ROW=effort:VALUE or ROW=displacement:VALUE"
    if not (row.strip() and equals and colon) or kind.strip() not in ("effort", "displacement"):
        raise InputError(
            "--set", expected=expected, got=repr(text), hint='Such as --set "cable 1=displacement:0.02".'
        )
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        raise InputError(f"--set {row.strip()}", expected="a number in SI units", got=repr(value)) from None
    number = numbers[0] if len(numbers) == 1 else numbers
    return row.strip(), Known(effort=number) if kind.strip() == "effort" else Known(displacement=number)


def _parse_aim(text: str) -> tuple[str, list[float]]:
    """ "tip=0.03,0,0.18" → ("tip", [0.03, 0, 0.18])."""
    row, _, value = text.partition("=")
    try:
        return row.strip(), [float(part) for part in value.split(",")]
    except ValueError:
        raise InputError("--aim", expected="ROW=X,Y,Z in SI units", got=repr(text)) from None


def _entry(name: str) -> Any:
    """A robot of the gallery, or of a project file."""
    if name.endswith(".toml"):
        return _project(name).entry()
    from pliant.robots import entry

    return entry(name)


def _project(path: str) -> Any:
    from pliant.project import load

    return load(path)


def _report(results: list[Any], folder: Path, chosen: Any, laws: Any) -> Path:
    from pliant.io.picture import View
    from pliant.io.report import report

    sentence = f"{chosen.summary[0].upper()}{chosen.summary[1:]}."
    return report(results, folder, summary=sentence, laws=laws, view=View(*chosen.view))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())


def _save(tables: list[Any], path: Path | None) -> int:
    if path is not None:
        from pliant.bench import save

        save(tables, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

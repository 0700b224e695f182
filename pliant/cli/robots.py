"""Commands that show a robot: list, run, view."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro

from pliant.cli.app import (
    FAILED,
    File,
    Folder,
    Model,
    Name,
    app,
    entry_of,
    project_of,
    refuse_part,
    save_tables,
)
from pliant.errors import InputError, PliantError
from pliant.io.terminal import complain, console, drive_with_progress, note, summarise, tell

Settings = Annotated[
    tuple[tuple[str, ...], ...],
    tyro.conf.UseAppendAction,
    tyro.conf.arg(name="set", metavar="ROW=WHAT:VALUE"),
]


@app.command(name="list")
def list_robots(json: File = None) -> int:
    """Show what `run` and `view` take: the robots of the gallery, grippers, and the hand of the studio.

    Args:
        json: also write the table to this file.
    """
    from pliant.io.table import Table
    from pliant.robots import gallery, grippers
    from pliant.studio.view import HAND

    table = Table("Robots", ("robot", "commands", "what"))
    for name, entry in gallery.items():
        table.add(robot=name, commands="run, view", what=entry.summary)
    for name, entry in grippers.items():
        table.add(robot=name, commands="view", what=entry.summary)
    table.add(robot="hand", commands="view", what=HAND)
    table.show()
    tell("Both also take a project file (robot.toml), view a recording (.mcap). Try {}.", "pliant run trunk")
    return save_tables([table], json)


@app.command
def run(
    name: Name,
    /,
    out: Folder = None,
    steps: int = 10,
    json: File = None,
    settings: Settings = (),
    model: Model = "auto",
) -> int:
    """Drive a robot and write a folder with a page, a picture, curves and numbers.

    Args:
        name: a robot of `pliant list`, or a project file (robot.toml).
        out: the folder to write, results/NAME by default.
        steps: load steps to the final command.
        json: also write the numbers to this file (as result.json in the folder).
        settings: commands instead of the demonstration's: "cable 1=length:20mm", "cable 1=tension:1.5N",
            "chamber=pressure:30kPa"; also "cable 1=20mm", and effort or displacement, in SI units where none
            is said. Rows that are not named get no effort.
        model: of a project file: full, reduced, or auto for the reduced one where it fits.
    """
    from pliant.project.command import beyond, check_limits, setting

    project = project_of(name) if name.endswith(".toml") else None
    chosen = project.entry() if project is not None else entry_of(name)
    robot = chosen.build()
    laws = dict(setting(robot, text) for group in settings for text in group) or dict(chosen.laws)
    check_limits(robot, laws)
    fast = _fast_of(project, model) if project is not None else None
    results, first = drive_with_progress(robot if fast is None else fast.robot, laws, steps)
    if fast is not None and not _trusted(fast, results[-1], laws):
        results, first = drive_with_progress(robot, laws, steps)
    folder = out or Path("results") / Path(name).stem
    with console().status("Drawing the picture and writing the report"):
        page = _report(results, folder, chosen, laws)
    summarise(results, laws, first)
    for sentence in beyond(robot, laws, results[-1].effort):
        complain(f"Beyond its limits: {sentence}")
    if project is not None and fast is None:
        _tell_fit(project)
    if json is not None:
        _copy(folder / "result.json", json)
    tell("Look at {}", page)
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
    model: Model = "auto",
) -> int:
    """Open a robot in the browser, live; or a recording (a .mcap file), as a player beside it.

    Args:
        name: a robot of `pliant list`, a project file (robot.toml), or a recording.
        host: the address to listen on. Other than this machine's own, the page opens only with the token in
            its link.
        port: the port to listen on, 0 for any that is free.
        browser: open the page; otherwise only print its link.
        folder: where recordings go, results/recordings by default.
        hardware: the devices of the project file follow what is shown; pause and reset are emergency stops.
        model: of a project file: full, reduced, or auto for the reduced one where it fits.
    """
    import webbrowser
    from contextlib import ExitStack

    if name.endswith(".mcap"):
        from pliant.io.player import export

        page = export(name, Path(name).with_suffix(".html"))
        tell("Look at {}", page)
        if browser:
            webbrowser.open(page.resolve().as_uri())
        return 0
    refuse_part(name)
    from pliant.studio import view as open_studio

    project = project_of(name) if name.endswith(".toml") else None
    if hardware and project is None:
        raise InputError("--hardware", expected="a project file (robot.toml)", got=repr(name))
    fast = None if project is None else _fast_of(project, model)
    with ExitStack() as stack:
        shown = project.robot if project else name
        options = {"host": host, "port": port, "browser": browser, "folder": folder}
        options |= {"fast": fast, "project": project}
        window = stack.enter_context(open_studio(shown, **options))
        if hardware and project is not None:
            from pliant.project.drive import following

            follower = stack.enter_context(following(window, project))
            follower.emergency.listen(_tell_stop)
        tell("The studio is at {}. Ctrl+C ends it.", window.url)
        window.wait()
    return 0


def _fast_of(project: Any, model: str) -> Any:
    """The reduced model to run, None for the full one; says which."""
    from pliant.project.reduced import chosen

    fast, words = chosen(project, model)
    note(words)
    return fast


def _tell_fit(project: Any) -> None:
    """How fast the project is here, how accurate its mesh, and what follows; or why that is not known."""
    from pliant.project.fit import kept

    with console().status("Measuring how fast it is, and how accurate"):
        try:
            sentence = str(kept(project))
        except PliantError as error:
            sentence = f"How fast and accurate it is, is not known: {error}"
    note(sentence)


def _trusted(fast: Any, result: Any, laws: Any) -> bool:
    """Whether a run by a reduced model ends as near to the full model as it is trusted to; says it."""
    from pliant.project.reduced import settled
    from pliant.units import quantity

    error, found = settled(fast, result, laws)
    off = f"{quantity(error, 'm', digits=2)} from the full one's equilibrium"
    if found and error <= fast.bound:
        tell(f"The reduced model ends {off}.")
        return True
    why = f"the reduced one ends {off}" if found else "it finds no equilibrium near the reduced one's"
    complain(f"The full model runs instead: {why}; {quantity(fast.bound, 'm', digits=2)} are trusted.")
    return False


def _tell_stop(reason: str) -> None:
    console().print(
        f"Stopped: {reason}. The devices are in their safe state; start again to go on.", highlight=False
    )


def _report(results: list[Any], folder: Path, chosen: Any, laws: Any) -> Path:
    from pliant.io.picture import View
    from pliant.io.report import report

    sentence = f"{chosen.summary[0].upper()}{chosen.summary[1:]}."
    return report(results, folder, summary=sentence, laws=laws, view=View(*chosen.view))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())

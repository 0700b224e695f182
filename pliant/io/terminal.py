"""What the command line shows: progress, tables, complaints. Rich is imported when something is shown."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pliant.io.characters import visible

if TYPE_CHECKING:
    from pliant.laws import Known
    from pliant.result import Result
    from pliant.robot import Robot
    from pliant.static import Progress

STARTED = perf_counter()


def console(*, stderr: bool = False) -> Any:
    """The terminal. It shows a string as it is, without markup."""
    from pliant.io.console import PlainConsole

    return PlainConsole(stderr=stderr)


def tell(sentence: str, *values: Any) -> None:
    """One line on the terminal; each {} in the sentence is one of the values, in bold."""
    from rich.text import Text

    first, *others = sentence.split("{}")
    line = Text(first)
    for value, words in zip(values, others, strict=True):
        line.append(visible(str(value)), "bold").append(words)
    console().print(line, soft_wrap=True)


def note(sentence: str) -> None:
    """One dim line on the terminal."""
    console().print(visible(sentence), style="dim", highlight=False, markup=False, soft_wrap=True)


def complain(message: str) -> None:
    """One red line on stderr."""
    _line(message, "bold red")


def warn(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """One yellow line on stderr; takes the place of `warnings.showwarning`."""
    _line(str(message), "yellow")


def _line(message: str, style: str) -> None:
    from rich.text import Text

    console(stderr=True).print(Text(visible(" ".join(message.split())), style=style), soft_wrap=True)


def drive_with_progress(robot: Robot, laws: Mapping[str, Known], steps: int) -> tuple[list[Result], float]:
    """Results along the load path, and the time from the start of the program to the first of them [s]."""
    from rich import progress as bar

    from pliant import robots

    text = bar.TextColumn("{task.description}", markup=False)
    columns = (bar.SpinnerColumn(), text, bar.BarColumn(), bar.MofNCompleteColumn())
    results, first = [], 0.0
    with bar.Progress(*columns, bar.TimeElapsedColumn(), console=console(), transient=True) as progress:
        task = progress.add_task("First step (compiles once after an installation)", total=steps + 1)

        def tell_load(at: Progress) -> None:
            """Where a step takes long: how much of its load is in balance, after how many iterations."""
            if at.iterations:
                load = f"{100 * at.share:.0f} % of the load of this step, {at.iterations} iterations"
                progress.update(task, description=visible(f"Driving the {robot.name}: {load}"))

        for result in robots.drive(robot, laws, steps=steps, progress=tell_load):
            first = first or perf_counter() - STARTED
            results.append(result)
            progress.update(task, advance=1, description=visible(f"Driving the {robot.name}"))
    return results, first


def summarise(results: list[Result], laws: Mapping[str, Known], first: float) -> None:
    """The final state as a short table."""
    from pliant.io.report import imposed_text
    from pliant.io.table import Table
    from pliant.units import quantity

    last = results[-1]
    columns = ("what", "imposed", "displacement", "effort")
    table = Table(f"{last.robot.name.capitalize()}: final state", columns)
    for name, row in last.robot.rows.items():
        if name in laws or row.law.role == "effector":
            table.add(
                what=name,
                imposed=imposed_text(laws.get(name)),
                displacement=quantity(last.displacement[name], row.interaction.unit),
                effort=quantity(last.effort[name], row.interaction.effort_unit) if name in laws else "",
            )
    solving = sum(r.timings.get("total", 0.0) for r in results)
    table.notes.append(str(last.certificate))
    table.notes += [f"On the way it {event}." for result in results for event in result.events]
    table.notes.append(f"First step {first:.1f} s after the start, {len(results)} steps in {solving:.1f} s.")
    table.show()

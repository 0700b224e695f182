"""Long work on a project in a process of its own, so that what shows the robot keeps its core.

    python -m pliant.project.aside reduce PATH

The text of the file comes on stdin; each report is a line of JSON. The text need not be that of the file at
PATH: meshes are looked for beside it, results kept there. To begin a file, it says of which part, in JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, PliantWarning
from pliant.project.project import of_text

POLITENESS = 5  # by which its priority is lower
Say = Callable[..., None]


class Aside:
    """A task of TASKS on a project file; iterate over what it reports.

        for report in Aside("reduce", path, text):
            print(report.get("done"), report.get("total"))

    A PliantError of the task is raised from the loop, and one that says that it was stopped.
    """

    def __init__(self, task: str, path: Path, text: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, task, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, self._process.terminate)  # also at the end of this program
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as file:  # if it has ended, the loop says so
            file.write(text.encode())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                report = json.loads(line)
                if "refused" in report:
                    self._process.wait()
                    raise PliantError(report["refused"])
                yield report
        code = self._process.wait()
        if code:
            raise PliantError("It was stopped." if code < 0 else f"Its process ended with code {code}.")

    def stop(self) -> None:
        """End the process; what it kept in files stays."""
        self._process.terminate()


def _begin(path: Path, text: str, say: Say) -> None:
    """Write the project file of a part, and its mesh; reports the edges and rate of each that is tried.

    And what is doubtful about the part.
    """
    from pliant.project.guess import start

    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always", PliantWarning)
        start(path=path, lively=True, told=lambda edge, rate: say(edge=edge, rate=rate), **json.loads(text))
    for doubt in dict.fromkeys(str(warning.message) for warning in doubts):
        say(doubt=doubt)


def _reduce(path: Path, text: str, say: Say) -> None:
    """Make the reduced model and keep it; reports how many equilibria are done, of how many."""
    from pliant.project.reduced import make

    make(of_text(path, text), progress=lambda done, total: say(done=done, total=total))


def _judge(path: Path, text: str, say: Say) -> None:
    """Report how fast the robot, or its reduced model, is here [Hz], and the error of its mesh (a share)."""
    from pliant.project.fit import rates
    from pliant.project.mesh_error import discretisation_error
    from pliant.project.reduced import chosen

    project = of_text(path, text)
    fast, _ = chosen(project)
    say(rate=rates(project.robot if fast is None else fast.robot)[0])
    say(error=discretisation_error(project))


TASKS = {"begin": _begin, "reduce": _reduce, "judge": _judge}


def main(task: str, path: str) -> None:
    """Do a task; faults of ours end it with a traceback and an exit code."""

    def say(**report: Any) -> None:
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()

    with suppress(AttributeError, OSError):
        os.nice(POLITENESS)
    try:
        TASKS[task](Path(path), sys.stdin.buffer.read().decode(), say)
    except PliantError as error:
        say(refused=str(error))
    except BrokenPipeError:  # nobody listens any more
        os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The command line. Heavy imports stand inside the commands, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pliant.cli import checks, completion, robots, work  # noqa: F401  (their commands)
from pliant.cli.app import ERROR, FAILED, INTERRUPTED, app
from pliant.errors import PliantError, PliantWarning, unknown_name
from pliant.io.characters import write_readably
from pliant.io.terminal import complain, warn

DESCRIPTION = "Model, simulate and control soft robots. Begin with: pliant run trunk"
COMMANDS = (
    "list",
    "run",
    "view",
    "new",
    "drive",
    "report",
    "reduce",
    "reproduce",
    "bench",
    "doctor",
    "completion",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 fine, 1 a check failed, 2 wrong input or no solution."""
    import warnings

    for stream in (sys.stdout, sys.stderr):
        write_readably(stream)
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


__all__ = ["COMMANDS", "ERROR", "FAILED", "INTERRUPTED", "main"]

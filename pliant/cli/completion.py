"""The command that tells a shell what can follow."""

from __future__ import annotations

from typing import Annotated, Literal

import tyro

from pliant.cli.app import app

Shell = Annotated[Literal["bash", "zsh", "tcsh"], tyro.conf.Positional]


@app.command
def completion(shell: Shell, /) -> int:
    """Print what a shell needs to complete commands and options.

    For bash, in ~/.bashrc: source <(pliant completion bash). For zsh: pliant completion zsh >
    ~/.zfunc/_pliant, with that folder in fpath.

    Args:
        shell: bash, zsh or tcsh.
    """
    from pliant.cli import DESCRIPTION

    return int(app.cli(prog="pliant", description=DESCRIPTION, args=["--tyro-print-completion", shell]) or 0)

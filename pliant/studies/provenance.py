"""Where everything in a study comes from: the paper or us, and on what our settings were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pliant.io.table import Table


class Share(NamedTuple):
    """One thing of a study: what the paper has, what stands here, and why where they differ."""

    what: str
    paper: str
    here: str
    why: str = ""


class Choice(NamedTuple):
    """A setting of ours: its value, and on what it was chosen."""

    what: str
    value: str
    on: str


def share_table(shares: Sequence[Share]) -> Table:
    """What is the paper's, what is ours and why."""
    table = Table("What is the paper's, what is ours and why", ("what", "the paper's", "here", "why"))
    for one in shares:
        table.add(what=one.what, here=one.here, why=one.why, **{"the paper's": one.paper})
    return table


def choice_table(choices: Sequence[Choice]) -> Table:
    """What was chosen, and on what."""
    table = Table("What was chosen, and on what", ("what", "value", "on what"))
    for one in choices:
        table.add(what=one.what, value=one.value, **{"on what": one.on})
    return table

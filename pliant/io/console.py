"""A terminal that shows text as it is: brackets, colons and control codes in it command nothing."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from pliant.io.characters import readable, visible


class PlainConsole(Console):
    """Rich's console for strings of any origin, such as names in a file.

    Style is given by `Text`, never by markup in a string.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """The string in characters that this terminal has, before it is laid out: columns stay straight."""
        return super().render_str(readable(visible(text), self.encoding), **options)

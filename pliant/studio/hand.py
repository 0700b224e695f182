"""Open the studio on a soft hand: drag the object's target, see fingers, skins and forces."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any, cast

from pliant.membrane.hand import Hand
from pliant.membrane.session import HandSession
from pliant.studio.desk import Desk
from pliant.studio.view import HAND, Window, open_window


def view_hand(
    hand: Hand | None = None,
    *,
    period: float = 0.02,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    folder: str | Path | None = None,
    **options: Any,
) -> Window:
    """Open the studio on a hand (that of the thesis) and return; `options` as of `HandSession`."""
    place = Path(folder) if folder is not None else Path("results") / "recordings"
    opener = cast(Any, lambda: HandSession(hand, period=period, summary=HAND, **options))
    return open_window(
        lambda: Desk({"hand": opener}, "hand", folder=place),
        summaries={"hand": HAND},
        host=host,
        port=port,
        listening=webbrowser.open if browser else None,
    )

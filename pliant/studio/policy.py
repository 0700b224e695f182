"""What a browser may do with the page of the studio: run its own scripts, and talk to the server it came from."""

from __future__ import annotations

from pliant.io.policy import policy as rules
from pliant.io.policy import scripts_of


def policy(text: str) -> str:
    """A content security policy under which the page's own scripts run, and nothing else is fetched."""
    return rules(scripts_of(text), served=True)

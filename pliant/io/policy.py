"""What a browser may do with a page: run the page's own scripts, and nothing that came with its data."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

# Pages of this machine's own servers, such as a notebook's.
LOCAL_PAGES = "http://localhost:* http://127.0.0.1:*"


def policy(scripts: Iterable[str] = (), *, served: bool = False, framed: bool = False) -> str:
    """A content security policy under which these scripts run, given by their texts, and no others.

    With scripts, a page may also show pictures and films that they made. A page that is `served` may talk to
    its server, and stands in no frame, or, `framed`, in those of pages of this machine; a file has no server,
    and cannot forbid frames.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{h}'" for h in hashes) or "'none'",
        # the drawings of a page are full of style attributes, which have no hashes
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:" if hashes else "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if hashes:
        rules["media-src"] = "blob:"
    if served:
        rules |= {"connect-src": "'self'", "frame-ancestors": LOCAL_PAGES if framed else "'none'"}
    return "; ".join(f"{what} {allowed}" for what, allowed in rules.items())


def scripts_of(text: str) -> list[str]:
    """The scripts that stand in a page of ours, before anything else was put into it."""
    return re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)

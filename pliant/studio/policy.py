"""What a browser may do with the page: run its own scripts, and talk to the server it came from."""

from __future__ import annotations

import base64
import hashlib
import re


def policy(text: str) -> str:
    """A content security policy under which the page's own scripts run, and nothing else is fetched."""
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{h}'" for h in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )

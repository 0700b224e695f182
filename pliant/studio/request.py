"""Requests to the studio, as far as they can be understood, and answers."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers, MultipleValuesError
from websockets.http11 import Request, Response


@dataclass(frozen=True)
class Asked:
    """What a request asks for, and from where."""

    path: str
    token: str
    host: str | None
    origin: str | None

    @classmethod
    def of(cls, request: Request) -> Asked | None:
        """None for a request that says something twice, or whose address is none."""
        try:
            target = urlsplit(request.path)
            host, origin = request.headers.get("Host"), request.headers.get("Origin")
        except (ValueError, MultipleValuesError):
            return None
        return cls(target.path, parse_qs(target.query).get("token", [""])[0], host, origin)

    def welcome(self, ours: Iterable[str], token: str) -> bool:
        """Whether Host and Origin are ours, and the token, if any, is right.

        No other page of the browser can connect.
        """
        ours = set(ours)
        if self.host is None or not (token or self.host in ours):
            return False
        if self.origin is None:
            from_us = self.path != "/ws"
        else:
            from_us = self.origin in {f"http://{name}" for name in (*ours, self.host)}
        return from_us and (not token or hmac.compare_digest(self.token.encode(), token.encode()))

    @property
    def recording(self) -> tuple[int, str] | None:
        """ "/recording/3.csv" → (3, "csv")."""
        place, _, kind = self.path.rpartition(".")
        number = place.removeprefix("/recording/")
        known = kind in ("mcap", "html", "csv") and number.isascii() and number.isdigit() and len(number) < 6
        return (int(number), kind) if known and place != number else None


def refusal(status: HTTPStatus, words: str) -> Response:
    """An answer in words."""
    return answer(status, f"{words}\n".encode(), "text/plain; charset=utf-8")


def answer(status: HTTPStatus, body: bytes, kind: str, rules: str = "", *, name: str = "") -> Response:
    """An answer of a kind (its MIME type), with a content security policy; `name` for a file to be saved."""
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Connection": "close",
        }
    )
    if rules:
        headers["Content-Security-Policy"] = rules
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(status.value, status.phrase, headers, body)

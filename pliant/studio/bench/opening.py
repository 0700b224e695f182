"""How long it takes from the command to the first picture."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# What Chromium does by itself where there is no graphics card: WebGL in software.
FLAGS = ("--no-sandbox", "--enable-unsafe-swiftshader", "--no-first-run")


@contextmanager
def viewing() -> Iterator[str]:
    """`pliant view trunk` in a process of its own; gives its link, which nobody answers yet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pliant.cli", "view", "trunk", "--no-browser", "--port", str(port)]
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.kill()
            process.wait()


def _listening(url: str) -> str:
    """The link as soon as someone listens there, within half a minute."""
    end = time.perf_counter() + 30.0
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))).close()
            return url
        except OSError:
            if time.perf_counter() > end:
                raise
            time.sleep(0.02)


def first_frame() -> float:
    """[s] from the command to the first frame that a viewer gets."""
    from websockets.sync.client import connect

    begin = time.perf_counter()
    with viewing() as url:
        address, origin = f"{_listening(url).replace('http', 'ws', 1)}ws", url.rstrip("/")
        with connect(address, origin=origin, max_size=None) as viewer:  # type: ignore[arg-type]
            while isinstance(data := viewer.recv(), str) or b'"type":"frame"' not in data[:40]:
                pass
            return time.perf_counter() - begin


def first_picture() -> float | None:
    """[s] from the command to the first picture in a browser that is running already; None without one."""
    with chromium() as browser:
        if browser is None:
            return None
        times = []
        for _ in range(3):
            tab = browser.new_page(viewport={"width": 1280, "height": 800})
            begin = time.perf_counter()
            with viewing() as url:
                tab.goto(_listening(url), wait_until="commit")
                drawn(tab)
                times.append(time.perf_counter() - begin)
            tab.close()
        return min(times)


def drawn(tab: Any) -> None:
    """Until there is a picture; the page's policy forbids waiting inside it."""
    while not tab.evaluate("window.studio?.drawn > 0"):
        tab.wait_for_timeout(10)


@contextmanager
def chromium() -> Iterator[Any]:
    """A Chromium that draws in software, or None."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()

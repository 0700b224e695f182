"""A studio on a small robot, and viewers of it as its page is one, for the tests on real sockets."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.client import HTTPConnection

from websockets.sync.client import connect

from pliant.io.packet import unpack
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.view import open_window
from tests.studio.robots import bar

PATIENCE = 60  # [s] until a test gives up; no result depends on it


def open_bar(folder):
    """An open studio on a bar; recordings go to a folder."""
    robots = {"bar": partial(Session, bar(), period=0.02)}
    return open_window(lambda: Desk(robots, "bar", folder=folder), summaries={"bar": "a bar"})


class Page:
    """A viewer as the page is one: takes frames and acknowledges them."""

    def __init__(self, window, **options):
        url = f"ws://127.0.0.1:{window.studio.port}/ws"
        options = {"origin": f"http://127.0.0.1:{window.studio.port}", "max_size": None, **options}
        self.socket = connect(url, open_timeout=PATIENCE, **options).__enter__()
        self.frames, self.notes, self.stage = 0, [], None

    def say(self, **message):
        self.socket.send(json.dumps(message))

    def take(self, *, acknowledge=True):
        """The next message: a note (dict), or header and blocks."""
        data = self.socket.recv(timeout=PATIENCE)
        if isinstance(data, str):
            self.notes.append(json.loads(data))
            return self.notes[-1], None
        header, blocks = unpack(data)
        if header["type"] == "stage":
            self.stage = header
        else:
            self.frames += 1
            if acknowledge:
                self.say(do="ack", serial=self.frames)
        return header, blocks

    def until(self, condition):
        """The first message that meets a condition."""
        for _ in range(2000):
            header, _ = self.take()
            if condition(header):
                return header
        raise AssertionError("never said")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def get(window, path="/", **headers):
    connection = HTTPConnection("127.0.0.1", window.studio.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def eventually(condition):
    """Wait for other threads, however slow the machine."""
    pause = threading.Event()
    for _ in range(PATIENCE * 100):
        if condition():
            return True
        pause.wait(0.01)
    return False

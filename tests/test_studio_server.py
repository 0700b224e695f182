"""The server on real sockets of this machine: who may connect, what is refused, and that nothing is lost or leaks."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest
from studio_robots import bar
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import pliant as pl
from pliant.io.packet import unpack
from pliant.io.recording import Recording
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.server import LARGEST_MESSAGE, MOST_VIEWERS
from pliant.studio.view import open_window
from pliant.studio.viewer import UNSEEN

PATIENCE = 60  # [s] until a test gives up; no result depends on it


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    robot, folder = bar(), tmp_path_factory.mktemp("recordings")
    robots = {"bar": partial(Session, robot, period=0.02)}
    with open_window(lambda: Desk(robots, "bar", folder=folder), summaries={"bar": "a bar"}) as window:
        yield window


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


def test_the_page_is_served_under_a_strict_policy(window):
    status, body, headers = get(window)
    assert status == 200 and b"pliant studio" in body
    rules = headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules and "sha256-" in rules and "unsafe-eval" not in rules
    assert get(window, "/anything")[0] == 404
    assert get(window, "/../pyproject.toml")[0] == 404


def test_only_our_own_page_may_connect(window):
    port = window.studio.port
    for origin in ("http://evil.example", f"http://127.0.0.1:{port + 1}", "null", None):
        with pytest.raises(InvalidStatus):
            Page(window, origin=origin)
    assert get(window, Host="evil.example")[0] == 403  # a name that was made to point here
    assert get(window, Host=f"localhost:{port}")[0] == 200
    with Page(window, origin=f"http://127.0.0.1:{port}") as page:
        page.until(lambda h: h["type"] == "frame")


def test_it_listens_on_this_machine_alone(window):
    assert window.studio._server.sockets[0].getsockname()[0] == "127.0.0.1" and not window.studio.token


def test_another_host_needs_the_token_in_the_link(window):
    studio = window.studio
    studio.token = "secret"  # as with --host; the check is the same
    try:
        assert get(window)[0] == 403 and get(window, "/?token=wrong")[0] == 403
        assert get(window, "/?token=secret", Host="robot.lab:80")[0] == 200
        with pytest.raises(InvalidStatus):
            Page(window)
    finally:
        studio.token = ""


def test_the_scene_comes_first_then_frames(window):
    with Page(window) as page:
        kinds = [page.take()[0]["type"] for _ in range(4)]
        assert kinds == ["control", "stage", "frame", "frame"]
        assert (
            page.stage["robot"] == "bar"
            and page.stage["robots"] == {"bar": "a bar"}
            and page.stage["hand"] > 0
        )


def test_one_viewer_is_in_control(window):
    with Page(window) as first:
        assert first.until(lambda h: h["type"] == "control")["held"] == "you"
        with Page(window) as second:
            assert second.until(lambda h: h["type"] == "control")["held"] == "other"
            second.say(do="cut", row="lower", on=True)
            assert "control" in second.until(lambda h: h["type"] == "refused")["why"]
            second.say(do="control", take=True)
            assert first.until(lambda h: h["type"] == "control" and h["held"] == "other")["viewers"] == 2
            second.say(do="cut", row="lower", on=True)
            assert second.until(lambda h: h["type"] == "frame" and h["lost"])["lost"] == ["lower"]
        assert first.until(lambda h: h["type"] == "control" and h["held"] == "you")["viewers"] == 1
        first.say(do="cut", row="lower", on=False)
        first.until(lambda h: h["type"] == "frame" and not h["lost"])


def test_garbage_is_refused_and_harms_nothing(window):
    with Page(window) as page:
        for text in (
            "",
            "{}",
            "[]",
            "\0",
            "{" * 500,
            '{"do":"reset","x":1}',
            '{"do":"__import__"}',
            b"\xff\xfe\x00",
        ):
            page.socket.send(text)
            page.until(lambda h: h["type"] == "refused")
        page.until(lambda h: h["type"] == "frame")


def test_oversized_messages_end_the_connection_only(window):
    with Page(window) as page, Page(window) as other:
        page.socket.send("x" * (LARGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                page.take(acknowledge=False)
        assert closed.value.rcvd.code == 1009
        other.until(lambda h: h["type"] == "frame")


def test_a_stalled_viewer_gets_six_frames_and_slows_nobody(window):
    with Page(window) as stalled, Page(window) as other:
        while stalled.frames < UNSEEN:
            stalled.take(acknowledge=False)
        step = other.until(lambda h: h["type"] == "frame")["step"]
        other.until(lambda h: h["type"] == "frame" and h["step"] > step + 12)
        viewer = max(window.studio.viewers.values(), key=lambda v: v.unseen)
        assert viewer.unseen == viewer.serial == UNSEEN


def test_a_hundred_viewers_come_and_go(window):
    for n in range(100):
        page = Page(window)
        if n % 3 == 0:
            page.take()
        if n % 2:
            page.socket.close()
        else:
            page.socket.socket.close()  # as a killed tab
    assert eventually(lambda: not window.studio.viewers)
    assert window.studio.holder is None and window.loop.fields == frozenset()
    with Page(window) as page:
        page.until(lambda h: h["type"] == "frame")


def test_ten_viewers_see_the_same(window):
    pages = [Page(window) for _ in range(10)]
    try:
        pages[0].say(do="play", on=False)
        last = [page.until(lambda h: h["type"] == "frame" and not h["desk"]["playing"]) for page in pages]
        assert len({(h["step"], h["words"]) for h in last}) == 1
        pages[0].say(do="play", on=True)
        for page in pages:
            page.until(lambda h: h["type"] == "frame" and h["desk"]["playing"])
    finally:
        for page in pages:
            page.socket.close()


def test_too_many_viewers_are_turned_away(window):
    pages = [Page(window) for _ in range(MOST_VIEWERS)]
    try:
        with Page(window) as page, pytest.raises(ConnectionClosed) as closed:
            page.take()
        assert closed.value.rcvd.code == 4000
    finally:
        for page in pages:
            page.socket.socket.close()
    assert eventually(lambda: not window.studio.viewers)


def test_fields_are_sent_to_those_who_look(window):
    with Page(window) as page:
        page.say(do="look", field="stress")
        header = page.until(lambda h: h["type"] == "frame" and "field" in h)
        assert header["field"][0] == "stress" and header["field"][1] > 0
        page.say(do="look", field="")
        page.until(lambda h: h["type"] == "frame" and "field" not in h)


def test_a_recording_outlives_the_tab_that_began_it(window, tmp_path):
    page = Page(window)
    page.say(do="record", on=True)
    page.until(lambda h: h["type"] == "frame" and (h["desk"]["recording"] or 0) > 3)
    page.socket.socket.close()  # killed
    with Page(window) as other:
        begun = other.until(lambda h: h["type"] == "frame" and h["desk"]["recording"])["desk"]["recording"]
        other.until(lambda h: h["type"] == "frame" and h["desk"]["recording"] > begun + 3)
        other.until(lambda h: h["type"] == "control" and h["held"] == "you") if not any(
            n.get("held") == "you" for n in other.notes
        ) else None
        other.say(do="record", on=False)
        number = other.until(lambda h: h["type"] == "frame" and h["desk"]["recording"] is None)["desk"][
            "recordings"
        ]
    status, data, headers = get(window, f"/recording/{number}.mcap")
    assert status == 200 and "attachment" in headers["Content-Disposition"]
    path = tmp_path / "download.mcap"
    path.write_bytes(data)
    recording = Recording.read(path)
    assert len(recording) > begun + 3
    steps = [frame.step for frame in recording]
    assert steps == list(range(steps[0], steps[0] + len(steps)))  # none is missing
    status, table, _ = get(window, f"/recording/{number}.csv")
    assert status == 200 and table.count(b"\n") == len(recording) + 1
    status, html, headers = get(window, f"/recording/{number}.html")
    assert status == 200 and b'id="recording"' in html and "sha256" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/recording/0.mcap",
        "/recording/99.csv",
        "/recording/1.exe",
        "/recording/-1.csv",
        "/recording/%2e%2e/x.csv",
        "/recording/../x.mcap",
    ],
)
def test_nothing_else_can_be_downloaded(window, path):
    assert get(window, path)[0] == 404


def test_a_port_that_is_taken_is_an_error(window):
    with pytest.raises(pl.PliantError, match="cannot listen"):
        open_window(lambda: window.loop.desk, summaries={}, port=window.studio.port)


def test_closing_ends_both_threads_and_completes_the_recording(tmp_path):
    robots = {"bar": partial(Session, bar(), period=0.005)}
    window = open_window(lambda: Desk(robots, "bar", folder=tmp_path), summaries={})
    with Page(window) as page:
        page.say(do="record", on=True)
        page.until(lambda h: h["type"] == "frame" and (h["desk"]["recording"] or 0) > 2)
        window.close()
    assert not window.loop._thread.is_alive() and not window._thread.is_alive()
    (path,) = Path(tmp_path).glob("*.mcap")
    assert len(Recording.read(path)) > 2


def test_a_robot_that_cannot_be_built_is_reported_to_the_caller():
    with pytest.raises(pl.InputError, match="nothing"):
        open_window(lambda: Desk({}, "nothing"), summaries={})


def test_the_browser_starts_while_the_robot_is_built(tmp_path):
    told, links = threading.Event(), []

    def desk():
        assert told.wait(60)  # as long as nobody was told the link there is no robot
        return Desk({"bar": partial(Session, bar())}, "bar", folder=tmp_path)

    listening = lambda url: (links.append(url), told.set())
    with open_window(desk, summaries={"bar": ""}, listening=listening) as window:
        assert links == [window.url] and window.session.frame.step >= 0


def test_no_browser_opens_for_a_name_that_is_none(monkeypatch):
    from pliant.studio import view

    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with pytest.raises(pl.InputError, match="nosuch"):
        view("nosuch")
    assert not opened


def test_the_benchmark_measures(monkeypatch):
    """That it runs and reports; how fast this machine is decides nothing here."""
    from pliant.io.table import Table
    from pliant.studio.bench import measure

    monkeypatch.setattr(measure, "SECONDS", 0.5)
    table = Table("", ("what", "asked", "measured", "check"))
    measure._sizes(table)
    measure._server(table)
    found = {row["what"]: row for row in table.rows}
    assert found["page"]["check"] and found["player, 300 frames of 5000 vertices"]["check"]
    assert found["server, 30 Hz and 5000 vertices"]["measured"].endswith("%")
    kilobytes = float(found["a frame of it"]["measured"].split()[0])
    assert 30.0 < kilobytes < 36.0  # six bytes a vertex, and what it says

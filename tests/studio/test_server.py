"""The server on real sockets of this machine: who may connect, what is refused, what must not leak."""

from __future__ import annotations

import socket
import threading
from functools import partial
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import pliant as pl
from pliant.io.recording import Recording
from pliant.session import Session
from pliant.studio import server
from pliant.studio.desk import Desk
from pliant.studio.limits import LARGEST_MESSAGE, MOST_VIEWERS, UNSEEN, Allowance
from pliant.studio.view import open_window
from tests.studio.pages import PATIENCE, Page, eventually, get, open_bar
from tests.studio.robots import bar


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with open_bar(tmp_path_factory.mktemp("recordings")) as window:
        yield window


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


def raw(window, head, *lines):
    """The status of the answer to a request as it is, or None if the connection is closed without one."""
    host = b"Host: 127.0.0.1:%d" % window.studio.port
    said = b"\r\n".join([head, *(host if line == "host" else line for line in lines), b"", b""])
    with socket.create_connection(("127.0.0.1", window.studio.port), timeout=PATIENCE) as connection:
        connection.sendall(said)
        status = connection.makefile("rb").readline().split()
    return int(status[1]) if status else None


@pytest.mark.parametrize(
    ("request_lines", "status"),
    [
        ((b"GET //[ HTTP/1.1", "host"), 400),
        ((b"GET http://[::1 HTTP/1.1", "host"), 400),
        ((b"GET / HTTP/1.1", "host", "host"), 400),
        ((b"GET /ws HTTP/1.1", "host", b"Origin: http://a", b"Origin: http://a"), 400),
        ((b"GET / HTTP/1.1",), 403),
        ((b"GET /?token=%ff%zz HTTP/1.1", "host"), 200),
        ((b"GET /%00%zz\0 HTTP/1.1", "host"), 404),
        ((b"GET /" + b"a" * 9000 + b" HTTP/1.1", "host"), 414),
        ((b"GET / HTTP/1.1", "host", *[b"X: y"] * 200), 431),
        ((b"GET /\xff HTTP/1.1", "host"), None),
        ((b"GET /",), None),
        ((b"\x16\x03\x01\x02\n",), None),
    ],
    ids=str,
)
def test_malformed_requests_are_answered_or_closed_quietly(window, caplog, request_lines, status):
    assert raw(window, *request_lines) == status
    assert get(window)[0] == 200 and not caplog.records


def test_clients_that_break_off_leave_no_words(window, caplog, capfd):
    for begun in (b"", b"GET", b"GET / HTTP/1.1\r\n"):
        socket.create_connection(("127.0.0.1", window.studio.port)).sendall(begun)
    with Page(window) as page:
        page.socket.socket.sendall(b"\xff" * 64)  # not even a frame
        with pytest.raises(ConnectionClosed):
            page.until(lambda h: False)
    assert eventually(lambda: not window.studio.viewers)
    assert not caplog.records and capfd.readouterr().err == ""


def test_errors_of_our_own_are_logged(window, caplog, monkeypatch):
    monkeypatch.setattr(window.studio, "_download", lambda number, kind: 1 / 0)
    assert get(window, "/recording/1.csv")[0] == 500
    (record,) = caplog.records
    assert record.name == "pliant.studio" and record.exc_info[0] is ZeroDivisionError


def test_requests_have_a_rate(window, monkeypatch):
    monkeypatch.setattr(window.studio, "_requests", Allowance(1e-6, 2.0))
    assert [get(window)[0] for _ in range(4)] == [200, 200, 503, 503]


def test_a_request_that_never_ends_does_not_keep_a_studio_open(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "OPENING", None)
    window = open_bar(tmp_path)
    silent = socket.create_connection(("127.0.0.1", window.studio.port))
    silent.sendall(b"GET / HTTP/1.1\r\n")
    assert eventually(lambda: window.studio._door.inside)
    threading.Thread(target=window.close, daemon=True).start()
    assert eventually(lambda: not window._thread.is_alive()) and not window.studio._door.inside
    silent.close()


def test_a_robot_at_rest_waits_for_a_viewer(window):
    """Without one it takes no steps; with one it goes on at once. A tab that takes no frames is none."""
    desk = window.loop.desk
    assert eventually(lambda: not window.studio.viewers and desk.rests)
    with Page(window) as page:
        step = page.until(lambda h: h["type"] == "frame")["step"]
        page.until(lambda h: h["type"] == "frame" and h["step"] > step + 5)
        assert window.loop.watched
        for _ in range(UNSEEN):  # on their way, and none is acknowledged
            while page.take(acknowledge=False)[0]["type"] != "frame":
                pass
        assert eventually(lambda: not window.loop.watched and desk.rests)
        step = desk.session.count
        page.say(do="ack", serial=page.frames)
        page.until(lambda h: h["type"] == "frame" and h["step"] > step + 5)
    assert eventually(lambda: not window.loop.watched)


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

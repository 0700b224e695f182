"""What a page may ask of the studio: the policy on a clock that tests set, and connections that misbehave."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from math import inf
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.server import ServerProtocol

from pliant.studio import wire as wires
from pliant.studio.limits import (
    FLOODING,
    MESSAGES,
    MESSAGES_AT_ONCE,
    MOST_STRANGERS,
    NONSENSE_AT_ONCE,
    NONSENSICAL,
    PATIENCE,
    PIECE,
    STALLED,
    Allowance,
)
from pliant.studio.wire import Door, Wire
from tests.studio.pages import Page, eventually, open_bar


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


# The policy


def test_an_allowance_is_a_rate_and_some_at_once():
    clock = Clock()
    allowance = Allowance(10.0, 20.0, clock)
    assert [allowance.take() for _ in range(20)] == [0.0] * 20
    assert allowance.take() == pytest.approx(0.1) and allowance.take(9) == pytest.approx(1.0)
    clock.now += 1.0  # who waits stays within
    assert allowance.take() == pytest.approx(0.1)
    clock.now += 1000.0  # it fills to the brim, not beyond
    assert allowance.take(20) == 0.0 and allowance.take() > 0.0


def test_what_would_wait_too_long_is_not_taken():
    """So that a flood that is turned away does not keep those out who come after it."""
    clock = Clock()
    allowance = Allowance(10.0, 20.0, clock)
    waits = [allowance.take(within=1.0) for _ in range(1000)]
    assert waits[:20] == [0.0] * 20 and waits[20:30] == pytest.approx([k / 10 for k in range(1, 11)])
    assert set(waits[30:]) == {inf}
    clock.now += 1.5
    assert allowance.take() == 0.0


def sent(allowance, clock, rate, seconds):
    """The longest wait, and the longest time of waits on end, of one who sends at a rate as told."""
    waits, overdrawn, end = [0.0], [0.0], clock.now + seconds
    while clock.now < end:
        waits.append(allowance.take(rate / 100.0))
        overdrawn.append(allowance.overdrawn if waits[-1] else 0.0)
        clock.now += max(0.01, waits[-1])
    return max(waits), max(overdrawn)


def test_a_person_is_never_held_back():
    """A target dragged at 120 Hz, four sliders, acknowledgements at 60 Hz; also after a network hung 2 s."""
    clock, rate = Clock(), 120 * 5 + 60
    allowance = Allowance(MESSAGES, MESSAGES_AT_ONCE, clock)
    assert sent(allowance, clock, rate, 60.0) == (0.0, 0.0)
    assert allowance.take(2 * rate) == 0.0
    assert sent(allowance, clock, rate, 60.0) == (0.0, 0.0)


def test_a_flood_is_overdrawn_on_end_and_a_burst_is_not():
    clock = Clock()
    allowance = Allowance(MESSAGES, MESSAGES_AT_ONCE, clock)
    _, overdrawn = sent(allowance, clock, 20 * MESSAGES, 20.0)
    assert overdrawn > 19.0
    allowance = Allowance(MESSAGES, MESSAGES_AT_ONCE, clock)
    clock.now += allowance.take(2 * MESSAGES_AT_ONCE)  # the network hung for long, and is back
    wait, overdrawn = sent(allowance, clock, 300, 60.0)
    assert wait < 0.1 and overdrawn < PATIENCE


# The door


def stranger(*, request=None, state=State.CONNECTING):
    """As much of a wire as the door looks at."""
    wire = Mock(request=request)
    wire.protocol.state, wire.transport.is_closing.return_value = state, False
    return wire


def test_of_requests_that_never_end_the_oldest_goes():
    """Viewers and those who wait for their answer stay."""
    door, viewer, waiting = Door(), stranger(request="/ws", state=State.OPEN), stranger(request="/")
    silent = [stranger() for _ in range(MOST_STRANGERS)]
    for wire in (viewer, waiting, *silent[:-1]):
        door.enter(wire)
    assert not any(wire.transport.abort.called for wire in door.inside)
    door.enter(silent[-1])
    assert [wire.transport.abort.called for wire in silent] == [True] + [False] * (MOST_STRANGERS - 1)
    assert not viewer.transport.abort.called and not waiting.transport.abort.called
    door.leave(silent[0])
    assert len(door.inside) == MOST_STRANGERS + 1


# The wire


def frame(payload):
    """A masked text frame."""
    return bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload


def feed(wire, data):
    """As the event loop does, in as many pieces as the wire asks for."""
    for k in range(0, len(data), PIECE):
        piece = data[k : k + PIECE]
        wire.get_buffer(-1)[: len(piece)] = piece
        wire.buffer_updated(len(piece))


def test_reading_stops_while_the_allowance_is_spent(monkeypatch):
    """Ten a second, twenty at once: after twenty it pauses as long as the rest takes; a flood is dropped."""
    clock, later, dropped = Clock(), [], []

    async def drop(self, why):
        dropped.append(why)

    async def script():
        server = SimpleNamespace(handler=lambda connection: asyncio.sleep(0), handler_tasks=set())
        wire = Wire(ServerProtocol(state=State.OPEN), server, door=Door(), max_queue=None)
        wire.request, transport = "asked", Mock()
        wire.connection_made(transport)
        wire._allowance = Allowance(10.0, 20.0, clock)
        monkeypatch.setattr(wire.loop, "call_later", lambda wait, then: later.append((wait, then)))
        feed(wire, frame(b"{}") * 20)
        assert not transport.pause_reading.called
        feed(wire, frame(b"{}") * 5)
        assert transport.pause_reading.call_count == 1
        assert later == [(pytest.approx(0.5), transport.resume_reading)]
        while not dropped:
            clock.now += later[-1][0]
            feed(wire, frame(b"{}") * 5)
            await asyncio.sleep(0)
        assert dropped == [FLOODING] and clock.now == pytest.approx(103.0, abs=0.6)

    monkeypatch.setattr(Wire, "drop", drop)
    asyncio.run(script())


def test_who_takes_nothing_is_dropped_and_who_does_not_answer_is_cut_off(monkeypatch):
    monkeypatch.setattr(wires, "DEAF", 0.0)
    monkeypatch.setattr(wires, "PARTING", 0.0)
    closed, transport = [], Mock()

    async def never(*said):
        closed.append(said)
        await asyncio.Event().wait()

    stalled = SimpleNamespace(send=never, close=never, transport=transport)
    stalled.drop = partial(Wire.drop, stalled)
    asyncio.run(Wire.give(stalled, "news"))
    assert closed == [("news",), (STALLED.code, STALLED.words)] and transport.abort.call_count == 1


# Real connections


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with open_bar(tmp_path_factory.mktemp("recordings")) as window:
        yield window


@pytest.fixture
def goodbye(monkeypatch):
    """Time for close frames to arrive, also on a busy machine, where the socket would be cut off before.

    All of it passes where a flood is dropped: nobody reads the answer to the close frame.
    """
    monkeypatch.setattr(wires, "PARTING", 3.0)


def flood(page, text):
    """Send until the server has had enough; returns its close frame, and how many went out."""
    for count in range(1_000_000):
        try:
            page.socket.send(text)
        except ConnectionClosed as closed:
            return closed.rcvd, count
    raise AssertionError("never closed")


def test_garbage_is_dropped_with_a_reason(window, goodbye):
    """It takes the control with it, and nothing else."""
    with Page(window) as page, Page(window) as other:
        assert page.until(lambda h: h["type"] == "control")["held"] == "you"
        said, count = flood(page, "{")
        assert (said.code, said.reason) == (NONSENSICAL.code, NONSENSICAL.words) and count >= NONSENSE_AT_ONCE
        other.until(lambda h: h["type"] == "control" and h["held"] == "you")
        other.until(lambda h: h["type"] == "frame")
    assert eventually(lambda: not window.studio.viewers)


@pytest.mark.parametrize(
    "text", ['{"do":"ack","serial":1}', '{"do":"look","field":"stress"}', '{"do":"step"}']
)
def test_a_flood_of_messages_is_dropped_with_a_reason(window, goodbye, monkeypatch, text):
    monkeypatch.setattr(wires, "PATIENCE", 0.0)
    with Page(window) as page, Page(window) as other:
        page.until(lambda h: h["type"] == "control")
        said, count = flood(page, text)
        assert (said.code, said.reason) == (FLOODING.code, FLOODING.words) and count >= MESSAGES_AT_ONCE
        other.until(lambda h: h["type"] == "control" and h["held"] == "you")
        other.say(do="play", on=True)
        other.until(lambda h: h["type"] == "frame" and h["desk"]["playing"])


def test_many_messages_at_once_are_all_heard(window):
    """As after a network that hung: the last of them counts, nobody is dropped."""
    with Page(window) as page:
        page.until(lambda h: h["type"] == "control" and h["held"] == "you")
        for n in range(1500):
            page.socket.send(json.dumps({"do": "aim", "row": "tip", "value": [0.1, 0.01, 0.01 + 1e-6 * n]}))
        last = page.until(lambda h: h["type"] == "frame" and abs(h["target"]["tip"][2] - 0.011499) < 1e-9)
        assert not last["desk"]["notice"]

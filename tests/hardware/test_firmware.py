"""The firmware's protocol, compiled for this machine, behaves as the emulator does, byte for byte.

Skipped without a C compiler.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.hardware.emulators import Microcontroller
from pliant.hardware.lineprotocol import LONGEST_LINE, Line, Splitter
from tests.hardware.test_drivers import mangled

FIRMWARE = Path(__file__).parent.parent.parent / "firmware" / "pliant_serial"
HARNESS = """
#define PLIANT_CHANNELS 4
#include "pliant_protocol.h"
static char said[100000]; static unsigned used; int applied;
void pliant_write(const char *text) {
  for (; *text && used < sizeof said - 1; text++) said[used++] = *text;
  said[used] = 0;
}
void pliant_apply(int channel, int32_t counts) { (void)channel; (void)counts; applied++; }
void begin(void) { pliant_setup(); used = 0; said[0] = 0; applied = 0; }
const char *feed(const uint8_t *data, unsigned n, uint32_t now) {
  used = 0; said[0] = 0;
  for (unsigned k = 0; k < n; k++) pliant_feed(data[k], now);
  return said;
}
void tick(uint32_t now) { pliant_tick(now); }
int32_t position(int k) { return pliant.position[k]; }
int state(void) { return pliant.state; }
"""
STATES = ("idle", "armed", "safe")


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("firmware")
    (folder / "harness.c").write_text(HARNESS)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", f"-I{FIRMWARE}"]
    subprocess.run([compiler, *flags, "harness.c", "-o", "firmware.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "firmware.so"))
    library.feed.restype = ctypes.c_char_p
    return library


def pair(firmware):
    firmware.begin()
    return Microcontroller([1, 2, 3, 4], feedback=False)


def same(firmware, device: Microcontroller, data: bytes, now: int) -> bytes:
    """Feed both at a time [ms]; they must answer, stand and be alike."""
    mine, theirs = device.feed(data, 1e-3 * now), firmware.feed(data, len(data), now)
    assert theirs == mine, data
    assert [firmware.position(k) for k in range(4)] == list(device.position.values()), data
    assert STATES[firmware.state()] == device.state
    return mine


def test_firmware_and_emulator_agree_on_a_conversation(firmware):
    device = pair(firmware)
    for k, (verb, *arguments) in enumerate(
        [
            ("I",),
            ("Q",),  # where servos are that were never moved, nobody knows
            ("S", "1:5"),  # not armed
            ("S", "9:5"),
            ("S", "1:5", "1:6"),
            ("S", "0:0", "0:0"),
            ("G",),  # no watchdog yet
            ("D", "1", "0", "4095", "100"),
            ("D", "2", "-500", "500", "hold"),
            ("D", "2", "5", "-5", "hold"),
            ("D", "9", "0", "1", "hold"),
            ("D", "3", "0", "1", "2"),
            ("D", "3", "0", "1"),
            ("W", "0"),
            ("W", "99999"),
            ("W", "-5"),
            ("W", "200"),
            ("G", "1"),
            ("G",),
            ("D", "1", "0", "1", "0"),  # armed
            ("S", "1:4095", "2:-500"),
            ("S", "1:4096"),
            ("S", "1:10", "2:501"),
            ("S", "1:10", "1:11"),
            ("S", "7:1"),
            ("S", "1:4096", "7:1"),
            ("S", "7:1", "7:1"),
            ("Q",),  # two were moved
            ("S",),
            ("S", "1:"),
            ("S", "1:99999999999"),
            ("S", "4:-2147483648"),
            ("Q",),
            ("X",),
            ("Z",),
            ("S", "1:7"),
            ("G",),
            ("Q", "1"),
        ]
    ):
        same(firmware, device, Line(k, verb, tuple(arguments)).encoded(), 10 * k)
    assert device.position == {1: 100, 2: -500, 3: 0, 4: -(2**31)}
    now = 10_000
    same(firmware, device, Line(1, "G").encoded(), now)
    same(firmware, device, Line(2, "S", ("1:3000",)).encoded(), now)
    firmware.tick(now + 200)
    assert firmware.position(0) == 3000
    firmware.tick(now + 201)
    assert firmware.position(0) == 100 and STATES[firmware.state()] == "safe"


def test_the_watchdog_outlives_the_clock(firmware):
    """Milliseconds in 32 bits wrap after 50 days: a device is neither made safe then, nor kept armed."""
    pair(firmware)
    last = 2**32 - 50
    for line, now in (
        (Line(1, "D", ("1", "0", "9", "7")), 0),
        (Line(2, "W", ("200",)), 0),
        (Line(3, "G"), last),
    ):
        firmware.feed(line.encoded(), len(line.encoded()), now)
    firmware.tick((last + 200) % 2**32)
    assert STATES[firmware.state()] == "armed"
    firmware.tick((last + 201) % 2**32)
    assert STATES[firmware.state()] == "safe" and firmware.position(0) == 7


@given(
    st.lists(
        st.tuples(
            st.sampled_from("IDWGSQZX"),
            st.lists(
                st.one_of(
                    st.sampled_from(
                        ["1", "2", "15", "16", "0", "-1", "hold", "200", "1:5", "3:-7", "16:1", "1:", ":"]
                    ),
                    st.tuples(st.integers(0, 17), st.integers(-(2**33), 2**33)).map(
                        lambda t: f"{t[0]}:{t[1]}"
                    ),
                    st.text("0123456789-:h", min_size=1, max_size=12),
                ),
                max_size=15,
            ),
        ),
        max_size=12,
    )
)
def test_whole_lines_of_any_content_are_answered_alike(firmware, requests):
    device = pair(firmware)
    setup = [("W", ["10000"]), *((("D"), [str(k), "-100", "100", "hold"]) for k in (1, 2)), ("G", [])]
    for k, (verb, arguments) in enumerate([*setup, *requests]):
        raw = Line(k, verb, tuple(arguments)).encoded()
        if len(raw) <= LONGEST_LINE:
            same(firmware, device, raw, k)


def test_the_longest_answer_fits(tmp_path):
    """With as many channels as there may be, at their farthest; and no board with more is built.

    Under the address sanitizer, where there is one.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    low = -(2**31)
    asked = b"".join(
        Line(65535, verb, arguments).encoded()
        for verb, arguments in [
            ("W", ("10000",)),
            ("G", ()),
            ("S", tuple(f"{k}:{low}" for k in range(1, 16))),
            ("Q", ()),
        ]
    )
    program = (
        HARNESS.replace("CHANNELS 4", "CHANNELS 15")
        + "#include <stdio.h>\nint main(void) { begin(); uint8_t d[1000]; "
    )
    program += (
        "unsigned n = (unsigned)fread(d, 1, sizeof d, stdin); fputs(feed(d, n, 1), stdout); return 0; }"
    )
    (tmp_path / "main.c").write_text(program)
    build = [compiler, "-std=c99", "-O1", f"-I{FIRMWARE}", "main.c", "-o", "main"]
    if subprocess.run([*build, "-fsanitize=address"], cwd=tmp_path, capture_output=True).returncode:
        subprocess.run(build, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], input=asked, capture_output=True, check=True).stdout
    lines = Splitter().feed(said)
    assert lines[-1] == Line(65535, "R", tuple(f"{k}:{low}" for k in range(1, 16)))
    (tmp_path / "main.c").write_text(program.replace("CHANNELS 15", "CHANNELS 16"))
    assert b"1 to 15 channels" in subprocess.run(build, cwd=tmp_path, capture_output=True).stderr


def test_ten_thousand_corrupted_frames_reach_the_firmware(firmware):
    """No crash, nothing accepted that was not sent, and the same answers as the emulator's."""
    device, rng, sent = pair(firmware), random.Random(8), {(0, 0, 0, 0)}
    for line in (Line(1, "W", ("10000",)), Line(2, "G")):
        same(firmware, device, line.encoded(), 0)
    state = [0, 0, 0, 0]
    for k in range(10_000):
        counts = {i: rng.randrange(-(2**31), 2**31) for i in rng.sample(range(1, 5), rng.randint(1, 4))}
        frame = Line(k, "S", tuple(f"{i}:{n}" for i, n in counts.items())).encoded()
        damaged = mangled(rng, frame) if k % 10 else rng.randbytes(rng.randint(1, 300))
        before = len(device.accepted)
        same(firmware, device, damaged, 1)
        sent.add(tuple(sorted(counts.items())))
        for _, accepted in device.accepted[before:]:
            assert tuple(sorted(accepted.items())) in sent
            state = [accepted.get(i + 1, n) for i, n in enumerate(state)]
        assert [firmware.position(i) for i in range(4)] == state
    same(firmware, device, b"\n" + Line(9, "S", ("1:5",)).encoded(), 1)
    assert firmware.position(0) == 5

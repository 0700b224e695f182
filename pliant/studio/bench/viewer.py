"""A viewer without a screen, in a process of its own: connects to a studio, acknowledges frames, counts them.

python -m pliant.studio.bench.viewer URL SECONDS draws|stalls
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

STALL = 30.0  # [s] at most without a frame


def watch(url: str, seconds: float, *, draws: bool = True) -> dict[str, float]:
    """Says "ready" when the first frame is there, then how many came per second, and the bytes of one.

    One that stalls reads the first frame and then nothing more.
    """
    from websockets.sync.client import connect

    address, origin = url.replace("http", "ws", 1), url.rstrip("/")
    frames, size, begin = 0, 0, 0.0
    with connect(f"{address}ws", origin=origin, compression=None, max_size=None) as socket:  # type: ignore[arg-type]
        while not begin or perf_counter() - begin < seconds:
            data = socket.recv(STALL)
            if isinstance(data, str) or b'"type":"frame"' not in data[:40]:
                continue
            if not begin:
                begin = perf_counter()
                print("ready", flush=True)
            frames, size = frames + 1, size + len(data)
            if draws:
                socket.send(json.dumps({"do": "ack", "serial": frames}))
            elif frames == 1:
                sys.stdin.read()  # until whoever measures is done
                break
    return {"rate": (frames - 1) / max(seconds, 1e-9), "bytes": size / frames}


if __name__ == "__main__":
    print(json.dumps(watch(sys.argv[1], float(sys.argv[2]), draws=sys.argv[3] == "draws")))

"""Marker frames from trackers, live or from files.

with Reader(NatNet(server="192.168.1.5")) as reader:      # or JsonUdp(port=9763), MarkerFile("take.csv")
    frame = reader.latest()                               # Frame(time, points, labels), None if stale
"""

from pliant.io.streams.emulator import JsonEmulator, NatNetEmulator
from pliant.io.streams.file import MarkerFile, write_markers
from pliant.io.streams.frame import Frame
from pliant.io.streams.json_udp import JsonUdp
from pliant.io.streams.natnet import NatNet
from pliant.io.streams.reader import Reader
from pliant.io.streams.source import Source

__all__ = [
    "Frame",
    "JsonEmulator",
    "JsonUdp",
    "MarkerFile",
    "NatNet",
    "NatNetEmulator",
    "Reader",
    "Source",
    "write_markers",
]

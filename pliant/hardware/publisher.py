"""Commands as messages: OSC, zenoh and ROS 2.

Values are SI; every message says after how long without another one to be safe.

OSC, zenoh and ROS 2. Values are SI; every message says after how long without another one to be safe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import MissingExtraError, PliantError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels


class Publisher:
    """An actuator that publishes to `address`. A subclass connects, publishes and disconnects.

    No answer comes back: who receives must go to the safe state by itself, `watchdog` [s] after the last
    command.
    """

    kind, default = "", "pliant"

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        address: str | None = None,
        watchdog: float = 0.2,
        name: str | None = None,
    ) -> None:
        self.name = self.kind if name is None else name
        self.address = self.default if address is None else address
        self.channels, self.watchdog = checked_channels(self.name, channels), float(watchdog)
        self._channel = {c.id: c for c in self.channels}
        self.sequence, self._opened = 0, False

    def open(self) -> None:
        self._within(self._connect, "cannot connect")
        self._opened = True

    def send(self, counts: Mapping[int, int]) -> None:
        if not self._opened:
            raise DeviceError(f"Device {self.name!r} is not open.")
        values = {self._channel[i].row: self._channel[i].value(n) for i, n in counts.items()}
        self._say("command", values)

    def safe(self) -> None:
        if not self._opened:
            return
        try:
            self._say("safe", {c.row: c.safe for c in self.channels if c.safe is not None})
        except DeviceError:
            return

    def close(self) -> None:
        if self._opened:
            self._opened = False
            self._disconnect()

    def _say(self, kind: str, values: Mapping[str, float]) -> None:
        self.sequence += 1
        self._within(lambda: self._publish(kind, values), "cannot publish")

    def _within(self, call: Any, what: str) -> None:
        """Whatever sockets and middleware raise is a device's error."""
        try:
            call()
        except PliantError:
            raise
        except Exception as error:
            raise DeviceError(f"Device {self.name!r} {what}: {error}.") from error

    def _connect(self) -> None:
        raise NotImplementedError

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        raise NotImplementedError

    def _disconnect(self) -> None:
        raise NotImplementedError


class Osc(Publisher):
    """OSC over UDP: /pliant/command and /pliant/safe.

    Both carry a sequence number and the watchdog [s]; commands then name and value in turn.
    """

    kind, default = "osc", "/pliant"

    def __init__(
        self, channels: Sequence[Channel], *, host: str = "127.0.0.1", port: int = 9000, **options: Any
    ) -> None:
        super().__init__(channels, **options)
        self.host, self.port = host, port
        self._client: Any = None

    def _connect(self) -> None:
        try:
            from pythonosc.udp_client import SimpleUDPClient
        except ImportError as error:
            raise MissingExtraError("OSC", "hardware") from error
        self._client = SimpleUDPClient(self.host, self.port)

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        arguments: list[Any] = [self.sequence, self.watchdog]
        for row, value in values.items():
            arguments += [row, float(value)]
        self._client.send_message(f"{self.address}/{kind}", arguments)

    def _disconnect(self) -> None:
        self._client._sock.close()  # the client has no close of its own


class Zenoh(Publisher):
    """Zenoh: pliant/command and pliant/safe, JSON {"sequence", "watchdog", "values"}."""

    kind = "zenoh"

    def __init__(self, channels: Sequence[Channel], *, config: Any = None, **options: Any) -> None:
        super().__init__(channels, **options)
        self._config, self._session = config, None

    def _connect(self) -> None:
        try:
            import zenoh
        except ImportError as error:
            raise MissingExtraError("Zenoh", "hardware") from error
        self._session: Any = zenoh.open(self._config or zenoh.Config())

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        message = {"sequence": self.sequence, "watchdog": self.watchdog, "values": dict(values)}
        self._session.put(f"{self.address}/{kind}", json.dumps(message).encode())

    def _disconnect(self) -> None:
        self._session.close()


class Ros2(Publisher):
    """ROS 2, where rclpy is installed: JointState on pliant/command, Bool on pliant/safe.

    Displacements stand in `position`, tensions and pressures in `effort`; NaN where a row has the other.
    """

    kind = "ros2"

    def _connect(self) -> None:
        try:
            import rclpy  # type: ignore[import-not-found]  # comes with ROS 2, not from an index
            from sensor_msgs.msg import JointState  # type: ignore[import-not-found]
            from std_msgs.msg import Bool  # type: ignore[import-not-found]
        except ImportError as error:
            raise DeviceError(
                "ROS 2 needs rclpy: source the setup file of your ROS 2 installation."
            ) from error
        self._mine = not rclpy.ok()
        if self._mine:
            rclpy.init()
        self._rclpy, self._joint_state, self._bool = rclpy, JointState, Bool
        self._node = rclpy.create_node(self.address.strip("/").replace("/", "_"))
        self._command = self._node.create_publisher(JointState, f"{self.address}/command", 1)
        self._safe = self._node.create_publisher(Bool, f"{self.address}/safe", 1)

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        quantity = {c.row: c.quantity for c in self.channels}
        message = self._joint_state()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.name = list(values)
        for field, wanted in (("position", "displacement"), ("effort", "effort")):
            if wanted in (quantity[row] for row in values):
                numbers = [float(v) if quantity[row] == wanted else np.nan for row, v in values.items()]
                setattr(message, field, numbers)
        if values:
            self._command.publish(message)
        self._safe.publish(self._bool(data=kind == "safe"))

    def _disconnect(self) -> None:
        self._node.destroy_node()
        if self._mine:
            self._rclpy.shutdown()

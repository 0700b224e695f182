"""Commands as messages: OSC, zenoh and ROS 2. Values are SI; every message says after how long without another one to be safe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pliant.errors import MissingExtraError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels


class Publisher:
    """An actuator that publishes. A subclass connects, publishes and disconnects.

    No answer comes back: who receives must go to the safe state by itself, `watchdog` [s] after the last command.
    """

    def __init__(self, channels: Sequence[Channel], *, watchdog: float = 0.2, name: str) -> None:
        self.name, self.channels, self.watchdog = name, checked_channels(name, channels), float(watchdog)
        self._row = {c.id: c for c in self.channels}
        self.sequence, self._opened = 0, False

    def open(self) -> None:
        self._connect()
        self._opened = True

    def send(self, counts: Mapping[int, int]) -> None:
        if not self._opened:
            raise DeviceError(f"Device {self.name!r} is not open.")
        self._say("command", {self._row[i].row: self._row[i].value(n) for i, n in counts.items()})

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
        try:
            self._publish(kind, values)
        except (OSError, RuntimeError) as error:  # what sockets and middleware raise
            raise DeviceError(f"Device {self.name!r} cannot publish: {error}.") from error

    def _connect(self) -> None:
        raise NotImplementedError

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        raise NotImplementedError

    def _disconnect(self) -> None:
        raise NotImplementedError


class Osc(Publisher):
    """OSC over UDP: /pliant/command and /pliant/safe with sequence, watchdog [s], then name and value in turn."""

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        host: str = "127.0.0.1",
        port: int = 9000,
        address: str = "/pliant",
        watchdog: float = 0.2,
        name: str = "osc",
    ) -> None:
        super().__init__(channels, watchdog=watchdog, name=name)
        self.host, self.port, self.address = host, port, address
        self._client: Any = None

    def _connect(self) -> None:
        try:
            from pythonosc.udp_client import SimpleUDPClient
        except ImportError as error:
            raise MissingExtraError("OSC", "hardware") from error
        try:
            self._client = SimpleUDPClient(self.host, self.port)
        except OSError as error:
            raise DeviceError(f"OSC to {self.host}:{self.port}: {error}.") from error

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        arguments: list[Any] = [self.sequence, self.watchdog]
        for row, value in values.items():
            arguments += [row, float(value)]
        self._client.send_message(f"{self.address}/{kind}", arguments)

    def _disconnect(self) -> None:
        self._client._sock.close()  # the client has no close of its own


class Zenoh(Publisher):
    """Zenoh: pliant/command and pliant/safe, JSON {"sequence", "watchdog", "values"}."""

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        address: str = "pliant",
        config: Any = None,
        watchdog: float = 0.2,
        name: str = "zenoh",
    ) -> None:
        super().__init__(channels, watchdog=watchdog, name=name)
        self.address, self._config = address, config
        self._session: Any = None

    def _connect(self) -> None:
        try:
            import zenoh
        except ImportError as error:
            raise MissingExtraError("Zenoh", "hardware") from error
        try:
            self._session = zenoh.open(self._config or zenoh.Config())
        except zenoh.ZError as error:
            raise DeviceError(f"Zenoh: {error}.") from error

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        message = {"sequence": self.sequence, "watchdog": self.watchdog, "values": dict(values)}
        self._session.put(f"{self.address}/{kind}", json.dumps(message).encode())

    def _disconnect(self) -> None:
        self._session.close()


class Ros2(Publisher):
    """ROS 2, where rclpy is installed: sensor_msgs/JointState on pliant/command, std_msgs/Bool on pliant/safe."""

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        address: str = "pliant",
        watchdog: float = 0.2,
        name: str = "ros2",
    ) -> None:
        super().__init__(channels, watchdog=watchdog, name=name)
        self.address = address
        self._node: Any = None

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
        self._node = rclpy.create_node(self.address.replace("/", "_"))
        self._command = self._node.create_publisher(JointState, f"{self.address}/command", 1)
        self._safe = self._node.create_publisher(Bool, f"{self.address}/safe", 1)

    def _publish(self, kind: str, values: Mapping[str, float]) -> None:
        message = self._joint_state()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.name, message.position = list(values), [float(v) for v in values.values()]
        if values:
            self._command.publish(message)
        self._safe.publish(self._bool(data=kind == "safe"))

    def _disconnect(self) -> None:
        self._node.destroy_node()
        if self._mine:
            self._rclpy.shutdown()

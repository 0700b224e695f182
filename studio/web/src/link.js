// The live source: a WebSocket to the server this page came from.
import { unpack } from "./bytes.js";

export class Link {
  constructor(handlers) {
    this.on = handlers;
    this.live = true;
    this.received = 0;
    this.pending = null;
    this.wait = 500;
    this.connect();
  }

  connect() {
    const secure = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${secure}://${location.host}/ws${location.search}`);
    this.socket.binaryType = "arraybuffer";
    this.received = 0;
    this.socket.onopen = () => {
      this.wait = 500;
      this.on.link("open");
    };
    this.socket.onmessage = (event) => this.hear(event.data);
    this.socket.onclose = (event) => {
      this.on.link(event.code === 4000 ? "full" : "lost");
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(8000, this.wait * 2);
    };
  }

  hear(data) {
    if (typeof data === "string") {
      const note = JSON.parse(data);
      this.on[note.type]?.(note);
      return;
    }
    const packet = unpack(data);
    if (packet.header.type === "scene") {
      this.pending = null;
      this.on.scene(packet);
    } else {
      this.received++;
      this.pending = packet; // an older one that was not drawn is forgotten
    }
  }

  // Called once per picture: hands over the newest frame and says that it was drawn.
  take() {
    const packet = this.pending;
    if (!packet) return null;
    this.pending = null;
    this.send({ do: "ack", serial: this.received });
    return packet;
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

// The live source: a WebSocket to the server this page came from.
import { unpack } from "./bytes.js";

export class Link {
  constructor(handlers) {
    this.on = handlers;
    this.live = true;
    this.received = 0;
    this.pending = null;
    this.wait = 500;
    document.addEventListener("visibilitychange", () => this.acknowledge());
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
    if (packet.header.type === "stage") {
      this.pending = null;
      this.on.stage(packet);
    } else {
      this.received++;
      this.pending = packet; // an older one that was not drawn is forgotten
      this.acknowledge();
    }
  }

  // For good: the page looks at something else.
  close() {
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
  }

  // More may come; a tab in the background draws nothing and asks for nothing.
  acknowledge() {
    if (!document.hidden) this.send({ do: "ack", serial: this.received });
  }

  // Called once per picture: hands over the newest frame.
  take() {
    const packet = this.pending;
    this.pending = null;
    return packet;
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

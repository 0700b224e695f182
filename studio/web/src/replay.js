// The recorded source: all frames are here already. Speaks like a link, and keeps its own time.
//
// What it plays: { header, blocks } as of a stage's packet; frames, what a frame says each; shapes, the sets of obstacles; whole,
// the positions of all frames as whole numbers in a box; stress, that at the skin in shares of a top, or null; points and skin, how many there are in a frame, and how many of these are skin.
export class Replay {
  constructor(data, handlers) {
    this.on = handlers;
    this.live = false;
    this.playing = true;
    this.speed = 1;
    this.at = 0;
    this.shown = -1;
    data.then((found) => this.open(found), (error) => this.on.failed(error));
  }

  open(data) {
    if (this.closed) return;
    Object.assign(this, data);
    this.duration = this.frames.at(-1).time - this.frames[0].time;
    this.on.stage(data);
    this.on.control({ held: "nobody", viewers: 1 });
    this.on.link("open");
    this.last = performance.now();
  }

  close() {
    this.closed = true;
  }

  // The frame that is due, or null when it is drawn already.
  take() {
    if (!this.frames) return null;
    const now = performance.now();
    if (this.playing) {
      this.at += ((now - this.last) / 1000) * this.speed;
      if (this.at > this.duration + 0.6) this.at = 0; // a breath at the end, then again
    }
    this.last = now;
    const time = this.frames[0].time + Math.min(this.at, this.duration);
    let k = this.shown < 0 || this.frames[this.shown].time > time ? 0 : this.shown;
    while (k + 1 < this.frames.length && this.frames[k + 1].time <= time + 1e-9) k++;
    if (k === this.shown && !this.asked) return null;
    this.asked = false;
    this.show(k);
    return this.packet(k);
  }

  show(k) {
    const past = this.shown;
    this.shown = k;
    const shapes = this.frames[k].shapes;
    if (past < 0 || this.frames[past].shapes !== shapes) {
      const changed = this.shapes[shapes] ?? {};
      this.on.obstacles({ names: Object.keys(changed), changed });
    }
  }

  packet(k) {
    const n = 3 * this.points;
    const whole = this.whole.subarray(k * n, (k + 1) * n);
    const frame = this.frames[k];
    const desk = { playing: this.playing, speed: this.speed, recording: null, recordings: 0, asked: {}, notice: "" };
    const header = { ...frame, box: this.box, desk };
    const blocks = { skin: whole.subarray(0, 3 * this.skin), lines: whole.subarray(3 * this.skin) };
    if (this.stress) {
      blocks.field = this.stress.values.subarray(k * this.skin, (k + 1) * this.skin);
      header.field = ["stress", this.stress.top];
    }
    if (frame.touch?.length) blocks.touch = Float32Array.from(frame.touch);
    return { header, blocks };
  }

  // What the page says: only its own playing is its own to change.
  send(message) {
    if (message.do === "play") this.playing = message.on;
    if (message.do === "speed") this.speed = message.value;
    if (message.do === "reset") this.seek(0);
    if (message.do === "step") {
      this.playing = false;
      const next = Math.min(this.shown + 1, this.frames.length - 1);
      this.seek(this.frames[next].time - this.frames[0].time);
    }
    this.asked = true;
  }

  seek(seconds) {
    this.at = seconds + 1e-6;
    this.asked = true;
  }
}

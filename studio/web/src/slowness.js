// Why a robot runs slower than time, in words, with what to do about it.
import { h } from "./dom.js";
import { number, quantity } from "./units.js";

const SLOW = 0.7; // of the speed that is asked for
const WATCHED = 2; // seconds between two looks
const COARSER = 4; // the time of a step grows with about this power of 1/edge, as in pliant/project/fit.py
const PARTS = [
  { coarser: true, what: "its mesh", stages: ["linearise", "factorise", "condense", "recover"] },
  { what: "solving for efforts and contact forces", stages: ["solve"] },
  { what: "finding contacts", stages: ["detect"] },
];

export class Slowness {
  constructor(host) {
    this.text = h("span");
    this.box = h("div", { class: "slow", hidden: true, role: "status" }, this.text, h("button", { class: "plain", "aria-label": "Close", onclick: () => ((this.box.hidden = true), (this.closed = true)) }, "×"));
    host.append(this.box);
    this.build();
  }

  build(header) {
    this.own = Boolean(header?.draft);
    this.closed = false;
    this.since = this.rate = null;
    this.box.hidden = true;
  }

  // Looks at what a frame says; returns the share of real time for the clock, "" if it is as asked.
  frame({ time, desk }, link, kept) {
    const now = performance.now() / 1000;
    if (!link.live || !desk.playing || !this.since || time < this.since.time) {
      this.since = { now, time };
      this.rate = null;
    } else if (now - this.since.now > WATCHED) {
      this.rate = (time - this.since.time) / (now - this.since.now);
      this.since = { now, time };
      this.show(desk, kept);
    }
    return this.rate !== null && this.rate < SLOW * desk.speed ? ` · ${this.rate.toFixed(this.rate < 0.1 ? 2 : 1)}× real time` : "";
  }

  show(desk, kept) {
    const slow = this.rate < SLOW * desk.speed;
    this.box.hidden = this.closed || !slow;
    if (slow) this.text.textContent = reason(kept, desk.period / desk.speed, this.own, desk.build?.busy);
  }
}

// From the timings of the last frames and the time [s] that a step should take; of a robot of one's own, or of the gallery.
// `busy`: what is made in the background, "" for nothing.
export function reason(kept, period, own, busy = "") {
  const mean = (stage) => kept.reduce((sum, f) => sum + (f.timings[stage] ?? 0), 0) / (kept.length || 1);
  const total = mean("total");
  if (total < 0.9 * period) {
    const spare = `Its steps take ${total < 5e-4 ? "less than 1 ms" : quantity(total, "s", 2)} of the ${quantity(period, "s", 2)} they may:`;
    if (busy) return `${spare} what is made in the background takes its share until it is done.`;
    return `${spare} something else keeps this computer busy, such as drawing without a graphics card. A smaller window helps, or a lower speed.`;
  }
  const spent = ({ stages }) => stages.reduce((sum, stage) => sum + mean(stage), 0);
  const worst = [...PARTS].sort((a, b) => spent(b) - spent(a))[0];
  const head = `A step takes ${quantity(total, "s", 2)}, real time needs ${quantity(period, "s", 2)}: ${worst.what} takes the most (${number((100 * spent(worst)) / total, 2)} %).`;
  const longer = number((total / period) ** (1 / COARSER), 2);
  const mesh = own ? `Edges ${longer} times as long would keep up (Mesh again); or Make it fast, or a lower speed.` : `A mesh with edges ${longer} times as long would keep up, or a lower speed.`;
  return `${head} ${worst.coarser ? mesh : "Fewer or smaller obstacles help, or a lower speed."}`;
}

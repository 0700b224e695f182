// Live plots of the last frames: efforts, displacements, errors, contact force, time per stage.
import uPlot from "uplot";
import { SERIES } from "./colours.js";
import { h } from "./dom.js";
import { display } from "./units.js";

const KEPT = 600; // frames
const KINDS = { effort: "Effort", displacement: "Displacement", error: "Error", contact: "Contact", timings: "Time" };

export class Plots {
  constructor() {
    this.kind = "effort";
    this.tabs = h("div", { class: "tabs", role: "tablist" });
    for (const [key, label] of Object.entries(KINDS)) {
      this.tabs.append(h("button", { role: "tab", "data-kind": key, onclick: () => this.choose(key) }, label));
    }
    this.legend = h("div", { class: "plot-legend" });
    this.canvas = h("div", { class: "plot" });
    this.element = h("section", { class: "plots" }, this.tabs, this.canvas, this.legend);
    new ResizeObserver(() => this.plot?.setSize({ width: this.canvas.clientWidth, height: 150 })).observe(this.canvas);
  }

  build(header) {
    this.rows = Object.fromEntries(header.rows.map((row) => [row.name, row]));
    this.times = [];
    this.kept = [];
    this.choose(this.kind);
  }

  // Names and units of the lines of a kind.
  series() {
    const of = (role) => Object.values(this.rows).filter((row) => row.role === role);
    if (this.kind === "effort") return of("actuator").map((r) => [r.name, r.effort_unit, (f) => f.effort[r.name]?.[0]]);
    if (this.kind === "displacement") return of("actuator").map((r) => [r.name, r.unit, (f) => f.displacement[r.name]?.[0]]);
    if (this.kind === "error") return of("effector").map((r) => [r.name, r.unit, (f) => (f.error[r.name] ? Math.hypot(...f.error[r.name]) : null)]);
    if (this.kind === "contact") return [["contact force", "N", (f) => f.contact[1]]];
    const stages = ["linearise", "factorise", "condense", "solve", "recover", "detect", "total"];
    return stages.map((s) => [s, "s", (f) => f.timings[s] ?? null]);
  }

  choose(kind) {
    this.kind = kind;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", tab.dataset.kind === kind);
    this.plot?.destroy();
    this.lines = this.series();
    const unit = display(this.lines[0]?.[1] ?? "")[0];
    const css = getComputedStyle(document.documentElement);
    const ink = css.getPropertyValue("--soft");
    const line = css.getPropertyValue("--line");
    const axis = { stroke: ink, font: "11px system-ui", grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
    this.plot = new uPlot(
      {
        width: this.canvas.clientWidth || 300, height: 150, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
        scales: { x: { time: false }, y: { range: (u, low, high) => range(low, high) } },
        axes: [{ ...axis, size: 24, values: (u, v) => v.map((x) => `${x} s`), space: 60 }, { ...axis, size: 46 }],
        series: [{}, ...this.lines.map((_, k) => ({ stroke: SERIES[k % SERIES.length], width: 1.6, points: { show: false }, spanGaps: true }))],
      },
      [[], ...this.lines.map(() => [])],
      this.canvas,
    );
    this.legend.replaceChildren(...this.lines.map(([name], k) => h("span", { style: `--c:${SERIES[k % SERIES.length]}` }, name)), h("em", {}, unit ? `[${unit}]` : ""));
    this.draw();
  }

  frame(header) {
    if (this.kept.length && header.step <= this.kept.at(-1).step) {
      if (header.step === this.kept.at(-1).step) return; // paused
      this.kept = []; // begun again
    }
    const { step, time, effort, displacement, error, contact, timings } = header;
    this.kept.push({ step, time, effort, displacement, error, contact, timings });
    if (this.kept.length > KEPT) this.kept.shift();
  }

  draw() {
    if (!this.plot || !this.element.offsetParent) return;
    const factor = (unit) => display(unit)[1];
    const data = [this.kept.map((f) => f.time)];
    for (const [, unit, value] of this.lines) {
      const k = factor(unit);
      data.push(this.kept.map((f) => { const v = value(f); return v == null ? null : v * k; }));
    }
    this.plot.setData(data);
  }
}

function range(low, high) {
  if (low == null || high == null) return [0, 1];
  const room = Math.max(0.08 * (high - low), 1e-6 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
  return [low >= 0 && low < high * 0.6 ? 0 : low - room, high + room];
}

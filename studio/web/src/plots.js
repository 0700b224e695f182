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
    new ResizeObserver(() => this.shown?.forEach(({ plot, height }) => plot.setSize({ width: this.canvas.clientWidth, height }))).observe(this.canvas);
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

  // One plot for each unit: millimetres and degrees share no axis.
  choose(kind) {
    this.kind = kind;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", tab.dataset.kind === kind);
    for (const { plot } of this.shown ?? []) plot.destroy();
    const lines = this.series().map(([name, unit, value], k) => ({ name, unit, value, colour: SERIES[k % SERIES.length] }));
    const units = [...new Set(lines.map((line) => line.unit))];
    const height = units.length > 1 ? 110 : 150;
    this.shown = units.map((unit) => this.drawing(lines.filter((line) => line.unit === unit), unit, height));
    this.legend.replaceChildren(...this.shown.flatMap(({ lines: some, unit }) => {
      const [shown] = display(unit);
      return [...some.map(({ name, colour }) => h("span", { style: `--c:${colour}` }, name)), h("em", {}, shown ? `[${shown}]` : "")];
    }));
    this.draw();
  }

  drawing(lines, unit, height) {
    const css = getComputedStyle(document.documentElement);
    const ink = css.getPropertyValue("--soft");
    const line = css.getPropertyValue("--line");
    const axis = { stroke: ink, font: "11px system-ui", grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
    const plot = new uPlot(
      {
        width: this.canvas.clientWidth || 300, height, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
        scales: { x: { time: false }, y: { range: (u, low, high) => range(low, high) } },
        axes: [{ ...axis, size: 24, values: (u, v, i, space, step) => ticks(v, step).map((x) => `${x} s`), space: 60 }, { ...axis, size: 52, values: (u, v, i, space, step) => ticks(v, step) }],
        series: [{}, ...lines.map(({ colour }) => ({ stroke: colour, width: 1.6, points: { show: false }, spanGaps: true }))],
      },
      [[], ...lines.map(() => [])],
      this.canvas,
    );
    return { plot, lines, unit, height };
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
    if (!this.shown || !this.element.offsetParent) return;
    const times = this.kept.map((f) => f.time);
    for (const { plot, lines, unit } of this.shown) {
      const [, factor] = display(unit);
      plot.setData([times, ...lines.map(({ value }) => this.kept.map((f) => { const v = value(f); return v == null ? null : v * factor; }))]);
    }
  }
}

// Numbers with as many digits after the point as their step has, so that no two look the same.
function ticks(values, step) {
  let digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  while (digits < 9 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits++; // 0.025
  return values.map((x) => x.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−"));
}

const LEAST = 1e-3; // of a shown unit: what varies less is a straight line

function range(low, high) {
  if (low == null || high == null) return [0, 1];
  const room = Math.max(0.08 * (high - low), 1e-3 * Math.max(Math.abs(low), Math.abs(high)), LEAST);
  return [low >= 0 && low < high * 0.6 ? 0 : low - room, high + room];
}

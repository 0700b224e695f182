// The panel at the side: actuators, targets, obstacles, view.
import { h, icon, ICONS } from "./dom.js";
import { display, number, quantity, within } from "./units.js";

const VIEWS = [["wire", "Wireframe"], ["xray", "See through"], ["ghost", "Rest shape"], ["cables", "Cables"], ["forces", "Forces"], ["trail", "Trail"]];

const plain = (metres) => number(metres * 1e3, 4).replace("−", "-");
const centre = { label: "place", letters: "xyz", get: (s) => s.centre, say: (name, at) => ({ do: "move", name, at }) };
const radius = { label: "radius", letters: "", get: (s) => [s.radius], say: (name, [r]) => ({ do: "form", name, numbers: { radius: [r] } }) };
const sides = { label: "size", letters: "xyz", get: (s) => s.size, say: (name, size) => ({ do: "form", name, numbers: { size } }) };
const span = (s) => s.end.map((x, k) => x - s.start[k]);
const long = {
  label: "length", letters: "", get: (s) => [Math.hypot(...span(s))],
  say: (name, [length], s) => {
    const part = length / Math.hypot(...span(s)) / 2;
    return { do: "form", name, numbers: { start: s.centre.map((x, k) => x - part * span(s)[k]), end: s.centre.map((x, k) => x + part * span(s)[k]) } };
  },
};
const FORMS = { sphere: [radius], box: [sides], capsule: [radius, long], cylinder: [radius, long] };
const formOf = (shape) => [centre, ...(FORMS[shape.kind] ?? [])];

// A field with its letter before it.
export const named = (letter, input) => (letter ? h("label", {}, h("small", {}, letter), input) : input);

const breaking = (row) => (row.kind === "Cable" ? `Cut ${row.name}: it pulls no more` : `Break ${row.name}: it has no effort any more`);

export class Panel {
  constructor(app) {
    this.app = app;
    this.actuators = h("section", { id: "actuators" });
    this.targets = h("section", { id: "targets" });
    this.things = h("section", { id: "things" });
    this.view = h("section", { id: "view" });
    this.element = h("aside", {}, app.build.element, this.actuators, this.targets, this.things, app.plots.element, this.view);
    this.bubble = h("div", { class: "bubble", hidden: true });
    document.body.append(this.bubble);
    addEventListener("pointerdown", (e) => !this.bubble.contains(e.target) && (this.bubble.hidden = true), true);
    this.buildView();
  }

  build(header, live) {
    this.live = live;
    this.rows = Object.fromEntries(header.rows.map((r) => [r.name, r]));
    this.alterable = header.alterable ?? false;
    this.buildActuators(header.rows.filter((r) => r.role === "actuator"));
    this.buildTargets(header.rows.filter((r) => r.role === "effector"));
    this.buildThings(header.offers ?? {});
    const parts = !header.fields.includes("stress") && this.app.skin.parts > 1; // rigid parts: what they are says more than how far they moved
    this.colour.replaceChildren(...[...header.fields, "material"].map((f) => h("option", { value: f }, { displacement: "Displacement", strain: "Strain (largest)", stress: "Stress (von Mises)", material: parts ? "Parts" : "Material" }[f])));
    const known = [...this.colour.options].some((o) => o.value === this.app.skin.look.colour);
    if (!known || !this.chosen) this.setColour(parts && live ? "material" : "displacement");
    this.colour.value = this.app.skin.look.colour;
    this.seeThrough(header.cavities.length > 0);
  }

  // One row per actuator: name, effort within its limits, and in forward mode a slider.
  buildActuators(rows) {
    this.gauges = {};
    this.actuators.replaceChildren(h("h2", {}, "Actuators"));
    for (const row of rows) {
      const fill = h("i"), value = h("output"), other = h("output", { class: "soft" });
      const slider = h("input", { type: "range", "aria-label": `${row.name} command`, min: 0, max: 1000, step: 1 });
      const kind = h("button", { class: "plain kind", title: "Command effort or displacement" });
      const cut = h("button", { class: "plain cut", title: breaking(row) }, icon(ICONS.cut));
      const ends = [h("small"), h("small")];
      const command = h("div", { class: "command" }, h("div", { class: "range" }, slider, h("div", { class: "ends" }, ...ends)), kind);
      const box = h("div", { class: "actuator", "data-row": row.name }, h("div", { class: "line" }, h("b", {}, row.name), value, other, cut), h("div", { class: "gauge", title: "Effort, between its limits" }, fill), command);
      const gauge = { row, fill, value, other, slider, kind, cut, box, ends, drive: row.drive };
      slider.addEventListener("input", () => this.drive(gauge));
      kind.addEventListener("click", () => this.swap(gauge));
      cut.addEventListener("click", () => this.app.send({ do: "cut", row: row.name, on: !box.classList.contains("lost") }));
      this.gauges[row.name] = gauge;
      this.actuators.append(box);
    }
  }

  limits(gauge) {
    let [low, high] = gauge.drive === "effort" ? gauge.row.effort : gauge.row.displacement;
    const seen = gauge.seen?.[gauge.drive] ?? 0;
    const guess = Math.max(2 * Math.abs(seen), { m: 0.02, "m³": 2e-5, rad: 1, N: 5, Pa: 2e4, "N·m": 0.2 }[gauge.drive === "effort" ? gauge.row.effort_unit : gauge.row.unit] ?? 1);
    low ??= -guess, high ??= guess;
    return [low, high];
  }

  drive(gauge) {
    const [low, high] = this.limits(gauge);
    const value = low + ((high - low) * gauge.slider.value) / 1000;
    gauge.touched = performance.now();
    this.app.send({ do: "drive", row: gauge.row.name, kind: gauge.drive, value: [value] });
    this.caption(gauge, value);
  }

  swap(gauge) {
    gauge.drive = gauge.drive === "effort" ? "displacement" : "effort";
    const value = gauge.seen?.[gauge.drive] ?? 0;
    gauge.touched = performance.now();
    this.app.send({ do: "drive", row: gauge.row.name, kind: gauge.drive, value: [value] });
  }

  caption(gauge, value) {
    const unit = gauge.drive === "effort" ? gauge.row.effort_unit : gauge.row.unit;
    const [low, high] = this.limits(gauge);
    gauge.kind.textContent = `${within(value, [low, high], unit)} ⇄`;
    [low, high].forEach((x, k) => (gauge.ends[k].textContent = quantity(x, unit)));
    gauge.kind.title = `${gauge.drive}, from ${quantity(low, unit)} to ${quantity(high, unit)}. Click to command ${gauge.drive === "effort" ? "displacement" : "effort"} instead.`;
  }

  buildTargets(rows) {
    this.fields = {};
    this.targets.replaceChildren(h("h2", {}, rows.length > 1 ? "Targets" : "Target"));
    for (const row of rows) {
      const [unit, factor] = display(row.unit);
      const inputs = Array.from({ length: row.size }, (_, k) => h("input", { type: "number", step: "any", "aria-label": `target of ${row.name}, ${"xyz"[k] ?? k + 1}` }));
      const axes = row.kind === "Position" && row.size === 3 ? "xyz" : "";
      const error = h("output");
      for (const input of inputs) input.addEventListener("change", () => this.app.send({ do: "aim", row: row.name, value: inputs.map((i) => Number(i.value) / factor) }));
      this.fields[row.name] = { row, inputs, error, factor };
      this.targets.append(h("div", { class: "target" }, h("div", { class: "line" }, h("b", {}, row.name), error), h("div", { class: "xyz" }, ...inputs.map((input, k) => named(axes[k], input)), h("span", { class: "soft" }, unit))));
    }
  }

  // Offers: the obstacles that the simulation can add, each with the word on its button.
  buildThings(offers) {
    this.things.hidden = this.live && !this.alterable;
    this.adders = h("div", { class: "adders" }, ...Object.entries(offers).map(([kind, { word, where }]) => h("button", { "data-kind": kind, title: `Put a ${word.toLowerCase()} ${where} the robot`, onclick: () => this.app.addThing(kind) }, `+ ${word}`)));
    this.list = h("div", { class: "list" });
    this.figures = h("div", { class: "figures", hidden: true });
    this.things.replaceChildren(h("h2", {}, "Obstacles"), this.adders, this.list, this.figures);
  }

  obstacles(known) {
    const names = Object.keys(known);
    this.list.replaceChildren(
      ...names.map((name) => h("div", { class: "thing", "data-name": name },
        h("button", { class: "plain name", title: "Show its arrows", onclick: () => this.app.grab.select({ obstacle: name }) }, name),
        this.live ? h("button", { class: "plain remove", title: `Remove ${name}`, "aria-label": `Remove ${name}`, onclick: () => this.app.send({ do: "remove", name }) }, "×") : null)),
      ...(names.length ? [] : [h("p", { class: "soft" }, this.live ? "None yet. Add one, then steer the robot into it." : "None.")]));
    this.selected(this.app.grab?.selected);
  }

  // Numbers of the obstacle that is selected: its place, and its size.
  numbers(name) {
    const shape = this.app.things.known[name]?.shape;
    this.figures.hidden = !shape || !this.live;
    if (this.figures.hidden) return (this.figured = null);
    if (this.figured?.name !== name) {
      this.figured = { name, fields: formOf(shape) };
      const line = ({ label, letters, get, say }) => {
        const fields = get(shape).map((_, k) => h("input", { type: "number", step: "any", "aria-label": `${label} of ${name}${letters[k] ? `, ${letters[k]}` : ""}`, onchange: () => this.app.send(say(name, inputs().map((i) => Number(i.value) / 1e3), this.app.things.known[name].shape)) }));
        const inputs = () => fields;
        return [fields, h("div", { class: "pair" }, h("small", { class: "soft" }, label), h("div", { class: "xyz" }, ...fields.map((f, k) => named(letters[k], f)), h("span", { class: "soft" }, "mm")))];
      };
      const made = this.figured.fields.map(line);
      this.figured.inputs = made.map(([fields]) => fields);
      this.figures.replaceChildren(...made.map(([, element]) => element));
    }
    this.figured.fields.forEach(({ get }, n) => get(shape).forEach((value, k) => {
      const input = this.figured.inputs[n][k];
      if (document.activeElement !== input) input.value = plain(value);
    }));
  }

  selected(what) {
    this.numbers(what?.obstacle);
    for (const item of this.list?.children ?? []) item.classList.toggle("on", item.dataset.name === what?.obstacle);
  }

  buildView() {
    const { app } = this;
    this.colour = h("select", { id: "colour", onchange: () => ((this.chosen = true), this.setColour(this.colour.value)) });
    this.checks = Object.fromEntries(VIEWS.map(([key, label]) => [key, h("label", { class: "check" }, h("input", { type: "checkbox", id: `show-${key}`, onchange: (e) => app.setView(key, e.target.checked) }), label)]));
    for (const key of ["ghost", "cables", "forces", "trail"]) this.checks[key].firstChild.checked = true;
    const axis = h("select", { id: "clip-axis", onchange: () => clip() }, ...["off", "x", "y", "z"].map((a) => h("option", { value: a }, a === "off" ? "No cut" : `Cut across ${a}`)));
    const share = h("input", { id: "clip", type: "range", min: 0, max: 1, step: 0.005, value: 0.5, "aria-label": "Where to cut", oninput: () => clip() });
    const clip = () => ((share.disabled = axis.value === "off"), app.setClip(axis.value, Number(share.value)));
    share.disabled = true;
    const cameras = h("div", { class: "adders" }, ...["corner", "front", "side", "top"].map((c) => h("button", { "data-camera": c, onclick: () => app.stage.look(c) }, c[0].toUpperCase() + c.slice(1))));
    this.view.append(h("h2", {}, "View"), h("label", { class: "pair" }, "Colour", this.colour), h("div", { class: "checks" }, ...Object.values(this.checks)), h("div", { class: "pair" }, axis, share), cameras);
  }

  setColour(name) {
    this.app.skin.look.colour = name;
    this.app.skin.apply();
    this.app.link.send({ do: "look", field: name === "strain" || name === "stress" ? name : "" });
    this.app.repaint();
  }

  seeThrough(on) {
    this.checks.xray.firstChild.checked = on;
    this.app.setView("xray", on);
  }

  frame(header) {
    const forward = header.mode !== "inverse" && this.live;
    this.actuators.classList.toggle("driving", forward);
    this.targets.hidden = header.mode !== "inverse" || !Object.keys(this.fields).length;
    for (const gauge of Object.values(this.gauges)) this.gauge(gauge, header, forward);
    for (const [name, f] of Object.entries(this.fields)) {
      const target = header.target[name];
      if (!target) continue;
      f.inputs.forEach((input, k) => document.activeElement !== input && (input.value = number(target[k] * f.factor, 4).replace("−", "-")));
      f.error.textContent = `off by ${quantity(Math.hypot(...header.error[name]), f.row.unit, 2)}`;
    }
  }

  gauge(gauge, header, forward) {
    const { row } = gauge;
    const effort = header.effort[row.name]?.[0] ?? 0;
    const moved = header.displacement[row.name]?.[0] ?? 0;
    const lost = header.lost.includes(row.name);
    gauge.seen = { effort, displacement: moved };
    const [low, high] = [row.effort[0] ?? -Math.abs(row.effort[1] ?? 1), row.effort[1] ?? (Math.abs(effort) * 2 || 1)];
    const zero = (0 - low) / (high - low);
    const at = Math.min(1, Math.max(0, (effort - low) / (high - low)));
    gauge.fill.style.left = `${100 * Math.min(zero, at)}%`;
    gauge.fill.style.width = `${100 * Math.abs(at - zero)}%`;
    gauge.value.textContent = lost ? (row.kind === "Cable" ? "cut" : "broken") : header.slack.includes(row.name) ? "slack" : within(effort, row.effort, row.effort_unit);
    gauge.other.textContent = within(moved, row.displacement, row.unit);
    gauge.box.classList.toggle("lost", lost);
    gauge.box.classList.toggle("limit", header.limits.some((l) => l.startsWith(`${row.name}:`) && !l.includes("smallest")));
    gauge.box.classList.toggle("slack", header.slack.includes(row.name));
    if (lost !== gauge.wasLost) {
      gauge.cut.replaceChildren(icon(lost ? ICONS.mend : ICONS.cut));
      gauge.cut.title = lost ? `Mend ${row.name}` : breaking(row);
      gauge.wasLost = lost;
    }
    gauge.cut.hidden = !this.live || !this.alterable;
    if (!forward) return;
    const asked = header.desk.asked[row.name];
    if (!asked || document.activeElement === gauge.slider || performance.now() - (gauge.touched ?? 0) < 800) return;
    gauge.drive = asked[0];
    const [from, to] = this.limits(gauge);
    gauge.slider.value = Math.round((1000 * (asked[1] - from)) / (to - from));
    this.caption(gauge, asked[1]);
  }

  // A bubble at a cable that was clicked.
  point(name, x, y) {
    if (!this.live) return;
    const button = h("button", { onclick: () => { this.app.send({ do: "cut", row: name, on: true }); this.bubble.hidden = true; } }, icon(ICONS.cut, "Cut it"));
    this.bubble.replaceChildren(h("b", {}, name), this.rows[name]?.role === "actuator" ? button : "");
    this.bubble.hidden = false;
    this.bubble.style.transform = `translate(${x + 12}px, ${y - 20}px)`;
  }
}

// Building: a robot of one's own from an STL or STEP part, edited while it runs. The panel's part of it; what is picked: pick.js.
import { h } from "./dom.js";
import { named } from "./panel.js";
import { upload } from "./upload.js";
import { number, quantity } from "./units.js";

const TOOLS = {
  clamp: ["Hold", "Click the face that is held. What is not flat is held around the point."],
  cable: ["Draw a cable", "Press on the body and draw the way of the cable along its skin."],
  tip: ["Set a tip", "Click the point that should follow a target."],
};

const LIVELY = 25, ACCURATE = 0.02, STEEPNESS = 4; // Hz, of a motion, time of a step by 1/edge: as in pliant/project/fit.py

export class Build {
  constructor(app) {
    this.app = app;
    this.tool = null;
    this.file = h("input", { id: "part", type: "file", accept: ".stl,.step,.stp", hidden: true, onchange: () => this.chosen() });
    this.unit = h("select", { id: "unit", title: "Unit of an STL part; a STEP part states its own" }, ...[["", "unit: guess"], ["mm", "mm"], ["cm", "cm"], ["m", "m"], ["in", "in"]].map(([value, word]) => h("option", { value }, word)));
    this.projects = h("select", { id: "open-project", title: "Open a project that was saved here", onchange: () => this.open() });
    this.busy = h("p", { class: "busy", role: "status", hidden: true });
    this.body = h("div", { class: "build", hidden: true });
    this.element = h("section", { id: "build" }, h("h2", {}, "Build"),
      h("div", { class: "adders" }, this.file, h("button", { id: "new", onclick: () => this.file.click() }, "New from STL/STEP"), this.unit, this.projects), this.busy, this.body);
  }

  say(message) {
    this.app.send(message);
  }

  chosen() {
    const [file] = this.file.files;
    this.file.value = "";
    if (file) upload(file, this.unit.value, (message) => this.say(message), (why) => this.app.bar.toast(why));
  }

  open() {
    if (this.projects.value) this.say({ do: "open", name: this.projects.value });
    this.projects.value = "";
  }

  build(header, live) {
    this.element.hidden = !live;
    const names = header.projects ?? [];
    this.projects.hidden = !names.length;
    this.projects.replaceChildren(h("option", { value: "" }, "Open …"), ...names.map((name) => h("option", { value: name }, name)));
    const same = Boolean(header.draft) && this.draft?.name === header.draft.name; // edited: the tool in hand stays there
    this.draft = header.draft ?? null;
    this.body.hidden = !this.draft;
    const typed = same ? this.size.value : ""; // what is being typed outlives a panel that is made anew
    if (this.draft) this.fill(header, typed);
    this.app.pick.build(this.draft, same);
    this.use(same ? this.tool : null);
  }

  fill(header, typed) {
    const { draft } = this;
    const input = (label, value, change, more = {}) => h("input", { type: "number", step: "any", "aria-label": label, value, onchange: change, ...more });
    this.figures = h("output", { class: "soft" });
    this.fits = h("p", { class: "soft advice", id: "fits" });
    this.faster = h("button", { id: "fast", title: "Make a reduced model that runs in its place, in the background", onclick: () => this.say({ do: "fast", on: !this.making }) }, "Make it fast");
    const size = (this.size = input("edges of the mesh in mm", typed, () => {}, { id: "edges", placeholder: "edges" }));
    const again = h("button", { id: "remesh", onclick: () => Number(size.value) > 0 && this.say({ do: "remesh", size: Number(size.value) / 1e3 }) }, "Mesh again");
    const stuff = h("select", { id: "material", onchange: () => this.say({ do: "material", name: stuff.value }) },
      ...(draft.material ? [] : [h("option", { value: "" }, "of the file")]), ...Object.entries(header.materials).map(([name, young]) => h("option", { value: name, selected: name === draft.material }, `${name}, ${quantity(young, "Pa", 2)}`)));
    const pull = draft.gravity.map((g, k) => input(`gravity, ${"xyz"[k]}`, g, () => this.say({ do: "gravity", value: pull.map((i) => Number(i.value)) })));
    this.buttons = Object.fromEntries(Object.entries(TOOLS).map(([tool, [word, what]]) => [tool, h("button", { "data-tool": tool, title: what, "aria-pressed": false, onclick: () => this.use(this.tool === tool ? null : tool) }, word)]));
    this.advice = h("p", { class: "soft advice" });
    this.edits = h("button", { id: "undo", onclick: () => this.say({ do: "undo" }) }, "Undo");
    const name = h("input", { id: "name", type: "text", "aria-label": "name of the project", value: draft.name, maxlength: 60 });
    this.body.replaceChildren(
      h("div", { class: "line" }, h("b", {}, draft.name), this.figures),
      h("div", { class: "pair" }, "Speed", draft.model ? h("small", { id: "model", class: "soft" }, `Reduced: ${draft.model}.`) : this.faster),
      this.fits,
      h("div", { class: "pair" }, "Mesh", h("span", { class: "fields" }, size, h("span", { class: "soft" }, "mm"), again)),
      h("label", { class: "pair" }, "Material", stuff),
      h("div", { class: "pair" }, "Gravity", h("div", { class: "xyz" }, ...pull.map((field, k) => named("xyz"[k], field)), h("span", { class: "soft" }, "m/s²"))),
      h("div", { class: "adders" }, ...Object.values(this.buttons)), this.advice,
      h("div", { class: "list" }, ...this.rows()),
      h("div", { class: "pair" }, this.edits, h("span", { class: "fields" }, name, h("button", { id: "save", class: "strong", onclick: () => this.say({ do: "save", name: name.value || "robot" }) }, "Save"))),
    );
  }

  // Cables and tips can be taken away, cables shown with handles; chambers are switched.
  rows() {
    const { draft } = this;
    const row = (name, kind, click) => h("div", { class: "thing", "data-own": name }, h("button", { class: "plain name", title: kind, onclick: click }, name), this.largest(name), h("button", { class: "plain remove", "aria-label": `Take ${name} away`, onclick: () => this.say({ do: "forget", name }) }, "×"));
    const cables = Object.keys(draft.cables).map((name) => row(name, "Show its handles: drag them along the skin", () => this.app.pick.show(name)));
    const tips = Object.keys(draft.effectors).map((name) => row(name, "A point with a target", () => this.app.grab.select({ target: name })));
    const chambers = draft.chambers.map((on, k) => h("label", { class: "check thing" }, h("input", { type: "checkbox", checked: on, "data-chamber": k + 1, onchange: (e) => this.say({ do: "chamber", number: k + 1, on: e.target.checked }) }), `chamber ${k + 1}`, h("span", { class: "grow" }), this.largest(`chamber ${k + 1}`)));
    return [...cables, ...chambers, ...tips];
  }

  // The largest effort of an actuator, as a field.
  largest(name) {
    const value = this.draft.limits[name];
    const unit = this.app.rows?.[name]?.effort_unit;
    if (value == null || !unit) return "";
    const factor = unit === "Pa" ? 1e-3 : 1;
    const field = h("input", { type: "number", step: "any", class: "limit", "aria-label": `largest effort of ${name}`, value: Number((value * factor).toPrecision(4)), onchange: () => this.say({ do: "limit", name, value: Number(field.value) / factor }) });
    return h("span", { class: "fields" }, h("small", { class: "soft" }, "to"), field, h("small", { class: "soft" }, unit === "Pa" ? "kPa" : unit));
  }

  use(tool) {
    this.tool = tool;
    for (const [key, button] of Object.entries(this.buttons ?? {})) button.setAttribute("aria-pressed", key === tool);
    if (this.advice) this.advice.textContent = tool ? TOOLS[tool][1] : "";
    if (!tool) this.app.pick.end();
  }

  frame({ desk }) {
    const { busy = "", rate = null, error = null, edits = 0, making = false } = desk.build ?? {};
    this.busy.hidden = !busy;
    this.busy.textContent = `${busy} …`;
    if (!this.draft) return;
    this.edits.disabled = !edits || Boolean(busy);
    this.making = making;
    this.faster.textContent = making ? "Stop" : "Make it fast";
    this.faster.disabled = Boolean(busy) && !making;
    const pace = rate ? `about ${number(rate, 2)} Hz here` : "rate not known yet";
    const rough = error === null ? "" : ` · error of its mesh ${number(100 * error, 2)} %`;
    this.figures.textContent = `${this.draft.nodes} nodes · ${pace}${rough}`;
    this.fits.textContent = advice(rate, error, Boolean(this.draft.model));
  }
}

// What follows from the rate [Hz] and the error of the mesh (a share), as far as they are known.
export function advice(rate, error, reduced) {
  if (rate && rate < LIVELY && !reduced) return `Slow: make it fast, or mesh it again with edges ${number((LIVELY / rate) ** (1 / STEEPNESS), 2)} times as long.`;
  if (error > ACCURATE) return reduced ? "Shorter edges are more accurate: mesh it again, then make it fast." : "Shorter edges are more accurate; where that is too slow, make it fast.";
  return "";
}

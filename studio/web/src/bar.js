// The bar at the top: robot, mode, time, recording, pictures, theme. And the sentence at the bottom.
import { h, icon, ICONS } from "./dom.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];

export class Bar {
  constructor(app) {
    this.app = app;
    const button = (id, path, title, onclick) => h("button", { id, class: "round", title, "aria-label": title, onclick }, icon(path));
    this.robots = h("select", { id: "robot", title: "Choose a robot", onchange: () => app.send({ do: "robot", name: this.robots.value }) });
    this.modes = h("div", { class: "segments", role: "radiogroup", "aria-label": "Mode" },
      h("button", { id: "inverse", role: "radio", title: "You move the target; the robot works out which actuators to pull", onclick: () => app.send({ do: "mode", mode: "inverse" }) }, h("span", { class: "more" }, "Move the "), "target"),
      h("button", { id: "forward", role: "radio", title: "You set the actuators; the robot shows where it comes to rest", onclick: () => app.send({ do: "mode", mode: "forward" }) }, h("span", { class: "more" }, "Set the "), "actuators"),
      h("button", { id: "dynamic", role: "radio", title: "You set the actuators; the robot moves in time, with its inertia: it swings", onclick: () => app.send({ do: "mode", mode: "dynamic" }) }, h("span", { class: "more" }, "Let it "), "swing"));
    this.play = button("play", ICONS.pause, "Pause (space)", () => this.toggle());
    this.speed = h("select", { id: "speed", title: "Speed", onchange: () => app.send({ do: "speed", value: Number(this.speed.value) }) },
      ...SPEEDS.map((s) => h("option", { value: s, selected: s === 1 }, `${s}×`)));
    this.record = h("button", { id: "record", class: "record", title: "Record every step to a file", onclick: () => app.send({ do: "record", on: app.header.desk.recording === null }) }, icon(ICONS.record), h("span", {}, "Record"));
    this.chip = h("span", { class: "chip", hidden: true });
    this.control = h("button", { id: "control", class: "chip strong", hidden: true, onclick: () => app.link.send({ do: "control", take: true }) }, "Take control");
    this.watch = h("span", { class: "chip", hidden: true });
    this.back = h("button", { id: "back", class: "chip strong", hidden: true, onclick: () => app.source(null) }, "Back to the live robot");
    this.file = h("input", { id: "file", type: "file", accept: ".mcap,.html", hidden: true, onchange: () => this.chosen() });
    this.live = h("div", { class: "group live" }, this.robots, this.modes);
    this.element = h("header", {},
      h("div", { class: "brand" }, h("b", {}, "pliant"), h("span", {}, "studio")), this.live, this.back,
      h("div", { class: "group time" }, this.play, button("step", ICONS.step, "One step", () => app.send({ do: "step" })), button("reset", ICONS.reset, "Back to the beginning", () => app.send({ do: "reset" })), this.speed, this.record),
      h("div", { class: "space" }), this.watch, this.control, this.chip,
      h("div", { class: "group tools" },
        this.file, button("open", ICONS.open, "Open a recording (mcap or player); or drop it here", () => this.file.click()),
        button("picture", ICONS.camera, "Save a picture (PNG)", () => app.savePicture()),
        button("film", ICONS.film, "Film the view (WebM video)", () => app.film()),
        button("theme", ICONS.moon, "Light or dark", () => app.toggleTheme()),
        button("help", ICONS.help, "What can I do here?", () => app.welcome(true)),
        button("panel-toggle", ICONS.panel, "Show or hide the panel", () => document.body.classList.toggle("wide"))));
    this.dot = h("i");
    this.words = h("span", { id: "words" }, "Starting the simulation …");
    this.clock = h("span", { class: "clock" });
    this.timeline = h("input", { id: "timeline", type: "range", min: 0, max: 1, step: 0.001, value: 0, hidden: true, "aria-label": "Time", oninput: () => app.link.seek(Number(this.timeline.value)) });
    this.status = h("footer", { "aria-live": "polite" }, this.dot, this.words, this.timeline, this.clock);
    this.toasts = h("div", { class: "toasts" });
    this.saved = null; // recordings known so far
    this.playing = true;
  }

  toggle() {
    this.app.send({ do: "play", on: !this.app.header.desk.playing });
  }

  chosen() {
    if (this.file.files[0]) this.app.openFile(this.file.files[0]);
    this.file.value = ""; // the same file may be chosen again
  }

  build(header, live, served) {
    this.live.hidden = this.record.hidden = !live;
    this.timeline.hidden = live;
    this.back.hidden = live || !served;
    this.saved = null;
    if (!live) return;
    const names = Object.entries(header.robots ?? {});
    this.robots.replaceChildren(...names.map(([name, what]) => h("option", { value: name, title: what }, name)));
    const role = (name) => header.rows.some((r) => r.role === name);
    this.modes.hidden = !role("actuator");
    this.modes.firstChild.hidden = !role("effector");
  }

  frame(header, link) {
    const { desk } = header;
    if (desk.playing !== this.playing) {
      this.playing = desk.playing;
      this.play.replaceChildren(icon(this.playing ? ICONS.pause : ICONS.play));
      this.play.title = this.playing ? "Pause (space)" : "Play (space)";
    }
    if (document.activeElement !== this.speed) this.speed.value = String(desk.speed);
    if (desk.chosen && document.activeElement !== this.robots) this.robots.value = desk.chosen;
    for (const b of this.modes.children) b.setAttribute("aria-checked", b.id === header.mode);
    this.words.textContent = this.words.title = desk.notice || header.words;
    this.status.dataset.severity = desk.notice ? "bad" : this.app.severity(header);
    this.clock.textContent = `${header.time.toFixed(2)} s${this.app.slowness.frame(header, link, this.app.plots.kept)}`;
    if (!link.live) {
      this.timeline.max = link.duration;
      if (document.activeElement !== this.timeline || link.playing) this.timeline.value = Math.min(link.at, link.duration);
    }
    this.recorded(desk);
  }

  recorded(desk) {
    const on = desk.recording !== null;
    if (on || this.recording) this.record.lastChild.textContent = on ? `${desk.recording} frames` : "Record";
    if (on !== this.recording) this.record.firstChild.replaceWith(icon(on ? ICONS.stop : ICONS.record));
    this.recording = on;
    this.record.classList.toggle("on", on);
    if (desk.recordings > (this.saved ?? desk.recordings)) this.offer(desk.recordings);
    this.saved = desk.recordings;
  }

  offer(number) {
    const to = (kind, label) => h("a", { href: `/recording/${number}.${kind}${location.search}`, download: `recording-${number}.${kind}` }, label);
    const watch = h("button", { class: "strong", onclick: () => this.app.watch(number) }, "Watch it");
    this.toast(h("div", { class: "saved" }, h("b", {}, `Recording ${number} is saved. `), watch, " ", to("html", "Player (HTML)"), " · ", to("mcap", "Data (mcap)"), " · ", to("csv", "Table (CSV)")), 60000);
  }

  toast(content, time = 5000) {
    const close = h("button", { class: "plain", "aria-label": "Close", onclick: () => box.remove() }, "×");
    const box = h("div", { class: "toast" }, content, close);
    this.toasts.append(box);
    setTimeout(() => box.remove(), time);
  }

  held({ held, viewers }) {
    this.watch.hidden = viewers < 2;
    this.watch.textContent = `${viewers} viewers`;
    this.control.hidden = held === "you" || !this.app.link?.live;
    this.control.textContent = held === "other" ? "Another viewer is in control: take over" : "Take control";
  }

  device(id) {
    this.chip.hidden = !id;
    this.chip.textContent = id ? "Gamepad: moves what is selected" : "";
    this.chip.title = id;
  }

  lost(state) {
    if (state === "open") return document.body.classList.remove("lost");
    document.body.classList.add("lost");
    this.words.textContent = state === "full" ? "Too many viewers at once; trying again." : "No connection to the simulation; trying again.";
    this.status.dataset.severity = "bad";
  }
}

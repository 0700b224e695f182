// The studio: a source of frames (live or recorded), a scene that draws them, a panel and a bar around it.
import { Vector3 } from "three";
import { Bar } from "./bar.js";
import { Build } from "./build.js";
import { readPlayer } from "./bytes.js";
import { GRADIENT } from "./colours.js";
import { Devices } from "./devices.js";
import { h } from "./dom.js";
import { dropped, readFile } from "./files.js";
import { Grab } from "./grab.js";
import { Lines } from "./lines.js";
import { Link } from "./link.js";
import { Marks } from "./marks.js";
import { readRecording } from "./mcap.js";
import { Panel } from "./panel.js";
import { Pick } from "./pick.js";
import { Plots } from "./plots.js";
import { Probe } from "./probe.js";
import { Replay } from "./replay.js";
import { Skin } from "./skin.js";
import { Slowness } from "./slowness.js";
import { Stage } from "./stage.js";
import { Things } from "./things.js";
import { Scale } from "./scale.js";
import { number, quantity } from "./units.js";

class App {
  constructor() {
    this.drawn = 0; // frames
    this.written = 0; // when the texts were
    this.unwritten = false; // whether they are behind
    this.able = false; // may command
    this.host = h("main", {});
    this.labels = h("div", { class: "labels" });
    this.plots = new Plots();
    this.bar = new Bar(this);
    this.stage = new Stage(this.host);
    this.skin = new Skin(this.stage.scene);
    this.things = new Things(this.stage.scene);
    this.marks = new Marks(this.stage, this.labels);
    this.lines = new Lines(this.stage.scene, [this.host.clientWidth || 1, this.host.clientHeight || 1]);
    this.pick = new Pick(this);
    this.build = new Build(this);
    this.panel = new Panel(this);
    this.probe = new Probe(this);
    this.slowness = new Slowness(this.host);
    this.scale = new Scale(this.stage, this.labels);
    this.grab = new Grab(this);
    this.devices = new Devices(this);
    this.legend = h("div", { class: "legend", hidden: true }, h("i", { style: `background:${GRADIENT}` }), h("span"), h("span"), h("b"));
    this.tip = h("div", { class: "tip", hidden: true });
    this.host.append(this.labels, this.legend, this.tip, this.bar.toasts);
    document.getElementById("app").append(this.bar.element, this.host, this.panel.element, this.bar.status);
    new ResizeObserver(() => this.lines.resize(this.host.clientWidth, this.host.clientHeight)).observe(this.host);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.setTheme(remembered("theme") ?? (dark.matches ? "dark" : "light"));
    dropped(document.body, (file) => this.openFile(file));
    this.open();
    this.picture();
  }

  // The source of frames: the recording in this file, or the server it came from; or a recording that someone opens.
  open() {
    const data = document.getElementById("recording");
    this.served = !data;
    this.source(data ? readPlayer(data.textContent.trim()) : null);
  }

  source(recording) {
    this.link?.close();
    const handlers = {
      stage: (packet) => this.begin(packet),
      obstacles: (note) => this.obstacles(note),
      control: (note) => this.control(note),
      refused: (note) => this.bar.toast(`Not done: ${note.why}.`),
      link: (state) => this.bar.lost(state),
      failed: (error) => this.failed(error),
    };
    this.able = false;
    this.link = recording ? new Replay(recording, handlers) : new Link(handlers);
    document.body.classList.toggle("player", !this.link.live);
    this.marks.hinted = !this.link.live;
  }

  openFile(file) {
    this.source(readFile(file));
  }

  // A recording that this server has finished.
  watch(number) {
    const data = async () => readRecording(await (await fetch(`/recording/${number}.mcap${location.search}`)).arrayBuffer());
    this.source(data());
  }

  failed(error) {
    this.bar.toast(`It cannot be opened: ${error.message}.`, 12000);
    if (this.served) this.source(null);
  }

  send(message) {
    if (this.able || !this.link.live) this.link.send(message);
  }

  begin(packet) {
    const { header, blocks } = packet;
    const edited = Boolean(header.draft) && this.scene?.draft?.name === header.draft.name;
    this.scene = header;
    this.statuses = header.statuses ?? this.statuses ?? {}; // recordings of version 0.1 have none of their own
    this.rows = Object.fromEntries(header.rows.map((r) => [r.name, r]));
    const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
    for (let k = 0; k < blocks.rest.length; k += 3) {
      const p = new Vector3().fromArray(blocks.rest, k);
      low.min(p), high.max(p);
    }
    this.stage.fit(low, high, header.up, edited);
    this.skin.build(packet);
    this.packet = null;
    for (const part of [this.lines, this.things, this.marks, this.plots, this.probe, this.scale, this.slowness]) part.build(header);
    this.bar.build(header, this.link.live, this.served);
    this.panel.build(header, this.link.live);
    this.build.build(header, this.link.live);
    this.panel.obstacles({});
    this.setTheme(this.theme);
    const first = Object.keys(this.marks.targets)[0];
    this.grab.select(first ? { target: first } : null);
    document.title = `${header.robot} · pliant studio`;
    this.panel.setColour(this.skin.look.colour); // a new connection does not know it
    this.newScene = true;
    if (!edited) this.welcome(false);
  }

  // How bad a frame's status is: "good", "busy", "limit" or "bad", as pliant/status.py says.
  severity({ status }) {
    return this.statuses[status] ?? "";
  }

  obstacles(note) {
    const before = Object.keys(this.things.known).length;
    this.things.update(note, this.grab.heldObstacle);
    this.stage.stale = true;
    this.panel.obstacles(this.things.known);
    const names = Object.keys(this.things.known);
    if (!this.newScene && names.length > before) this.grab.select({ obstacle: names.at(-1) });
    else if (this.grab.selected?.obstacle && !this.things.known[this.grab.selected.obstacle]) this.grab.select(this.next(null));
  }

  control(note) {
    this.able = note.held === "you";
    this.stage.stale = true;
    document.body.classList.toggle("watching", this.link?.live !== false && !this.able);
    this.bar.held(note);
    this.grab.attach();
  }

  // What may be selected, after another: targets, then obstacles.
  next(what) {
    const all = [...Object.keys(this.marks.targets).map((target) => ({ target })), ...Object.keys(this.things.known).map((obstacle) => ({ obstacle }))];
    const at = all.findIndex((x) => x.target === what?.target && x.obstacle === what?.obstacle);
    return all[(at + 1) % (all.length || 1)] ?? null;
  }

  picture() {
    requestAnimationFrame(() => this.picture());
    this.devices.poll();
    if (!this.stage.ready()) return;
    const packet = this.link.take();
    if (packet) this.frame(packet);
    this.write(performance.now());
    if (!this.stage.due && !this.filming) return;
    for (const part of [this.marks, this.probe, this.scale]) part.face();
    this.stage.draw();
  }

  frame(packet) {
    const { header } = packet;
    if (this.header && header.step < this.header.step) this.lines.begin();
    this.header = header;
    this.packet = packet;
    this.skin.show(packet, this.rows);
    if (this.link.live) this.stage.sink(header.box);
    this.marks.frame(packet, this.grab.heldTarget, this.severity(header));
    this.drawLines();
    this.grab.attach();
    this.grab.pull();
    this.plots.frame(header);
    this.probe.frame(packet);
    this.pick.frame();
    this.unwritten = true;
    this.newScene = false;
    this.stage.stale = true;
    this.drawn++;
  }

  // The texts around the picture. Where all is drawn in software they cost as much as the picture: a few times per second will do.
  write(now) {
    if (!this.unwritten || now < this.written + (this.stage.software ? 250 : 66)) return;
    this.unwritten = false;
    this.written = now;
    this.bar.frame(this.header, this.link);
    this.panel.frame(this.header);
    this.build.frame(this.header);
    this.marks.write();
    this.probe.write();
    this.plots.draw();
    this.drawLegend();
  }

  drawLines() {
    this.lines.frame(this.packet, this.rows);
    const balls = Object.values(this.marks.targets);
    this.lines.follow(Object.values(this.marks.tips).map((t) => t.position), balls.map((b) => (b.visible ? b.position : null)));
  }

  repaint() {
    if (!this.skin.mesh) return;
    this.skin.update(this.skin.positions);
    this.stage.stale = true;
    this.drawLegend();
  }

  drawLegend() {
    const { legend } = this.skin;
    this.legend.hidden = !legend;
    if (!legend) return;
    const [, top, zero, label] = this.legend.children;
    top.textContent = legend.unit ? quantity(legend.top, legend.unit) : `${number(100 * legend.top)} %`;
    zero.textContent = "0";
    label.textContent = { displacement: "Displacement", strain: "Strain, largest", stress: "Stress, von Mises" }[legend.name];
  }

  setView(key, on) {
    if (key in this.skin.look) this.skin.look[key] = on;
    if (key in this.lines.show) this.lines.show[key] = on;
    if (key in this.marks.show) this.marks.show[key] = on;
    this.skin.apply();
    this.stage.stale = this.link.asked = true;
  }

  setClip(axis, share) {
    this.skin.apply(this.stage.cut(axis, share));
    this.stage.stale = true;
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    for (const part of [this.skin, this.lines, this.marks, this.things, this.probe, this.scale, this.pick]) part.theme?.(name);
    this.stage.paint(name);
    if (this.packet) this.drawLines(); // their colours are in the points
    if (this.scene) this.plots.choose(this.plots.kind);
  }

  toggleTheme() {
    this.setTheme(this.theme === "dark" ? "light" : "dark");
    remember("theme", this.theme);
  }

  // A new obstacle beside (or below) the first effector, or the robot.
  addThing(kind) {
    const { stage, scene } = this;
    const tip = Object.values(this.marks.tips)[0]?.position ?? stage.centre;
    const below = scene.offers[kind].where === "below";
    const size = 0.16 * scene.length;
    const at = below ? tip.clone().addScaledVector(stage.up, -0.12 * scene.length) : this.free(tip, 0.22 * scene.length, size);
    this.send({ do: "add", kind, at: at.toArray(), size });
    this.touched();
  }

  // A place beside a point, so far away, that is in view and not in the body: the nearest way round from the right.
  free(point, way, size) {
    const right = new Vector3().setFromMatrixColumn(this.stage.camera.matrixWorld, 0);
    const above = new Vector3().setFromMatrixColumn(this.stage.camera.matrixWorld, 1);
    const around = [0, -0.5, 0.5, -1, 1, 1.5].map((turn) => point.clone().addScaledVector(right, way * Math.cos(turn * Math.PI / 2)).addScaledVector(above, way * Math.sin(turn * Math.PI / 2)));
    const beside = [...around, point.clone().addScaledVector(right, -way)];
    const clear = beside.find((place) => this.stage.sees(place) && this.skin.clears(place, 0.6 * size));
    return clear ?? beside.find((place) => this.stage.sees(place)) ?? this.stage.orbit.target.clone().addScaledVector(right, way);
  }

  // The user knows how: no more hint.
  touched() {
    this.marks.hinted = true;
    document.querySelector(".welcome")?.remove();
  }

  hint(what) {
    const text = what?.skin ? "Drag to pull on the body, click to read its stress" : what?.target ? `Where ${what.target} should go: drag it` : what?.obstacle ? `${what.obstacle}: drag it against the body` : what?.cable ? `${what.cable}: click to cut it` : "";
    this.tip.hidden = !text;
    this.tip.textContent = text;
  }

  welcome(asked) {
    document.querySelector(".welcome")?.remove();
    if (!asked && (remembered("welcomed") || !this.link.live)) return;
    const keys = "Drag the background to turn the view, two fingers or the right button to shift it, wheel to zoom. Arrow keys and gamepads move what is selected.";
    const aims = Object.keys(this.marks.targets ?? {}).length > 0;
    const move = aims ? [["Drag the pink ball", "the robot follows, and works out how to pull its actuators."], ["Read the line at the bottom", "has it arrived, and if it stops short, why."]] : this.scene?.rows.some((r) => r.role === "effector") ? [["Set its target", "with the numbers at the side: the robot works out how to pull its actuators."], ["Read the line at the bottom", "has it arrived, and if it stops short, why."]] : [["Set the actuators", "with the sliders at the side."]];
    const live = [...move, ["Put a ball in its way", "under Obstacles. Arrows show how hard it pushes back."], ["Pull on the body", "drag anywhere on it. Click it to read stress, displacement and contact force there; click a cable to cut it."]];
    const watched = this.link.live && this.scene && !this.scene.alterable && !this.scene.rows.some((r) => r.role === "actuator");
    const items = watched ? [["Look on", "something else moves this robot. Turn the view, change the colours, record it."]] : this.link.live ? live : [["This is a recording", "drag the time line, turn the view, change the colours."]];
    const card = h("div", { class: "welcome" }, h("h1", {}, this.scene?.robot ?? "pliant"), h("p", {}, this.scene?.summary ? `${this.scene.summary[0].toUpperCase()}${this.scene.summary.slice(1)}.` : ""), h("ul", {}, ...items.map(([a, b]) => h("li", {}, h("b", {}, a), `: ${b}`))), h("p", { class: "soft" }, keys), h("button", { class: "strong", onclick: () => (card.remove(), remember("welcomed", "yes")) }, "Got it"));
    this.host.append(card);
  }

  savePicture() {
    this.stage.draw();
    this.stage.renderer.domElement.toBlob((blob) => save(blob, `${this.scene?.robot ?? "pliant"}.png`));
  }

  film() {
    const button = document.getElementById("film");
    if (this.filming) return this.filming.stop();
    const type = ["video/webm", "video/mp4"].find((t) => window.MediaRecorder?.isTypeSupported(t));
    if (!type) return this.bar.toast("This browser cannot film.");
    const parts = [];
    this.filming = new MediaRecorder(this.stage.renderer.domElement.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
    this.filming.ondataavailable = (e) => parts.push(e.data);
    this.filming.onstop = () => {
      save(new Blob(parts, { type }), `${this.scene?.robot ?? "pliant"}.${type.slice(6)}`);
      this.filming = null;
      button.classList.remove("on");
    };
    this.filming.start();
    button.classList.add("on");
  }
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Storage may be forbidden, as for files.
function remembered(key) {
  try { return localStorage.getItem(`pliant ${key}`); } catch { return null; }
}

function remember(key, value) {
  try { localStorage.setItem(`pliant ${key}`, value); } catch { /* nothing is lost */ }
}

window.studio = new App();

// Marks: target balls, rings on the effectors, arrows of contact forces and of the hand, labels beside them.
import { Color, ConeGeometry, CylinderGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, Quaternion, RingGeometry, SphereGeometry, Vector3 } from "three";
import { PALETTE } from "./colours.js";
import { h } from "./dom.js";
import { quantity } from "./units.js";

const MOST = 400; // arrows
const UP = new Vector3(0, 1, 0);

class Arrows {
  constructor(scene, most) {
    this.material = new MeshStandardMaterial({ roughness: 0.5, depthTest: false, transparent: true });
    this.shaft = new InstancedMesh(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), this.material, most);
    this.head = new InstancedMesh(new ConeGeometry(1, 1, 14).translate(0, 0.5, 0), this.material, most);
    for (const m of [this.shaft, this.head]) (m.frustumCulled = false), (m.renderOrder = 6), (m.count = 0), scene.add(m);
    this.most = most;
  }

  // Arrows that end at `tip` (towards = true) or begin there, along `vector`, `length` long.
  set(list, thick) {
    const n = Math.min(list.length, this.most);
    this.shaft.count = this.head.count = n;
    for (let k = 0; k < n; k++) {
      const { point, vector, length, towards } = list[k];
      const along = vector.clone().normalize();
      const turn = new Quaternion().setFromUnitVectors(UP, along);
      const start = towards ? point.clone().addScaledVector(along, -length) : point;
      const tip = Math.min(0.5 * length, 4.5 * thick);
      this.shaft.setMatrixAt(k, new Matrix4().compose(start, turn, new Vector3(thick, length - tip, thick)));
      const neck = start.clone().addScaledVector(along, length - tip);
      this.head.setMatrixAt(k, new Matrix4().compose(neck, turn, new Vector3(2.4 * thick, tip, 2.4 * thick)));
    }
    this.shaft.instanceMatrix.needsUpdate = this.head.instanceMatrix.needsUpdate = true;
  }
}

export class Marks {
  constructor(stage, labels) {
    this.stage = stage;
    this.labels = labels;
    this.group = new Group();
    stage.scene.add(this.group);
    this.contacts = new Arrows(stage.scene, MOST);
    this.hand = new Arrows(stage.scene, 1);
    this.show = { forces: true };
    this.reference = 0.2; // force of a long arrow [N]
    this.forceLabel = h("div", { class: "tag contact", hidden: true });
    this.handLabel = h("div", { class: "tag hand", hidden: true });
    this.hint = h("div", { class: "tag hint", hidden: true }, "Drag me");
    this.shortLabel = h("div", { class: "tag short", hidden: true });
    labels.append(this.forceLabel, this.handLabel, this.hint, this.shortLabel);
    this.hinted = false;
  }

  build(header) {
    this.group.clear();
    this.length = header.length;
    this.targets = {};
    this.moved = header.rows.some((row) => row.role === "actuator"); // without actuators nobody can drag it anywhere
    this.tips = {};
    const r = 0.024 * this.length;
    for (const row of header.rows.filter((x) => x.role === "effector" && x.kind === "Position" && x.size === 3)) {
      const ball = new Mesh(new SphereGeometry(r, 24, 16), new MeshStandardMaterial({ roughness: 0.35, depthTest: false, transparent: true, opacity: 0.92 }));
      ball.renderOrder = 6; // seen through the body: it often is inside
      ball.userData = { target: row.name };
      const halo = new Mesh(new RingGeometry(1.5 * r, 1.75 * r, 48), new MeshBasicMaterial({ transparent: true, opacity: 0.55, depthTest: false }));
      halo.renderOrder = 7;
      ball.add(halo);
      ball.castShadow = true;
      const ring = new Mesh(new RingGeometry(0.5 * r, 0.8 * r, 32), new MeshBasicMaterial({ depthTest: false, transparent: true }));
      ring.renderOrder = 7;
      this.group.add(ball, ring);
      this.targets[row.name] = ball;
      this.tips[row.name] = ring;
      ball.visible = false;
    }
    this.theme(this.stage.theme);
  }

  theme(name) {
    const p = PALETTE[name];
    for (const ball of Object.values(this.targets ?? {})) {
      ball.material.color.set(p.target);
      ball.children[0].material.color.set(p.target);
    }
    for (const ring of Object.values(this.tips ?? {})) ring.material.color.set(p.target);
    this.contacts.material.color.set(p.contact);
    this.hand.material.color.set(p.push);
    this.contacts.material.emissive.set(new Color(p.contact).multiplyScalar(0.35));
    this.hand.material.emissive.set(new Color(p.push).multiplyScalar(0.35));
  }

  frame({ header, blocks }, held, severity) {
    for (const [name, ball] of Object.entries(this.targets)) {
      const target = header.target[name];
      ball.visible = Boolean(target);
      if (target && held !== name) ball.position.fromArray(target);
      this.tips[name].position.fromArray(header.displacement[name]);
    }
    this.stopped(header, severity);
    this.force(blocks.touch ?? new Float32Array(0));
    this.pushed(header.push);
  }

  // How far the worst effector stays from its target, if it comes no nearer.
  stopped({ error }, severity) {
    const far = (name) => Math.hypot(...(error[name] ?? [0]));
    const [worst] = Object.keys(this.targets).sort((a, b) => far(b) - far(a));
    const short = worst && ["limit", "bad"].includes(severity);
    this.shortAt = short ? this.targets[worst].position : null;
    if (short) this.shortLabel.words = `${quantity(far(worst), "m", 2)} short`;
  }

  force(touch) {
    const list = [];
    let largest = 0, where = null, total = 0;
    for (let k = 0; k < touch.length; k += 6) {
      const vector = new Vector3(touch[k + 3], touch[k + 4], touch[k + 5]);
      const point = new Vector3(touch[k], touch[k + 1], touch[k + 2]);
      const size = vector.length();
      total += size;
      if (size > largest) (largest = size), (where = point);
      list.push({ point, vector, size, towards: true });
    }
    this.reference = Math.max(0.995 * this.reference, largest, 1e-3);
    for (const arrow of list) arrow.length = this.length * (0.05 + 0.16 * Math.sqrt(arrow.size / this.reference));
    this.contacts.set(this.show.forces ? list : [], 0.0055 * this.length);
    this.forceAt = where;
    this.forceLabel.words = `pushes back with ${quantity(total, "N")}`;
  }

  pushed(push) {
    this.handAt = null;
    if (!push) return this.hand.set([], 0);
    const point = new Vector3(...push.slice(0, 3));
    const vector = new Vector3(...push.slice(3));
    if (!vector.length()) return this.hand.set([], 0);
    const length = this.length * 0.22;
    this.hand.set([{ point, vector, length, towards: false }], 0.008 * this.length);
    this.handAt = point.clone().addScaledVector(vector.clone().normalize(), length);
    this.handLabel.words = `push ${quantity(vector.length(), "N")}`;
  }

  // The labels' texts, with those around the picture.
  write() {
    for (const label of [this.forceLabel, this.handLabel, this.shortLabel]) label.textContent = label.words ?? "";
  }

  // Per picture: rings face the camera, labels stand beside their points.
  face() {
    const q = this.stage.camera.quaternion;
    for (const ball of Object.values(this.targets ?? {})) ball.children[0].quaternion.copy(q);
    for (const ring of Object.values(this.tips ?? {})) ring.quaternion.copy(q);
    this.place(this.forceLabel, this.show.forces ? this.forceAt : null, 10, -40);
    this.place(this.handLabel, this.handAt, 14);
    const ball = Object.values(this.targets ?? {})[0];
    this.place(this.shortLabel, this.shortAt, 26, 10);
    this.place(this.hint, !this.hinted && this.moved && ball?.visible ? ball.position : null, 30);
  }

  place(label, point, gap, lift = -12) {
    label.hidden = !point;
    if (!point) return;
    const [x, y, front] = this.stage.toPage(point);
    const box = this.labels.getBoundingClientRect();
    label.hidden = !front;
    const left = Math.max(4, Math.min(x - box.left + gap, box.width - label.offsetWidth - 6));
    const top = Math.max(4, Math.min(y - box.top + lift, box.height - 30));
    label.style.transform = `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
  }
}

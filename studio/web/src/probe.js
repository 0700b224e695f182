// A point of the skin that was clicked: how far it has moved, its stress, and the contact forces beside it.
import { Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from "three";
import { PALETTE } from "./colours.js";
import { h } from "./dom.js";
import { quantity } from "./units.js";

export class Probe {
  constructor(app) {
    this.app = app;
    this.dot = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ depthTest: false, transparent: true }));
    this.dot.renderOrder = 8;
    this.dot.visible = false;
    app.stage.scene.add(this.dot);
    this.label = h("div", { class: "tag probe", hidden: true });
    app.labels.append(this.label);
  }

  build() {
    this.held = null;
    this.dot.visible = false;
  }

  // Three vertices of the skin and their weights, or null for none.
  pin(held) {
    if (!held && !this.held) return;
    this.held = held;
    this.app.send({ do: "probe", ...(held ?? { vertices: [], weights: [] }) });
    this.app.stage.stale = this.app.link.asked = true;
    this.frame(this.app.packet);
    this.write();
  }

  theme(name) {
    this.dot.material.color.set(PALETTE[name].push);
  }

  frame(packet) {
    this.dot.visible = Boolean(this.held && packet);
    if (!this.dot.visible) return (this.words = "");
    const { vertices, weights } = this.held;
    const { skin } = this.app;
    this.dot.position.copy(skin.at(vertices, weights));
    this.dot.scale.setScalar(0.008 * skin.length);
    const moved = skin.at(vertices, weights).sub(skin.at(vertices, weights, skin.rest)).length();
    const parts = [`moved ${quantity(moved, "m")}`];
    const stress = packet.header.desk.probe?.stress ?? skin.stressAt(vertices, weights);
    if (stress != null) parts.push(`stress ${quantity(stress, "Pa")}`);
    const force = this.contact(packet.blocks.touch ?? [], skin.reach(vertices));
    parts.push(force ? `contact ${quantity(force, "N")}` : "no contact");
    this.words = parts.join(" · ");
  }

  // The sum of the contact forces [N] that act within a facet's size of the point.
  contact(touch, reach) {
    let sum = 0;
    for (let k = 0; k < touch.length; k += 6) {
      const at = new Vector3(touch[k], touch[k + 1], touch[k + 2]);
      if (at.distanceTo(this.dot.position) <= reach) sum += Math.hypot(touch[k + 3], touch[k + 4], touch[k + 5]);
    }
    return sum;
  }

  write() {
    this.label.textContent = this.words ?? "";
  }

  face() {
    this.app.marks.place(this.label, this.dot.visible && this.words ? this.dot.position : null, 14, -34);
  }
}

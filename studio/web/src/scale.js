// Where is where, and how large: the axes with their names, and the length of one step of the grid.
import { Vector3 } from "three";
import { h } from "./dom.js";
import { quantity } from "./units.js";

const SIZE = 76; // pixels of the axes' picture
const ARM = 25;
const AXES = [["x", "#d9622b"], ["y", "#2a8c82"], ["z", "#4a7fb5"]]; // as of the arrows that things are moved by
const RING = 5; // steps from the middle of the grid where its scale may stand

export class Scale {
  constructor(stage, labels) {
    this.stage = stage;
    const svg = (tag, options) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(options)) element.setAttribute(key, value);
      return element;
    };
    this.axes = svg("svg", { class: "axes", width: SIZE, height: SIZE, viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, role: "img", "aria-label": "Axes x, y, z" });
    this.arms = AXES.map(([name, colour]) => {
      const line = svg("line", { x1: 0, y1: 0, stroke: colour, "stroke-width": 2.5, "stroke-linecap": "round" });
      const word = svg("text", { fill: colour, "text-anchor": "middle", "dominant-baseline": "central" });
      word.textContent = name;
      this.axes.append(line, word);
      return { line, word };
    });
    this.step = h("div", { class: "scale", hidden: true });
    labels.append(this.axes, this.step);
  }

  build() {
    this.step.textContent = `${quantity(this.stage.step, "m")} grid`;
  }

  face() {
    const turn = this.stage.camera.quaternion.clone().invert();
    const ends = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].map((v) => v.applyQuaternion(turn));
    this.arms.forEach(({ line, word }, k) => {
      const { x, y } = ends[k];
      line.setAttribute("x2", ARM * x), line.setAttribute("y2", -ARM * y);
      word.setAttribute("x", (ARM + 8) * x), word.setAttribute("y", -(ARM + 8) * y);
    });
    this.place();
  }

  // On the rim of the grid that is nearest to the viewer, if any of it is in view.
  place() {
    const { stage } = this;
    const at = new Vector3();
    let best = null;
    if (!stage.side) return; // nothing is built yet
    for (let k = 0; k < 16; k++) {
      const turn = (k * Math.PI) / 8;
      at.copy(stage.floor.position).addScaledVector(stage.side, RING * stage.step * Math.cos(turn)).addScaledVector(stage.front, RING * stage.step * Math.sin(turn));
      if (!stage.sees(at)) continue;
      const [x, y] = stage.toPage(at);
      if (!best || y > best[1]) best = [x, y];
    }
    this.step.hidden = !best;
    if (!best) return;
    const box = this.step.parentElement.getBoundingClientRect();
    this.step.style.transform = `translate(${(best[0] - box.left).toFixed(1)}px, ${(best[1] - box.top).toFixed(1)}px) translate(-50%, 0)`;
  }
}

// Hand-held devices and keys: they move what is selected. Gamepads and 3-D mice come through the browser's Gamepad API.
import { Vector3 } from "three";

const DEAD = 0.12;

export class Devices {
  constructor(app) {
    this.app = app;
    this.last = performance.now();
    addEventListener("gamepadconnected", (e) => app.bar.device(e.gamepad.id));
    addEventListener("gamepaddisconnected", () => app.bar.device(""));
    addEventListener("keydown", (e) => this.key(e));
  }

  // Per picture: sticks set a velocity.
  poll() {
    const now = performance.now();
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    const pads = navigator.getGamepads?.() ?? [];
    for (const pad of pads) {
      if (!pad) continue;
      const [right, up, towards] = axes(pad);
      if (right || up || towards) this.nudge(right * seconds, up * seconds, towards * seconds);
      this.buttons(pad);
    }
  }

  // Move by shares of the robot's length, along the camera's axes.
  nudge(right, up, towards) {
    const { grab, stage, scene, able } = this.app;
    const object = grab.object(grab.selected);
    if (!object || !able) return;
    const size = 0.5 * scene.length;
    const way = new Vector3(right * size, up * size, towards * size).applyQuaternion(stage.camera.quaternion);
    grab.nudged = performance.now();
    grab.moveSelected(object.position.clone().add(way));
    grab.attach();
    this.app.touched();
  }

  buttons(pad) {
    const down = pad.buttons.map((b) => b.pressed);
    if (down[0] && !this.pressed?.[0]) this.app.bar.toggle();
    if (down[1] && !this.pressed?.[1]) this.app.grab.select(this.app.next(this.app.grab.selected));
    this.pressed = down;
  }

  key(event) {
    if (event.target.closest?.("input, select, textarea, button")) return;
    const step = event.shiftKey ? 0.01 : 0.05;
    const ways = { ArrowLeft: [-step, 0, 0], ArrowRight: [step, 0, 0], ArrowUp: [0, step, 0], ArrowDown: [0, -step, 0], PageUp: [0, 0, -step], PageDown: [0, 0, step] };
    if (ways[event.key]) {
      event.preventDefault();
      this.nudge(...ways[event.key]);
    } else if (event.key === " ") {
      event.preventDefault();
      this.app.bar.toggle();
    } else if (event.key === "n") {
      this.app.grab.select(this.app.next(this.app.grab.selected));
    } else if (event.key === "Delete" && this.app.grab.selected?.obstacle) {
      this.app.send({ do: "remove", name: this.app.grab.selected.obstacle });
    }
  }
}

// Right, up and towards the viewer, −1 … 1.
function axes(pad) {
  const dead = (x) => (Math.abs(x ?? 0) < DEAD ? 0 : x);
  if (/space ?(mouse|navigator|pilot|explorer)|3dconnexion/i.test(pad.id)) return [dead(pad.axes[0]), dead(-pad.axes[2]), dead(pad.axes[1])];
  return [dead(pad.axes[0]), dead(-pad.axes[1]), dead(pad.axes[3])];
}

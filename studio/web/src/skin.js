// The robot's skin: a surface that deforms, with sharp edges kept sharp, colours, a ghost of its rest shape, and cavities.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Group, Mesh, MeshBasicMaterial, MeshStandardMaterial, Vector3 } from "three";
import { HEAT, PALETTE, material } from "./colours.js";
import { expand } from "./bytes.js";

const CREASE = Math.cos((38 * Math.PI) / 180);

export class Skin {
  constructor(scene) {
    this.group = new Group();
    scene.add(this.group);
    this.look = { colour: "displacement", wire: false, xray: false, ghost: true };
  }

  build({ header, blocks }) {
    this.group.clear();
    this.rest = blocks.rest;
    this.triangles = blocks.triangles;
    this.regions = blocks.region;
    this.parts = new Set(this.regions).size;
    this.length = header.length;
    this.positions = Float32Array.from(blocks.rest);
    this.split();
    const n = this.source.length;
    this.corner = new Float32Array(3 * n);
    this.geometry = new BufferGeometry();
    this.geometry.setIndex(new BufferAttribute(this.index, 1));
    for (const name of ["position", "normal", "color"]) this.geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * n), 3));
    this.material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0, side: DoubleSide });
    this.mesh = new Mesh(this.geometry, this.material);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.wire = new Mesh(this.geometry, new MeshBasicMaterial({ wireframe: true, transparent: true, opacity: 0.22, color: 0x000000 }));
    this.wire.frustumCulled = false;
    this.group.add(this.mesh, this.wire);
    this.buildGhost();
    this.buildCavities(header, blocks);
    this.top = roundUp(0.05 * this.length, 0);
    this.apply();
    this.update(this.positions);
  }

  // Split vertices where faces meet at a sharp edge at rest: each copy has its own normal.
  split() {
    const { rest, triangles } = this;
    const count = triangles.length / 3;
    const faces = new Float32Array(triangles.length);
    for (let t = 0; t < count; t++) faces.set(faceNormal(rest, triangles, t), 3 * t);
    const copies = Array.from({ length: rest.length / 3 }, () => []);
    const source = [];
    const index = new Uint32Array(triangles.length);
    for (let k = 0; k < triangles.length; k++) {
      const v = triangles[k];
      const n = faces.subarray(3 * Math.floor(k / 3), 3 * Math.floor(k / 3) + 3);
      let copy = copies[v].find((c) => c.n[0] * n[0] + c.n[1] * n[1] + c.n[2] * n[2] > CREASE);
      if (!copy) {
        copy = { n, at: source.length };
        copies[v].push(copy);
        source.push(v);
      }
      index[k] = copy.at;
    }
    this.source = Uint32Array.from(source);
    this.index = index;
  }

  buildGhost() {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(this.rest), 3));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(this.triangles), 1));
    this.ghost = new Mesh(geometry, new MeshBasicMaterial({ transparent: true, opacity: 0.07, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 8 })); // behind the skin where both are
    this.ghost.renderOrder = 2;
    this.group.add(this.ghost);
  }

  buildCavities(header, blocks) {
    this.cavities = header.cavities.map((name, k) => {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(this.positions, 3));
      geometry.setIndex(new BufferAttribute(Uint32Array.from(blocks[`cavity ${k}`]), 1));
      const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0x4a7fb5, transparent: true, opacity: 0.75, side: DoubleSide, flatShading: true }));
      mesh.frustumCulled = false;
      this.group.add(mesh);
      return { name, mesh };
    });
  }

  // A frame: new positions, maybe a field, and the pressures of the cavities.
  show({ header, blocks }, rows) {
    expand(blocks.skin, header.box, this.positions);
    this.field = header.field?.[0] === this.look.colour ? { values: blocks.field, top: header.field[1] } : null;
    for (const { name, mesh } of this.cavities) {
      const limit = rows[name]?.effort?.[1] || 1;
      const share = Math.min(1, Math.abs(header.effort[name]?.[0] ?? 0) / limit);
      mesh.material.color.set(0x9fb4c8).lerp(new Color(0xd9622b), share);
      mesh.geometry.attributes.position.needsUpdate = true;
    }
    this.update(this.positions);
  }

  update(p) {
    const { source, index, geometry } = this;
    const out = geometry.attributes.position.array;
    for (let i = 0; i < source.length; i++) {
      const v = 3 * source[i];
      out[3 * i] = p[v], out[3 * i + 1] = p[v + 1], out[3 * i + 2] = p[v + 2];
    }
    normals(out, index, geometry.attributes.normal.array);
    this.paint();
    for (const name of ["position", "normal", "color"]) geometry.attributes[name].needsUpdate = true;
  }

  paint() {
    const out = this.geometry.attributes.color.array;
    const { source } = this;
    const values = this.scale();
    for (let i = 0; i < source.length; i++) {
      const v = source[i];
      if (values) {
        const k = 3 * Math.min(255, Math.max(0, Math.round(values(v))));
        out[3 * i] = HEAT[k], out[3 * i + 1] = HEAT[k + 1], out[3 * i + 2] = HEAT[k + 2];
      } else {
        const c = (this.plain[this.regions[v]] ??= material(this.regions[v]));
        out[3 * i] = c.r, out[3 * i + 1] = c.g, out[3 * i + 2] = c.b;
      }
    }
  }

  // A function from vertex to 0 … 255, or null for the material's colour. Sets the legend.
  scale() {
    this.plain ??= [];
    if (this.look.colour === "material") return (this.legend = null);
    if (this.look.colour === "displacement") {
      const { positions: p, rest } = this;
      const moved = (v) => Math.hypot(p[3 * v] - rest[3 * v], p[3 * v + 1] - rest[3 * v + 1], p[3 * v + 2] - rest[3 * v + 2]);
      let largest = 0;
      for (let v = 0; v < rest.length / 3; v++) largest = Math.max(largest, moved(v));
      this.top = roundUp(Math.max(largest, 0.02 * this.length), this.top);
      this.legend = { name: "displacement", unit: "m", top: this.top };
      return (v) => (255 * moved(v)) / this.top;
    }
    if (!this.field) return this.last ?? null;
    const { values, top } = this.field;
    this.legend = { name: this.look.colour, unit: this.look.colour === "stress" ? "Pa" : "", top };
    return (this.last = (v) => values[v]);
  }

  apply(clipping) {
    if (clipping) this.clipping = clipping;
    this.last = null;
    if (!this.mesh) return;
    const { wire, xray, ghost } = this.look;
    Object.assign(this.material, { transparent: xray, opacity: xray ? 0.38 : 1, depthWrite: !xray });
    this.wire.visible = wire;
    this.ghost.visible = ghost;
    for (const { mesh } of this.cavities) mesh.visible = xray;
    const all = [this.material, this.wire.material, ...this.cavities.map((c) => c.mesh.material)];
    for (const m of all) (m.clippingPlanes = this.clipping ?? []), (m.needsUpdate = true);
  }

  theme(name) {
    this.ghost?.material.color.set(PALETTE[name].ghost);
    this.wire?.material.color.set(name === "dark" ? 0xffffff : 0x000000);
  }

  // The picked point as three vertices of the scene and their weights.
  weights(hit) {
    const vertices = [hit.face.a, hit.face.b, hit.face.c].map((i) => this.source[i]);
    const [a, b, c] = vertices.map((v) => new Vector3().fromArray(this.positions, 3 * v));
    const area = (p, q, r) => new Vector3().crossVectors(q.clone().sub(p), r.clone().sub(p)).length();
    const parts = [area(hit.point, b, c), area(hit.point, c, a), area(hit.point, a, b)];
    const sum = parts[0] + parts[1] + parts[2] || 1;
    return { vertices, weights: parts.map((x) => x / sum) };
  }

  at(vertices, weights, positions = this.positions) {
    const out = new Vector3();
    vertices.forEach((v, k) => out.addScaledVector(new Vector3().fromArray(positions, 3 * v), weights[k]));
    return out;
  }

  // Whether no vertex is nearer to a place.
  clears(place, distance) {
    const p = this.positions;
    for (let k = 0; k < p.length; k += 3) if (Math.hypot(p[k] - place.x, p[k + 1] - place.y, p[k + 2] - place.z) < distance) return false;
    return true;
  }

  // The length of the longest edge of a facet.
  reach(vertices) {
    const p = vertices.map((v) => new Vector3().fromArray(this.positions, 3 * v));
    return Math.max(...p.map((a, k) => a.distanceTo(p[(k + 1) % 3])));
  }

  // The stress [Pa] at a point, where the skin is coloured by it.
  stressAt(vertices, weights) {
    if (this.look.colour !== "stress" || !this.field) return null;
    return vertices.reduce((sum, v, k) => sum + weights[k] * this.field.values[v] * (this.field.top / 255), 0);
  }
}

function faceNormal(p, triangles, t) {
  const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[3 * t + k]);
  const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
  const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
  const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const size = Math.hypot(...n) || 1;
  return n.map((x) => x / size);
}

// Area-weighted normals of the vertices.
function normals(p, index, out) {
  out.fill(0);
  for (let k = 0; k < index.length; k += 3) {
    const a = 3 * index[k], b = 3 * index[k + 1], c = 3 * index[k + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const i of [a, b, c]) (out[i] += x), (out[i + 1] += y), (out[i + 2] += z);
  }
  for (let i = 0; i < out.length; i += 3) {
    const s = 1 / (Math.hypot(out[i], out[i + 1], out[i + 2]) || 1);
    out[i] *= s, out[i + 1] *= s, out[i + 2] *= s;
  }
}

// The top of a scale: round, and calm: it only changes when the old one no longer fits.
function roundUp(value, old) {
  if (value <= old && value > 0.35 * old) return old;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((n) => n * power >= value * 0.999) * power;
}

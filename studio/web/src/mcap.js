// Recordings (pliant/io/recording.py) in the mcap container, read in the browser: nothing is sent anywhere.
import { decompress } from "fzstd";
import { readNpz } from "./npz.js";

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const CHANNEL = 4, MESSAGE = 5, CHUNK = 6, ATTACHMENT = 9, METADATA = 12;
const STEPS = 65535; // positions become whole numbers in the box around all frames

// What a replay needs, see replay.js. A file that was cut off is read up to there.
export async function readRecording(buffer) {
  const bytes = new Uint8Array(buffer);
  if (MAGIC.some((b, k) => bytes[k] !== b)) throw new Error("this is no recording (.mcap) of pliant");
  const found = { topics: {}, said: new Map(), frames: [], numbers: [], positions: [], stress: new Map() };
  try {
    scan(bytes.subarray(MAGIC.length), found);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  if (!found.stage || !found.arrays || !found.frames.length) throw new Error("this recording has no frames");
  return assemble(found.stage, await readNpz(found.arrays), found);
}

class Cursor {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  number(size) {
    const value = size === 8 ? Number(this.view.getBigUint64(this.at, true)) : size === 4 ? this.view.getUint32(this.at, true) : size === 2 ? this.view.getUint16(this.at, true) : this.view.getUint8(this.at);
    this.at += size;
    return value;
  }

  take(size) {
    if (this.at + size > this.bytes.length) throw new RangeError("cut off");
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  text() {
    return new TextDecoder().decode(this.take(this.number(4)));
  }
}

function scan(bytes, found) {
  const cursor = new Cursor(bytes);
  while (cursor.at + 9 <= bytes.length) {
    const kind = cursor.number(1);
    record(kind, new Cursor(cursor.take(cursor.number(8))), found);
  }
}

function record(kind, c, found) {
  if (kind === CHANNEL) {
    const id = c.number(2);
    c.number(2);
    found.topics[id] = c.text();
  } else if (kind === MESSAGE) {
    const topic = found.topics[c.number(2)], number = c.number(4);
    c.take(16);
    message(topic, number, c.bytes.subarray(c.at), found);
  } else if (kind === CHUNK) {
    c.take(16);
    const size = c.number(8);
    c.number(4);
    const packing = c.text(), packed = c.take(c.number(8));
    if (packing && packing !== "zstd") throw new Error(`packed with ${packing}, which this page cannot read`);
    scan(packing ? decompress(packed, new Uint8Array(size)) : packed, found);
  } else if (kind === ATTACHMENT) {
    c.take(16);
    if (c.text() === "stage.npz") c.text(), (found.arrays = c.take(c.number(8)));
  } else if (kind === METADATA && c.text() === "stage") {
    c.number(4);
    if (c.text() === "json") found.stage = JSON.parse(c.text());
  }
}

// A frame is whole when both what it says and its positions are there.
function message(topic, number, bytes, found) {
  if (topic === "/stress") found.stress.set(number, new Float32Array(bytes.slice().buffer));
  if (topic === "/frame") found.said.set(number, JSON.parse(new TextDecoder().decode(bytes)));
  if (topic !== "/positions" || !found.said.has(number)) return;
  found.frames.push(found.said.get(number));
  found.numbers.push(number);
  found.positions.push(new Float32Array(bytes.slice().buffer));
  found.said.delete(number);
}

function assemble(stage, arrays, { frames, numbers, positions, stress: said }) {
  const plain = (a) => (a instanceof BigInt64Array ? Uint32Array.from(a, Number) : a);
  const vertices = plain(arrays.vertices);
  const blocks = { rest: Float32Array.from(arrays.rest), triangles: plain(arrays.triangles), region: plain(arrays.region) };
  stage.cavities.forEach((_, k) => (blocks[`cavity ${k}`] = plain(arrays[`cavity ${k}`])));
  const count = 3 * vertices.length + frames[0].lines.length;
  const points = (k, out) => {
    for (let v = 0; v < vertices.length; v++) for (let i = 0; i < 3; i++) out[3 * v + i] = positions[k][3 * vertices[v] + i];
    out.set(frames[k].lines, 3 * vertices.length);
    return out;
  };
  const { box, whole } = quantised(frames.length, count, points);
  const shapes = [];
  const facts = frames.map((frame) => {
    if (frame.obstacles) shapes.push(frame.obstacles);
    const touch = frame.touch.flatMap((t) => t.slice(1));
    const total = frame.touch.reduce((sum, t) => sum + Math.hypot(t[4], t[5], t[6]), 0);
    return { ...frame, touch, contact: [frame.touch.length, total], shapes: shapes.length - 1 };
  });
  const stress = numbers.every((n) => said.has(n)) ? shares(numbers.map((n) => said.get(n)), vertices) : null;
  const fields = stress ? ["displacement", "stress"] : ["displacement"];
  return { header: { ...stage, fields }, blocks, frames: facts, shapes, box, whole, stress, points: count / 3, skin: vertices.length };
}

// Stress at the skin as shares 0 … 255 of one top for all frames: the largest 98th percentile of a frame, as pliant/io/player.py has it.
function shares(stress, vertices) {
  const values = new Uint8Array(stress.length * vertices.length);
  const skins = stress.map((all) => Float32Array.from(vertices, (v) => all[v]));
  const top = Math.max(1e-12, ...skins.map((skin) => skin.slice().sort()[Math.floor(0.98 * (skin.length - 1))]));
  skins.forEach((skin, k) => skin.forEach((x, v) => (values[k * vertices.length + v] = Math.min(255, (255 * x) / top))));
  return { values, top };
}

function quantised(frames, count, points) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const one = new Float32Array(count), whole = new Uint16Array(frames * count);
  for (let k = 0; k < frames; k++) {
    points(k, one).forEach((x, i) => ((low[i % 3] = Math.min(low[i % 3], x)), (high[i % 3] = Math.max(high[i % 3], x))));
  }
  const step = low.map((x, i) => Math.max((high[i] - x) / STEPS, 1e-12));
  for (let k = 0; k < frames; k++) {
    points(k, one).forEach((x, i) => (whole[k * count + i] = Math.round((x - low[i % 3]) / step[i % 3])));
  }
  return { box: [...low, ...step], whole };
}

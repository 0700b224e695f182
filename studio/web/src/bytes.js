// Packets: a JSON header and blocks of numbers behind it. See pliant/io/packet.py.
const TYPES = { float32: Float32Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

export function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  const blocks = {};
  for (const [name, kind, count] of header.blocks) {
    const Type = TYPES[kind];
    blocks[name] = new Type(buffer, at, count);
    const bytes = count * Type.BYTES_PER_ELEMENT;
    at += bytes + ((4 - (bytes % 4)) % 4);
  }
  return { header, blocks };
}

// Whole numbers in a box [corner, step] to metres.
export function expand(whole, box, out) {
  for (let i = 0; i < whole.length; i++) out[i] = box[i % 3] + box[3 + (i % 3)] * whole[i];
  return out;
}

// The data of a player (pliant/io/player.py): a deflated packet with all frames, in base64. What a replay needs, see replay.js.
export async function readPlayer(text) {
  const { header, blocks } = unpack(await inflate(text));
  const { frames, box, points, skin, shapes } = header;
  const stress = blocks.stress ? { values: blocks.stress, top: header.top } : null;
  return { header, blocks, frames, box, points, skin, shapes, stress, whole: unpredict(blocks.low, blocks.high, frames.length) };
}

async function inflate(text) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Undo the prediction in time: r[t] = x[t] − 2 x[t−1] + x[t−2], zigzag, low bytes then high bytes.
function unpredict(low, high, frames) {
  const n = low.length / frames;
  const out = new Uint16Array(low.length);
  for (let i = 0; i < low.length; i++) {
    const z = low[i] | (high[i] << 8);
    const r = (z >>> 1) ^ -(z & 1);
    const one = i >= n ? out[i - n] : 0;
    const two = i >= 2 * n ? out[i - 2 * n] : i >= n ? one : 0;
    out[i] = i >= n ? r + 2 * one - two : r;
  }
  return out;
}

// Colour maps as tables of 256 linear RGB triples, and the palette of the scene in both themes.
import { Color } from "three";

const SILICONE = ["#d7e4ea", "#a9d0d8", "#7fbdb2", "#d3cb74", "#f0ad45", "#e3703a", "#b8342c"];
const MATERIALS = ["#e8b48f", "#8fb8c9", "#b9a3d0", "#a8c58a", "#d9c37e", "#c98f8f"];

function table(stops) {
  const colours = stops.map((s) => new Color(s));
  const out = new Float32Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const x = (i / 255) * (colours.length - 1);
    const k = Math.min(Math.floor(x), colours.length - 2);
    const c = colours[k].clone().lerp(colours[k + 1], x - k);
    out.set([c.r, c.g, c.b], 3 * i);
  }
  return out;
}

export const HEAT = table(SILICONE);
export const GRADIENT = `linear-gradient(to top, ${SILICONE.join(",")})`;
export const material = (n) => new Color(MATERIALS[n % MATERIALS.length]);
export const SERIES = ["#d9622b", "#2a8c82", "#a3195b", "#4a7fb5", "#b58a1e", "#6d5aa8", "#5e8c31", "#8c564b", "#3f6fd8", "#c2477f"];

export const PALETTE = {
  light: { paper: "#f4f6f8", grid: "#cfd7de", ghost: "#5b6875", slack: "#9aa5b0", taut: "#1d242c", hot: "#c2521f", target: "#c2185b", thing: "#7d93b2", push: "#2563eb", contact: "#c2185b", shadow: 0.16 },
  dark: { paper: "#12161b", grid: "#2c353f", ghost: "#b7c3cf", slack: "#66727e", taut: "#e5e9ee", hot: "#ff9a5c", target: "#ff5c93", thing: "#6d83a3", push: "#6ea8ff", contact: "#ff5c93", shadow: 0.4 },
};

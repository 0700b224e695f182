// Elements in one call: h("button", { class: "a", onclick }, "text", child).
export function h(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((c) => c != null));
  return element;
}

export function icon(path, label = "") {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(ns, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return label ? h("span", { class: "with-icon" }, svg, label) : svg;
}

export const ICONS = {
  play: "M8 5v14l11-7z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  step: "M6 5v14l9-7zM16 5h3v14h-3z",
  reset: "M12 5V2L7 6l5 4V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
  record: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z",
  stop: "M7 7h10v10H7z",
  cut: "M9.6 7.6A3.5 3.5 0 1 0 7.6 9.6L10 12l-2.4 2.4a3.5 3.5 0 1 0 2 2L12 14l6.5 6.5H21v-1L9.6 7.6zM6.5 8A1.5 1.5 0 1 1 6.5 5a1.5 1.5 0 0 1 0 3zm0 11a1.5 1.5 0 1 1 0-3 1.5 1.5 0 0 1 0 3zM13 11l2 2 6-8.5v-1h-2.5z",
  mend: "M17 7h-4v2h4a3 3 0 0 1 0 6h-4v2h4a5 5 0 0 0 0-10zM7 15a3 3 0 0 1 0-6h4V7H7a5 5 0 0 0 0 10h4v-2zM8 11h8v2H8z",
  remove: "M6 6l12 12M18 6L6 18",
  camera: "M9 4 7.2 6H4a1 1 0 0 0-1 1v12a1 1 0 0 0 1 1h16a1 1 0 0 0 1-1V7a1 1 0 0 0-1-1h-3.2L15 4zM12 17.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9z",
  open: "M4 5h6l2 2h8a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zm6.5 5v6l5-3z",
  film: "M4 5h11a1 1 0 0 1 1 1v3.5l4-3v11l-4-3V18a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  panel: "M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 16h-2v-2h2zm1.8-7.3-.9.9c-.7.7-.9 1.2-.9 2.4h-2v-.5c0-1.1.3-1.8 1-2.5l1.2-1.2A2 2 0 1 0 10 8.5H8a4 4 0 1 1 6.8 2.2z",
};

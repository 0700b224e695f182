// Files from this computer: recordings (.mcap) and players (.html), dropped on the page or chosen. They are read here and sent nowhere.
import { readPlayer } from "./bytes.js";
import { readRecording } from "./mcap.js";

const LARGEST = 600e6; // bytes

export async function readFile(file) {
  if (file.size > LARGEST) throw new Error("the file is too large for a browser; pliant.io.player.export(…, every=n) makes a smaller one");
  if (!/\.html?$/i.test(file.name)) return readRecording(await file.arrayBuffer());
  const data = /id="recording">([A-Za-z0-9+/=]+)</.exec(await file.text());
  if (!data) throw new Error("this page has no recording in it");
  return readPlayer(data[1]);
}

// A file dropped anywhere.
export function dropped(element, open) {
  element.addEventListener("dragover", (event) => event.preventDefault());
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) open(file);
  });
}

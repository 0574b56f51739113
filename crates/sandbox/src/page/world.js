// Asks for the world once a second while somebody looks, and tells who shows parts of it.
import { onChange, read } from "./ask.js";
import { byId } from "./dom.js";

const POLL_MS = 1000;
const listeners = [];
let last = 0;
let asking = null;
let again = false;

/** The last answer of GET /sandbox/world; `null` before the first. */
export let world = null;

export const show = (listener) => listeners.push(listener);

async function askOnce() {
  let answer;
  try {
    answer = await read(`world?after=${last}&limit=50`);
    if (answer.last_entry < last) {
      // The program was started again: its journal begins anew.
      last = 0;
      for (const listener of listeners) listener(null);
      answer = await read("world?after=0&limit=50");
    }
  } catch {
    byId("offline").hidden = false;
    return;
  }
  byId("offline").hidden = true;
  last = answer.last_entry;
  world = answer;
  for (const listener of listeners) listener(answer);
}

/** Asks now. While an answer is under way, one more question follows it. */
export function refresh() {
  again = asking !== null;
  asking ??= askOnce().finally(() => {
    asking = null;
    if (again) refresh();
  });
  return asking;
}

export function watch() {
  onChange(refresh);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  setInterval(() => { if (!document.hidden) refresh(); }, POLL_MS);
  return refresh();
}

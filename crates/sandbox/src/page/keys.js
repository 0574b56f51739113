// The keyboard: single keys, while no field has the focus.
import { attempt, byId } from "./dom.js";
import { freeze, mine } from "./controls.js";
import { move } from "./invoices.js";
import { openInvoice, start } from "./scenarios.js";

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  n: () => attempt(openInvoice),
  p: () => attempt(() => start("paid")),
  l: () => attempt(() => start("paid-less")),
  r: () => attempt(() => start("reorg")),
  m: () => attempt(mine),
  f: () => attempt(freeze),
  "/": () => { look("log"); byId("log-filter").focus(); },
  "?": () => byId("keys").showModal(),
};

/** On a small screen one part is shown at a time. */
export function look(part) {
  document.body.dataset.part = part;
  for (const tab of byId("tabs").children) tab.setAttribute("aria-pressed", String(tab.dataset.part === part));
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input:not([type=checkbox], [type=radio]), select, dialog")) {
    if (event.key === "Escape" && event.target.matches("input, select")) event.target.blur();
    return;
  }
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
byId("tabs").addEventListener("click", (event) => { if (event.target.dataset?.part) look(event.target.dataset.part); });
byId("show-keys").addEventListener("click", () => byId("keys").showModal());

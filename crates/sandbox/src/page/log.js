// The log: every call and every event as it happens, newest first; filtered, and opened by a click.
import { byId, el, setText } from "./dom.js";
import { openCall } from "./call.js";
import { told } from "./trail.js";
import { show } from "./world.js";

const MAX_LINES = 400;
const KINDS = {
  all: () => true,
  calls: (entry) => entry.kind === "request",
  refused: (entry) => entry.kind === "request" && (entry.status === null || entry.status >= 400 || entry.fault !== null),
  chains: (entry) => ["payment", "unseen_payment", "replaced", "block", "reorg", "status"].includes(entry.kind),
  callbacks: (entry) => entry.kind.startsWith("callback"),
};
/** Newest first, as the list shows them. */
let lines = [];
let wanted = "all";

function fits(line) {
  const words = byId("log-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  return KINDS[wanted](line.entry) && words.every((word) => line.text.includes(word));
}

function describe(entry) {
  if (entry.kind !== "request") {
    const [text, bad] = told(entry);
    return { mark: entry.kind.startsWith("callback") ? "callback" : entry.kind.replace("unseen_payment", "payment"), text, bad };
  }
  const message = entry.message?.split(" Hint: ").at(-1);
  const why = [message, entry.fault && `Planned fault: ${entry.fault}.`].filter(Boolean).join(" ");
  const bad = entry.status === null || entry.status >= 400 || entry.fault !== null;
  return { mark: entry.status === null ? "dropped" : String(entry.status), text: `${entry.method} ${entry.path}`, why, bad };
}

function makeLine(entry) {
  const { mark, text, why, bad } = describe(entry);
  const node = el("li", { class: `line ${entry.kind === "request" ? "call" : "event"}` });
  const head = el("button", {
    type: "button", class: "line-head", "aria-expanded": "false",
    testid: entry.kind === "request" ? `call-${entry.call}` : undefined,
  },
  el("time", { datetime: entry.at, title: entry.at, text: entry.at.slice(11, 19) }),
  el("span", { class: `mark${bad ? " bad" : ""}`, text: mark }),
  el("span", { class: "line-text" }, el("span", { class: "target", text }), why ? el("span", { class: "why", text: why }) : null));
  head.addEventListener("click", () => toggle(node, head, entry));
  node.append(head);
  return { entry, node, text: `${JSON.stringify(entry)} ${text}`.toLowerCase() };
}

async function toggle(node, head, entry) {
  const open = head.getAttribute("aria-expanded") === "true";
  head.setAttribute("aria-expanded", String(!open));
  if (open) return node.lastElementChild.remove();
  const body = el("div", { class: "line-body" });
  node.append(body);
  if (entry.kind === "request") return openCall(body, entry);
  body.append(el("pre", { text: JSON.stringify(entry, null, 2) }));
}

function filter() {
  let shown = 0;
  for (const line of lines) {
    line.node.hidden = !fits(line);
    if (!line.node.hidden) shown += 1;
  }
  byId("log-empty").hidden = shown > 0;
  setText(byId("log-empty"), lines.length === 0 ? "Nothing has happened yet." : "Nothing in the log fits the filter.");
}

show((world) => {
  if (world === null) {
    lines = [];
    byId("log").replaceChildren();
    return;
  }
  if (world.journal.length === 0) return;
  const added = world.journal.slice(-MAX_LINES).map(makeLine).reverse();
  byId("log").prepend(...added.map((line) => line.node));
  lines = [...added, ...lines];
  for (const line of lines.splice(MAX_LINES)) line.node.remove();
  filter();
});

byId("log-filter").addEventListener("input", filter);
byId("log-kinds").addEventListener("click", (event) => {
  const kind = event.target.dataset?.kind;
  if (!kind) return;
  wanted = kind;
  for (const each of byId("log-kinds").children) each.setAttribute("aria-pressed", String(each === event.target));
  filter();
});

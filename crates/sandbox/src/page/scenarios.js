// One click per scenario, on the selected invoice or on a new one.
import { change, read } from "./ask.js";
import { attempt, byId, button, el, options, say, setText } from "./dom.js";
import { onSelect, select, selected } from "./invoices.js";
import { show, world } from "./world.js";

const GROUPS = [
  ["Paid", ["paid", "paid-less", "paid-more", "paid-twice", "paid-in-parts", "topped-up", "late", "seen", "wrong-chain"]],
  ["Chains", ["stuck", "unstuck", "stuck-to-the-end", "replaced", "reorg", "taken-back"]],
  ["Ends, lies", ["runs-out", "failed", "cancelled", "other-address", "unknown-status"]],
  ["Callbacks", ["callback-lost", "callback-twice", "callback-early", "callback-lies"]],
  ["Service", ["busy", "down"]],
];
/** Between two steps of a scenario that somebody watches in a checkout beside this page. */
const PAUSE_MS = 900;

/** Every scenario by its name. */
export const scenarios = new Map();

/** Plays: a scenario's name, or a whole one. */
export async function play(scenario, on) {
  const slowly = byId("slowly").checked;
  const played = await change("scenario", { ...scenario, ...on, pause_ms: slowly ? PAUSE_MS : 0 }, "POST", false);
  // The newest is selected by itself; one that was chosen by hand gives way to what this opened.
  if (!on.invoice && !on.session) select(played.invoice?.id ?? played.session);
  return played;
}

function target(known) {
  const open = { crypto_code: byId("open-asset").value || "BTC", amount: byId("open-amount").value };
  if (known.happens_to === "session") {
    const waiting = world?.sessions.find((session) => session.status === "CHECKING");
    return waiting && byId("on-selected").checked ? { session: waiting.id } : {};
  }
  const invoice = selected();
  return byId("on-selected").checked && invoice ? { invoice: invoice.id } : { open };
}

export async function start(name) {
  const known = scenarios.get(name);
  if (!known) return;
  await play({ name }, target(known));
  say(`${known.title}: ${known.shows}.`);
}

/** A fresh invoice to try something on. */
export async function openInvoice() {
  const invoice = await change("invoices", { crypto_code: byId("open-asset").value, amount: byId("open-amount").value });
  select(invoice.id);
}

function showTarget() {
  const invoice = selected();
  byId("on-selected").disabled = invoice === null;
  setText(byId("selected-name"), invoice ? `${invoice.amount_in_crypto} ${invoice.asset}` : "the selected invoice");
}

export async function offer() {
  for (const known of await read("scenarios")) scenarios.set(known.name, known);
  const named = new Set(GROUPS.flatMap(([, names]) => names));
  const others = [...scenarios.keys()].filter((name) => !named.has(name));
  const groups = others.length > 0 ? [...GROUPS, ["More", others]] : GROUPS;
  byId("scenario-groups").replaceChildren(...groups.map(([title, names]) => el("div", { class: "group" },
    el("h3", { text: title }),
    el("div", { class: "chips" }, ...names.filter((name) => scenarios.has(name)).map((name) => {
      const { title, shows } = scenarios.get(name);
      const text = title.replace(/^(Paid|Callback|Service is) /, "");
      return button(text[0].toUpperCase() + text.slice(1), () => start(name), { class: "chip", title: `${title}: ${shows}`, testid: `scenario-${name}` });
    })))));
}

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(openInvoice, byId("open-button"));
});
byId("open-hosted").addEventListener("click", (event) => attempt(async () => {
  const session = await change("sessions", { amount: byId("open-amount").value });
  select(session.id);
}, event.currentTarget));

onSelect(showTarget);
show((answer) => {
  if (answer === null) return;
  const list = byId("open-asset");
  if (list.options.length === 0) {
    list.append(...options(answer.prices.map(({ crypto_code: code }) => [code, code])));
    list.value = "BTC";
  }
  showTarget();
});

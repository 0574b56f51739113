// The developer's page: shows GET /sandbox/invoices once a second, and asks the control API for everything else.
"use strict";

const POLL_MS = 1000;
/** Pause before each block of "Pay and confirm", so that a checkout beside this page shows every step. */
const BLOCK_MS = 1200;
const SHOWN_INVOICES = 50;
const SHOWN_CALLS = 12;

const byId = (id) => document.getElementById(id);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Cards by invoice id: each is made once and then changed in place, so that focus and selection stay. */
const cards = new Map();
/** Invoices that "Pay and confirm" is working on. */
const busy = new Set();
let toastTimer;

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`/sandbox/${path}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function say(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, 5000);
}

/** Sets a text only when it differs: an unchanged node keeps the user's selection. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const actions = {
  async "pay-and-confirm"(invoice) {
    busy.add(invoice.id);
    try {
      await ask(`invoices/${invoice.id}/pay`, { amount: "exact" });
      for (let block = 0; block < invoice.confirmations.required; block += 1) {
        await refresh();
        await pause(BLOCK_MS);
        await ask("mine", { blocks: 1 });
      }
    } finally {
      busy.delete(invoice.id);
    }
  },
  exact: (invoice) => ask(`invoices/${invoice.id}/pay`, { amount: "exact" }),
  half: (invoice) => ask(`invoices/${invoice.id}/pay`, { amount: "half" }),
  double: (invoice) => ask(`invoices/${invoice.id}/pay`, { amount: "double" }),
  rest: (invoice) => ask(`invoices/${invoice.id}/pay`, { amount: "rest" }),
  mine: () => ask("mine", { blocks: 1 }),
  expire: (invoice) => ask(`invoices/${invoice.id}/expire`, {}),
  fail: (invoice) => ask(`invoices/${invoice.id}/fail`, {}),
};

async function perform(action, invoice) {
  try {
    await actions[action](invoice);
  } catch (error) {
    say(error.message);
  }
  await refresh();
}

/** What can be done now; the page offers nothing that the control API would refuse. */
function offered(invoice) {
  const started = invoice.payments > 0;
  const ended = invoice.status === "FAILED";
  const missing = invoice.covered === "part";
  if (invoice.told_to_fail) return [];
  if (busy.has(invoice.id)) return ["pay-and-confirm"];
  if (!started) {
    return ["pay-and-confirm", "exact", "half", "double", ...(ended ? [] : ["expire"]), "fail"];
  }
  if (invoice.status === "COMPLETED") return missing ? ["rest"] : [];
  return missing ? ["rest", "mine", "fail"] : ["mine", "fail"];
}

function sentence(invoice) {
  const { payments, covered, received_in_crypto: received, remaining_in_crypto: remaining, asset } = invoice;
  if (invoice.told_to_fail) return "Told to fail: stuck on the chain, or taken back.";
  if (payments === 0) {
    if (invoice.status === "FAILED") return "Time is up and nothing arrived. A payment would be late.";
    return invoice.marked_as_paid ? "Nothing arrived yet; the customer says they have paid." : "Nothing arrived yet.";
  }
  const { count, required } = invoice.confirmations;
  const seen = count === 0 ? "Seen, waiting for a block" : `${count} of ${required} confirmations`;
  const settled = invoice.status === "COMPLETED" ? "Complete" : seen;
  if (covered === "part") return `${settled}. ${received} ${asset} arrived, ${remaining} ${asset} is missing.`;
  if (covered === "more") return `${settled}. ${received} ${asset} arrived, more than asked.`;
  return `${settled}. Paid exactly.`;
}

function timeLeft(invoice) {
  if (invoice.payments > 0 || invoice.status !== "CHECKING") return "";
  const seconds = invoice.expires_in_seconds;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
}

function makeCard(invoice) {
  const card = byId("invoice-card").content.firstElementChild.cloneNode(true);
  const parts = {};
  for (const node of card.querySelectorAll("[data-part]")) parts[node.dataset.part] = node;
  const made = { card, parts, invoice };
  card.dataset.invoice = invoice.id;
  card.addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (button) perform(button.dataset.action, made.invoice);
  });
  parts.badge.textContent = invoice.asset;
  parts.badge.dataset.asset = invoice.asset;
  parts.amount.textContent = invoice.amount_in_crypto;
  parts.asset.textContent = invoice.asset;
  parts.network.textContent = invoice.network;
  parts.price.textContent = `${invoice.amount_in_local_currency} ${invoice.local_currency_code}`;
  parts.id.textContent = invoice.id;
  return made;
}

function showInvoice(invoice) {
  const made = cards.get(invoice.id) ?? makeCard(invoice);
  cards.set(invoice.id, made);
  made.invoice = invoice;
  const { parts } = made;
  setText(parts.status, invoice.status);
  parts.status.dataset.status = invoice.status;
  setText(parts.left, timeLeft(invoice));
  setText(parts.sentence, sentence(invoice));
  parts.sentence.dataset.covered = invoice.covered;
  setText(parts.address, invoice.address);
  [...parts.steps.children].forEach((step, index) => {
    step.classList.toggle("done", index < invoice.confirmations.count);
  });
  const possible = offered(invoice);
  const buttons = [...made.card.querySelectorAll("[data-action]")];
  for (const button of buttons) {
    button.hidden = !possible.includes(button.dataset.action);
    button.classList.toggle("primary", button.dataset.action === possible[0]);
  }
  made.card.querySelector(".actions").hidden = possible.length === 0;
  const confirm = buttons.find((button) => button.dataset.action === "pay-and-confirm");
  confirm.disabled = busy.has(invoice.id);
  setText(confirm, busy.has(invoice.id) ? "Confirming…" : "Pay and confirm");
  return made.card;
}

function showInvoices(invoices) {
  const shown = invoices.slice(0, SHOWN_INVOICES);
  const list = byId("invoices");
  shown.forEach((invoice, index) => {
    const card = showInvoice(invoice);
    if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
  });
  while (list.children.length > shown.length) {
    cards.delete(list.lastElementChild.dataset.invoice);
    list.lastElementChild.remove();
  }
  byId("empty").hidden = invoices.length > 0;
  const older = invoices.length - shown.length;
  setText(byId("count"), older > 0 ? `Newest first; ${older} older ones are not shown` : "");
}

function showCalls(calls) {
  byId("calls-section").hidden = calls.length === 0;
  const lines = calls.slice(0, SHOWN_CALLS).map((call) => {
    const line = byId("call-line").content.firstElementChild.cloneNode(true);
    const part = (name) => line.querySelector(`[data-part="${name}"]`);
    part("status").textContent = call.status ?? "dropped";
    part("status").classList.toggle("bad", call.status !== 200);
    part("target").textContent = `${call.method} ${call.path}`;
    part("time").textContent = new Date(call.at).toLocaleTimeString();
    part("time").dateTime = call.at;
    const fault = call.fault && `Planned fault: ${call.fault}.`;
    part("why").textContent = [call.message, fault].filter(Boolean).join(" ");
    return line;
  });
  byId("calls").replaceChildren(...lines);
}

let newestCall = -1;

async function refresh() {
  const answers = await Promise.all([ask("invoices"), ask("requests")]).catch(() => null);
  byId("offline").hidden = answers !== null;
  if (answers === null) return;
  const [invoices, calls] = answers;
  showInvoices(invoices);
  const newest = calls[0]?.number ?? 0;
  if (newest !== newestCall) showCalls(calls);
  newestCall = newest;
}

async function watch() {
  for (;;) {
    if (!document.hidden) await refresh();
    await pause(POLL_MS);
  }
}

byId("mine").addEventListener("click", () => perform("mine"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
watch();

// The page: shows GET /sandbox/state once a second, and calls the control API. Everything from the network is set as
// text, never as markup.

const POLL_MS = 1000;
/** Between two steps of a scenario, so that a checkout beside this page shows each of them. */
const PAUSE_MS = 900;
const MAX_LINES = 200;
const ACTIONS = {
  mine: ["Mine a block", (it) => post("mine", { chain: it.chain })],
  reorg: ["Take a block back", (it) => post("reorg", { chain: it.chain })],
  "bump-fee": ["Raise the fee"],
  replace: ["Replace the payment"],
  expire: ["Expire"],
  fail: ["Fail"],
};
const FAULTS = [
  ["429, Retry-After: 7", { kind: "status", status: 429, retry_after: 7 }],
  ["500", { kind: "status", status: 500 }],
  ["503", { kind: "status", status: 503 }],
  ["Slow, 12 seconds", { kind: "slow", delay_ms: 12000 }],
  ["Garbled JSON", { kind: "garbled" }],
  ["Wrong types", { kind: "wrong_types" }],
  ["Empty body", { kind: "empty" }],
  ["No response, connection closed", { kind: "drop" }],
  ["Connection closed in the body", { kind: "cut" }],
];
const ENDPOINTS = [
  ["any", "every endpoint"], ["prices", "GET /prices"], ["create_invoice", "POST /invoice"], ["invoice", "GET /invoice"],
  ["confirm", "POST /confirm"], ["checkout", "POST /checkout"],
];
const JUMPS = [["+1 min", 60], ["+15 min", 900], ["+1 h", 3600], ["+1 day", 86400]];

const byId = (id) => document.getElementById(id);
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

/** An element: `text`, `testid`, `on` (its click), attributes; then its children. */
function el(tag, { text, testid, on, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (testid !== undefined) made.dataset.testid = testid;
  if (on) made.addEventListener("click", () => run(on, made));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

async function send(method, path, body) {
  const response = await fetch(`/sandbox/${path}`, { method, body: body && JSON.stringify(body) });
  const result = await response.json();
  if (!response.ok) throw new Error(result.error);
  return result;
}
const post = (path, body) => send("POST", path, body);

let hideToast;
function toast(text) {
  byId("toast").hidden = false;
  setText(byId("toast"), text);
  clearTimeout(hideToast);
  hideToast = setTimeout(() => { byId("toast").hidden = true; }, 6000);
}

/** Runs an action of a button; shows its error, and the state after it. */
async function run(action, button) {
  button.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (error) {
    toast(error.message);
  } finally {
    button.removeAttribute("aria-busy");
    refresh();
  }
}

let state = null;
let chosen = null;
/** By id: a row is made once and then changed in place, so that focus and typed text stay. */
const rows = new Map();

/** The invoice that the developer selected, else the newest. */
const selected = () => state?.invoices.find((it) => it.id === chosen) ?? state?.invoices[0];

function makeRow(id, isInvoice) {
  const row = { status: el("span", { class: "pill", testid: `status-${id}` }), left: el("span", { class: "quiet" }), what: el("b"), price: el("span", { class: "quiet" }), sentence: el("p", { testid: `sentence-${id}` }), facts: el("dl", { class: "facts" }), buttons: {} };
  const head = el("button", { type: "button", class: "row-head", testid: `invoice-${id}`, on: () => { chosen = id; } },
    el("span", {}, row.what, row.price), el("span", {}, row.status, row.left));
  row.body = el("div", { class: "row-body" }, row.sentence);
  if (isInvoice) row.body.append(makePayment(row, id), makeActions(row, id));
  if (id.startsWith("ses_")) row.body.append(el("p", {}, el("a", { class: "button", href: `/checkout?id=${encodeURIComponent(id)}`, target: "_blank", text: "Open its page" })));
  row.body.append(row.facts);
  row.head = head;
  row.isInvoice = isInvoice;
  row.node = el("li", { class: "row" }, head, row.body);
  return row;
}

function makePayment(row, id) {
  const amount = el("input", { class: "amount", testid: `amount-${id}`, inputmode: "decimal", "aria-label": "Amount", placeholder: "amount" });
  const low = el("input", { type: "checkbox", testid: `low-fee-${id}` });
  const pay = (what) => post(`invoices/${id}/pay`, { amount: what, fee: low.checked ? "low" : "usual" });
  const words = ["exact", "half", "double", "rest"].map((word) => el("button", { type: "button", class: "chip", text: `Pay ${word}`, testid: `pay-${word}-${id}`, on: () => pay(word) }));
  row.payment = el("div", { class: "chips" }, ...words, amount,
    el("button", { type: "button", class: "chip", text: "Pay amount", testid: `pay-${id}`, on: () => pay(amount.value.trim()) }),
    el("label", { class: "check", title: "No block includes the payment until its fee is raised" }, low, "low fee"));
  return row.payment;
}

function makeActions(row, id) {
  const bar = el("div", { class: "chips" });
  for (const [name, [text, action]] of Object.entries(ACTIONS)) {
    const run = () => (action ? action(state.invoices.find((it) => it.id === id)) : post(`invoices/${id}/${name}`));
    row.buttons[name] = el("button", { type: "button", class: "button", text, testid: `${name}-${id}`, on: run });
    bar.append(row.buttons[name]);
  }
  return bar;
}

function sentence(it) {
  if (it.has_failed) return "Failed for good, whatever is paid.";
  if (it.payments === 0) return it.status === "FAILED" ? "Expired with nothing paid. A payment would be late." : it.marked_as_paid ? "Nothing arrived yet; the customer reports a payment." : "Nothing arrived yet.";
  const seen = it.stuck_payments > 0 ? "Stuck: the fee is too low" : it.confirmations === 0 ? "Seen, in no block yet" : `${it.confirmations} of ${it.required_confirmations} confirmations`;
  const covered = { part: `${it.remaining_in_crypto} ${it.asset} is missing`, exact: "paid exactly", more: `${it.received_in_crypto} ${it.asset} arrived, more than asked` }[it.covered];
  return `${seen}; ${covered}${it.payments > 1 ? ` in ${it.payments} payments` : ""}.`;
}

function possible(it) {
  if (it.has_failed) return [];
  const stuck = it.stuck_payments > 0 ? ["bump-fee"] : [];
  const paid = it.payments > 0 ? ["reorg", "replace"] : it.status === "CHECKING" ? ["expire"] : [];
  return ["mine", ...stuck, ...paid, "fail"];
}

function renderRow(row, it, isOpen) {
  setText(row.status, it.status);
  row.status.dataset.status = it.status;
  row.node.classList.toggle("open", isOpen);
  row.head.setAttribute("aria-expanded", String(isOpen));
  row.body.hidden = !isOpen;
  let facts;
  if (row.isInvoice) {
    const seconds = it.expires_in_seconds;
    setText(row.left, it.status === "CHECKING" && it.payments === 0 ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left` : "");
    setText(row.what, `${it.amount_in_crypto} ${it.asset}`);
    setText(row.price, `${it.amount_in_local_currency} ${it.local_currency_code} · ${it.network}${it.is_hosted ? " · hosted" : ""}`);
    setText(row.sentence, sentence(it));
    row.payment.hidden = it.has_failed;
    const actions = possible(it);
    for (const [name, button] of Object.entries(row.buttons)) button.hidden = !actions.includes(name);
    facts = [["Invoice", it.id], ["Address", it.address], ["Transaction", it.transaction_hash], ["Email", it.email], ["Overridden", it.overrides.join(", ")]];
  } else {
    setText(row.what, "Hosted checkout");
    setText(row.price, `${it.amount ?? "any amount"} ${it.currency}`);
    setText(row.sentence, it.status === "CHECKING" ? "The customer has not picked an asset yet." : "It ended before an asset was picked.");
    facts = [["Session", it.id], ["Email", it.email], ["Merchant", it.merchant_id], ["Shop", it.merchant_website], ["Callback", it.invoice_callback_url]];
  }
  const key = JSON.stringify(facts);
  if (row.key === key) return;
  row.key = key;
  row.facts.replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }))));
}

function renderInvoices() {
  const items = [...state.invoices, ...state.sessions].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const open = items.find((it) => it.id === chosen)?.id ?? (selected() ?? items[0])?.id;
  const list = byId("invoices");
  items.forEach((it, index) => {
    const isInvoice = it.address !== undefined;
    let row = rows.get(it.id);
    if (row?.isInvoice !== isInvoice) {
      row?.node.remove();
      row = makeRow(it.id, isInvoice);
      rows.set(it.id, row);
    }
    renderRow(row, it, it.id === open);
    if (list.children[index] !== row.node) list.insertBefore(row.node, list.children[index] ?? null);
  });
  while (list.children.length > items.length) list.lastElementChild.remove();
  for (const id of rows.keys()) if (!items.some((it) => it.id === id)) rows.delete(id);
  byId("empty").hidden = items.length > 0;
  const { length } = state.invoices;
  setText(byId("count"), state.invoice_count > length ? `${state.invoice_count} invoices, the newest ${length} shown` : "");
  for (const chip of byId("scenarios").children) chip.disabled = !selected();
}

function describe(entry) {
  const of = entry.invoice_id ? ` · ${entry.invoice_id}` : "";
  switch (entry.kind) {
    case "request": return [entry.status ?? "closed", `${entry.method} ${entry.path}${entry.did === null && entry.response?.message ? ` · ${entry.response.message}` : ""}${entry.fault ? ` · fault: ${entry.fault.kind}` : ""}`, entry.fault !== null || !(entry.status < 400)];
    case "payment": return ["payment", `${entry.amount} ${entry.crypto_code}${of}`];
    case "chosen": return ["chosen", `${entry.amount} ${entry.crypto_code}${of}`];
    case "block": case "reorg": return [entry.kind, `${entry.blocks} ${entry.kind === "block" ? "mined" : "taken back"} on ${entry.chain ?? "every chain"}`];
    case "status": return ["status", `${entry.from} → ${entry.to}${of}`, entry.to === "FAILED"];
    case "callback": return ["callback", `${entry.status} ${entry.accepted ? "accepted" : `failed: ${entry.why}`}, try ${entry.attempt}${of}`, !entry.accepted];
    case "callback_fault": return ["callback", `${entry.status} ${entry.fault.kind}${of}`, true];
    default: return [entry.kind.replace("_", " "), of.slice(3)];
  }
}

let lastEntry = 0;
function renderLog() {
  const newest = state.journal[0]?.number ?? 0;
  if (newest < lastEntry) byId("log").replaceChildren();
  const since = newest < lastEntry ? 0 : lastEntry;
  lastEntry = newest;
  const lines = state.journal.filter((entry) => entry.number > since).map((entry) => {
    const [mark, text, bad] = describe(entry);
    const summary = el("summary", { class: bad ? "bad" : "" }, el("time", { datetime: entry.at, text: entry.at.slice(11, 19) }), el("span", { class: "mark", text: String(mark) }), el("span", { class: "text", text }));
    return el("li", { testid: `entry-${entry.number}` }, el("details", {}, summary, el("pre", { text: JSON.stringify(entry, null, 2) })));
  });
  byId("log").prepend(...lines);
  while (byId("log").children.length > MAX_LINES) byId("log").lastElementChild.remove();
}

function renderControls() {
  setText(byId("now"), state.now.slice(0, 19).replace("T", " "));
  setText(byId("ahead"), state.ahead_seconds > 0 ? `${state.ahead_seconds} s ahead` : "UTC");
  setText(byId("callback-url"), state.callback_url ?? "the URL of each hosted checkout only");
  byId("clear-faults").hidden = state.faults.length === 0;
  byId("faults").replaceChildren(...state.faults.map(({ endpoint, kind, times, status }) => el("li", { text: `${kind === "status" ? status : kind} · ${endpoint} · ${times} left` })));
  for (const { crypto_code: code, usd } of state.prices) {
    let input = byId(`price-${code}`);
    if (!input) {
      const made = el("input", { id: `price-${code}`, inputmode: "decimal", testid: `price-${code}` });
      made.addEventListener("change", () => run(() => post("prices", { crypto_code: code, usd: made.value.trim() }), made));
      byId("prices").append(el("li", {}, el("label", { for: `price-${code}`, text: code }), made));
      input = made;
    }
    if (input !== document.activeElement) input.value = usd;
  }
}

async function refresh() {
  try {
    state = await send("GET", "state");
    byId("offline").hidden = true;
  } catch {
    byId("offline").hidden = false;
    return;
  }
  renderInvoices();
  renderLog();
  renderControls();
}

async function play(name) {
  const invoice = selected();
  if (!invoice) return;
  await post(`invoices/${invoice.id}/scenario`, { name, pause_ms: byId("slowly").checked ? PAUSE_MS : 0 });
}

const chips = (list, action) => list.map(([text, value]) => el("button", { type: "button", class: "chip", text, on: () => action(value) }));
byId("jumps").append(...chips(JUMPS, (seconds) => post("time", { jump_seconds: seconds })));
byId("chains").append(...chips([["Mine a block", "mine"], ["Take a block back", "reorg"]], (path) => post(path, { blocks: 1 })));
byId("callbacks").append(...chips([["is lost", "lost"], ["is repeated", "repeated"]], (kind) => post("faults", { endpoint: "callback", kind })));
byId("fault-kind").append(...FAULTS.map(([text], index) => el("option", { value: index, text })));
byId("fault-endpoint").append(...ENDPOINTS.map(([value, text]) => el("option", { value, text })));
byId("fault").addEventListener("submit", (event) => {
  event.preventDefault();
  const [, fault] = FAULTS[byId("fault-kind").value];
  const plan = { ...fault, endpoint: byId("fault-endpoint").value, times: Number(byId("fault-times").value) };
  run(() => post("faults", plan), byId("inject"));
});
byId("clear-faults").addEventListener("click", () => run(() => send("DELETE", "faults"), byId("clear-faults")));

const scenarios = await send("GET", "scenarios");
byId("scenarios").append(...scenarios.map(({ name, title, ends }) => el("button", { type: "button", class: "chip", title: ends, text: title, testid: `scenario-${name}`, on: () => play(name) })));
setInterval(() => { if (!document.hidden) refresh(); }, POLL_MS);
await refresh();

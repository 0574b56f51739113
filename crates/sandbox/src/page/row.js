// One invoice, or one hosted checkout that is none yet, as a row of the list.
import { change } from "./ask.js";
import { button, copy, el, setText } from "./dom.js";
import { entriesOf } from "./trail.js";

function sentence(invoice) {
  const { payments, covered, received_in_crypto: received, remaining_in_crypto: remaining, asset } = invoice;
  const unseen = invoice.unseen_payments > 0 ? ` ${invoice.unseen_payments} on another chain, which nobody sees.` : "";
  if (invoice.told_to_fail) return "Told to fail: it stays so, whatever is paid.";
  if (payments === 0) {
    if (invoice.status === "FAILED") return `Time is up and nothing arrived. A payment would be late.${unseen}`;
    return `Nothing arrived yet${invoice.marked_as_paid ? "; the customer says they have paid" : ""}.${unseen}`;
  }
  const { count, required } = invoice.confirmations;
  const stuck = invoice.stuck_payments > 0 ? "Stuck: no block takes its fee" : "Seen, waiting for a block";
  const seen = count === 0 ? stuck : `${count} of ${required} confirmations`;
  const settled = invoice.status === "COMPLETED" ? "Complete" : seen;
  const several = payments > 1 ? ` in ${payments} payments` : "";
  if (covered === "part") return `${settled}. ${received} ${asset} arrived${several}, ${remaining} ${asset} is missing.`;
  if (covered === "more") return `${settled}. ${received} ${asset} arrived${several}, more than asked.`;
  return `${settled}. Paid exactly${several}.`;
}

function age(since, now) {
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

function aside(invoice, now) {
  const waits = invoice.payments === 0 && invoice.status === "CHECKING" && invoice.expires_in_seconds !== undefined;
  const seconds = invoice.expires_in_seconds;
  return waits ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left` : `${age(invoice.created_at, now)} old`;
}

/** What can be done by hand now; the page offers nothing that the control API would refuse. */
function offered(invoice) {
  if (invoice.has_invoice === false) return invoice.status === "CHECKING" ? ["close"] : [];
  if (invoice.told_to_fail) return [];
  const on = ["mine"];
  if (invoice.covered === "part") on.unshift("rest");
  if (invoice.stuck_payments > 0) on.push("unstick");
  if (invoice.payments > 0) on.push("replace", "reorg");
  if (invoice.payments === 0 && invoice.status === "CHECKING") on.push("expire");
  return [...on, "fail"];
}

const actions = {
  rest: ["Pay the rest", (it) => change(`invoices/${it.id}/pay`, { amount: "rest" })],
  mine: ["Mine a block", (it) => change("mine", { chain: it.chain })],
  unstick: ["Raise the fee", (it) => change(`invoices/${it.id}/unstick`)],
  replace: ["Replace it", (it) => change(`invoices/${it.id}/replace`)],
  reorg: ["Take a block back", (it) => change("reorg", { blocks: 1, chain: it.chain })],
  expire: ["Let it run out", (it) => change(`invoices/${it.id}/expire`)],
  fail: ["Fail", (it) => change(`invoices/${it.id}/fail`)],
  close: ["Close the page", (it) => change(`sessions/${it.id}/close`)],
};

export function makeRow(first, onClick) {
  const row = { item: first, buttons: {} };
  const hosted = first.has_invoice === false;
  row.status = el("span", { class: "pill", testid: `status-${first.id}` });
  row.left = el("span", { class: "quiet" });
  row.price = el("span", { class: "quiet price" });
  row.head = el("button", { type: "button", class: "row-head", testid: `invoice-${first.id}`, on: { click: () => onClick(row.item.id) } },
    el("span", { class: "badge", "data-asset": first.asset ?? "?", text: first.asset ?? "?", "aria-hidden": "true" }),
    el("span", { class: "row-what" },
      el("b", { text: hosted ? "No asset chosen yet" : `${first.amount_in_crypto} ${first.asset}` }), row.price),
    el("span", { class: "row-state" }, row.status, row.left));
  row.sentence = el("p", { class: "sentence", testid: `sentence-${first.id}` });
  row.steps = el("span", { class: "steps", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
  row.facts = el("dl", { class: "facts" });
  row.trail = el("ol", { class: "trail" });
  const bar = el("div", { class: "actions" });
  for (const [name, [text, act]] of Object.entries(actions)) {
    row.buttons[name] = button(text, () => act(row.item), { class: "button small", testid: `${name}-${first.id}` });
    bar.append(row.buttons[name]);
  }
  if (hosted || first.hosted) {
    bar.append(el("a", { class: "button small", href: `/checkout?id=${encodeURIComponent(first.id)}`, target: "_blank", text: "Open its page" }));
  }
  row.body = el("div", { class: "row-body" }, el("div", { class: "progress" }, row.steps, row.sentence), bar, row.facts, row.trail);
  row.node = el("li", { class: "row" }, row.head, row.body);
  return row;
}

function facts(item) {
  const all = [
    ["Address", item.address], ["GET /invoice says", item.reported_address], ["Lies about", item.lies?.join(", ")],
    ["Invoice", item.id], ["Transaction", item.transaction_hash], ["Email", item.email], ["Merchant", item.merchant_id],
    ["Shop", item.merchant_website], ["Callback", item.invoice_callback_url],
  ];
  return all.filter(([, value]) => value);
}

export function renderRow(row, item, open, now) {
  row.item = item;
  setText(row.status, item.status);
  row.status.dataset.status = item.status;
  setText(row.left, aside(item, now));
  setText(row.price, item.has_invoice === false
    ? `${item.amount ?? "any amount"} ${item.currency} · hosted`
    : `${item.amount_in_local_currency} ${item.local_currency_code} · ${item.network}${item.hosted ? " · hosted" : ""}`);
  row.head.setAttribute("aria-expanded", String(open));
  row.node.classList.toggle("open", open);
  row.body.hidden = !open;
  if (!open) return;
  setText(row.sentence, item.has_invoice === false ? "The customer has the page and has chosen nothing." : sentence(item));
  row.steps.hidden = item.has_invoice === false;
  [...row.steps.children].forEach((step, index) => step.classList.toggle("done", index < (item.confirmations?.count ?? 0)));
  const possible = offered(item);
  for (const [name, made] of Object.entries(row.buttons)) made.hidden = !possible.includes(name);
  const told = facts(item);
  const key = JSON.stringify(told);
  if (row.told !== key) {
    row.told = key;
    row.facts.replaceChildren(...told.map(([name, value]) => el("div", {}, el("dt", { text: name }),
      el("dd", {}, el("button", { type: "button", class: "copy", title: "Copy", text: value, on: { click: () => copy(value, name) } })))));
  }
  const lines = entriesOf(item.id);
  if (row.lines !== lines.length) {
    row.lines = lines.length;
    row.trail.replaceChildren(...lines.map(({ at, text, bad }) => el("li", { class: bad ? "bad" : "" },
      el("time", { datetime: at, text: new Date(at).toISOString().slice(11, 19) }), el("span", { text }))));
  }
}

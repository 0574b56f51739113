// The invoices and hosted checkouts, newest first; one of them is selected and open.
import { byId, setText } from "./dom.js";
import { makeRow, renderRow } from "./row.js";
import { show, world } from "./world.js";

/** Rows by id: each is made once and then changed in place, so that focus and selection stay. */
const rows = new Map();
let chosen = null;
const listeners = [];

/** The selected invoice: the one that was chosen, else the newest; `null` when there is none. */
export function selected() {
  const invoices = world?.invoices ?? [];
  return invoices.find((invoice) => invoice.id === chosen) ?? invoices[0] ?? null;
}
export const onSelect = (listener) => listeners.push(listener);

export function select(id) {
  chosen = id;
  if (world) render(world);
  for (const listener of listeners) listener();
}

/** Moves the selection by so many rows, and the focus with it. */
export function move(by) {
  const invoices = world?.invoices ?? [];
  const at = invoices.findIndex((invoice) => invoice.id === selected()?.id);
  const next = invoices[Math.min(Math.max(at + by, 0), invoices.length - 1)];
  if (!next) return;
  select(next.id);
  rows.get(next.id)?.head.focus();
}

function render(answer) {
  if (answer === null) return;
  const now = answer.time.now;
  const items = [...answer.invoices, ...answer.sessions].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const list = byId("invoices");
  const openId = (items.find((item) => item.id === chosen) ?? answer.invoices[0] ?? items[0])?.id;
  items.forEach((item, index) => {
    const known = rows.get(item.id);
    // A hosted checkout that became an invoice has another row.
    const row = known && known.item.has_invoice === item.has_invoice ? known : makeRow(item, select);
    if (known && known !== row) known.node.remove();
    rows.set(item.id, row);
    renderRow(row, item, item.id === openId, now);
    if (list.children[index] !== row.node) list.insertBefore(row.node, list.children[index] ?? null);
  });
  while (list.children.length > items.length) list.lastElementChild.remove();
  const kept = new Set(items.map((item) => item.id));
  for (const id of rows.keys()) if (!kept.has(id)) rows.delete(id);
  byId("empty").hidden = items.length > 0;
  const older = answer.invoice_count - answer.invoices.length;
  setText(byId("count"), older > 0 ? `${answer.invoice_count} in all, the newest shown` : "");
}

show(render);

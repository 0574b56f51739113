// What the journal says about each invoice, as sentences.
import { show } from "./world.js";

const MAX_LINES = 40;
const trails = new Map();

export const entriesOf = (id) => trails.get(id) ?? [];

/** A journal entry as a sentence, and whether it tells of something wrong. */
export function told(entry) {
  const short = (text) => (text && text.length > 20 ? `${text.slice(0, 10)}…${text.slice(-6)}` : text);
  switch (entry.kind) {
    case "started": return ["A new world begins from this seed: " + entry.seed];
    case "payment": return [`${entry.amount} ${entry.crypto_code} seen${entry.confirmations ? `, ${entry.confirmations} confirmations` : ""}: ${short(entry.transaction_hash)}`];
    case "unseen_payment": return [`Paid in ${entry.crypto_code}: on another chain, nobody sees it`, true];
    case "replaced": return [`${short(entry.transaction_hash)} is replaced by a payment to somebody else`, true];
    case "block": return [`${entry.blocks} ${entry.blocks === 1 ? "block" : "blocks"} found on ${entry.chain === "all" ? "every chain" : entry.chain}`];
    case "reorg": return [`${entry.blocks} ${entry.blocks === 1 ? "block" : "blocks"} taken back on ${entry.chain === "all" ? "every chain" : entry.chain}`, true];
    case "status": return [`${entry.from} → ${entry.to}`, entry.to === "FAILED"];
    case "callback_spoiled": return [`Callback ${entry.status} spoiled: ${entry.fault}`, true];
    case "callback_dropped": return [`Callback ${entry.status} dropped: too many others wait`, true];
    case "callback_sent": return [`Callback ${entry.status}, try ${entry.attempt}, to ${entry.url}`];
    case "callback_answered": return entry.accepted
      ? [`Callback ${entry.status} accepted at try ${entry.attempt}`]
      : [`Callback ${entry.status} failed at try ${entry.attempt}: ${entry.why}`, true];
    default: return [entry.kind];
  }
}

show((world) => {
  if (world === null) return trails.clear();
  for (const entry of world.journal) {
    if (!entry.invoice_id) continue;
    const [text, bad] = told(entry);
    const trail = trails.get(entry.invoice_id) ?? [];
    trails.set(entry.invoice_id, [{ at: entry.at, text, bad }, ...trail].slice(0, MAX_LINES));
  }
  const kept = new Set([...world.invoices, ...world.sessions].map((item) => item.id));
  for (const id of trails.keys()) if (!kept.has(id)) trails.delete(id);
});

// Time, chains, callbacks, prices, rules and the world itself.
import { change } from "./ask.js";
import { attempt, byId, button, el, setText } from "./dom.js";
import { selected } from "./invoices.js";
import { show, world } from "./world.js";

const act = (id, does) => byId(id).addEventListener("click", (event) => attempt(does, event.currentTarget));
const onEnter = (input, does) => input.addEventListener("change", () => attempt(does, input));

// Time
for (const each of byId("jumps").children) {
  each.addEventListener("click", () => attempt(() => change("time", { jump_seconds: Number(each.dataset.seconds) }), each));
}
export const freeze = () => change("time", { speed: world?.time.speed === 0 ? 1 : 0 });
act("freeze", freeze);
act("faster", () => change("time", { speed: world?.time.speed === 60 ? 1 : 60 }));

function showTime({ now, ahead_seconds: ahead, speed }) {
  const day = new Date(now).toISOString();
  setText(byId("today"), day.slice(0, 10));
  setText(byId("now"), `${day.slice(11, 19)} UTC`);
  const days = Math.floor(ahead / 86400);
  const clock = [Math.floor(ahead / 3600) % 24, Math.floor(ahead / 60) % 60, ahead % 60].map((part) => String(part).padStart(2, "0")).join(":");
  const moved = ahead === 0 ? "" : ahead < 0 ? "behind the clock" : `${days > 0 ? `${days} d ` : ""}${clock} ahead`;
  setText(byId("ahead"), [speed === 0 ? "stands still" : speed === 1 ? "" : `${speed} times as fast`, moved].filter(Boolean).join(" · "));
  byId("freeze").setAttribute("aria-pressed", String(speed === 0));
  byId("faster").setAttribute("aria-pressed", String(speed === 60));
}

// Chains
export const mine = () => change("mine", { blocks: 1 });
act("mine", mine);
act("mine-all", mine);
act("reorg-all", () => change("reorg", { blocks: 1 }));
onEnter(byId("auto-mine"), () => change("auto-mine", { every_seconds: Number(byId("auto-mine").value) }));

function showChains(chains) {
  const every = chains[0].every_seconds ?? 0;
  if (document.activeElement !== byId("auto-mine")) byId("auto-mine").value = String(every);
}

// Callbacks
for (const each of byId("callback-faults").children) {
  const fault = { endpoint: "callback", kind: each.dataset.kind };
  if (each.dataset.kind === "delayed") fault.delay_ms = 5000;
  each.addEventListener("click", () => attempt(() => change("faults", fault), each));
}
for (const [id, status] of [["forge-completed", "COMPLETED"], ["forge-failed", "FAILED"]]) {
  act(id, () => change("callbacks", { invoice_id: selected()?.id ?? "inv_0", status }));
}

// Prices
act("lapse", () => change("prices/lapse"));
onEnter(byId("walk"), () => {
  const [every, points] = byId("walk").value.split(" ").map(Number);
  return change("walk", { every_seconds: every, basis_points: points });
});
const priceRows = new Map();

function showPrices({ prices, walk }) {
  for (const price of prices) {
    const code = price.crypto_code;
    let input = priceRows.get(code);
    if (!input) {
      input = el("input", { inputmode: "decimal", "aria-label": `US dollars for one ${code}`, testid: `price-${code}` });
      onEnter(input, () => change("prices", { crypto_code: code, usd: input.value }));
      const times = (factor) => () => change("prices", { crypto_code: code, usd: (Number(input.value) * factor).toFixed(6) });
      priceRows.set(code, input);
      byId("prices").append(el("li", {}, el("span", { class: "code", text: code }), input,
        button("−10 %", times(0.9), { class: "link", "aria-label": `${code} falls by a tenth` }),
        button("+10 %", times(1.1), { class: "link", "aria-label": `${code} rises by a tenth` })));
    }
    if (document.activeElement !== input) input.value = price.usd;
  }
  const value = walk ? `${walk.every_seconds} ${walk.basis_points}` : "0 0";
  if (document.activeElement !== byId("walk")) byId("walk").value = value;
}

// Rules
const RULES = [
  ["invoice_minutes", "Invoices live", "min"], ["conversion_seconds", "Prices hold", "s"],
  ["nonce_tolerance_seconds", "Nonce may differ by", "s"], ["clock_skew_seconds", "Service's clock is ahead by", "s"],
  ["calls_per_minute", "Calls a minute (0: any)", ""], ["strict_nonce", "Nonces only rise", "yes"],
  ["put_signs_body", "PUT signs its body", "yes"], ["platform", "Account of a platform", "yes"],
];
const ruleInputs = new Map();

function showRules(rules) {
  for (const [rule, text, unit] of RULES) {
    let input = ruleInputs.get(rule);
    const isSwitch = unit === "yes";
    if (!input) {
      input = el("input", isSwitch ? { type: "checkbox" } : { type: "number", inputmode: "numeric" });
      input.dataset.testid = `rule-${rule}`;
      onEnter(input, () => change("rules", { [rule]: isSwitch ? input.checked : Number(input.value) }));
      ruleInputs.set(rule, input);
      byId("rules").append(el("label", { class: isSwitch ? "switch" : "number" }, el("span", { text: isSwitch || !unit ? text : `${text} (${unit})` }), input));
    }
    if (document.activeElement === input) continue;
    if (isSwitch) input.checked = rules[rule];
    else input.value = rules[rule] ?? 0;
  }
}

// The world
byId("anew").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => change("reset", { seed: Number(byId("seed").value) }), byId("anew-button"));
});

show((answer) => {
  if (answer === null) return;
  showTime(answer.time);
  showChains(answer.chains);
  showPrices(answer);
  showRules(answer.rules);
  setText(byId("callback-url"), answer.callback_url ?? "none: start with --callback-url; hosted checkouts name their own");
  if (document.activeElement !== byId("seed")) byId("seed").value = answer.seed;
});

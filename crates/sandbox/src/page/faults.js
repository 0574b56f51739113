// Faults on order: armed for so many calls or a share of them, counted down, disarmed.
import { change } from "./ask.js";
import { attempt, byId, button, el, options, setText } from "./dom.js";
import { show } from "./world.js";

const ENDPOINTS = [
  ["any", "every endpoint"], ["prices", "GET /prices"], ["create_invoice", "POST /invoice"], ["invoice", "GET /invoice"],
  ["confirm", "POST /confirm"], ["checkout", "POST /checkout"], ["currencies", "GET /currencies"],
  ["add_preference", "POST /preferences"], ["change_preference", "PUT /preferences"],
  ["onboard_merchant", "POST /aggregator/merchants"], ["merchant_account", "GET /merchant/account"],
  ["change_settings", "PUT /settings"],
];
/** Text, kind with its members, and the member that can be changed with its unit. */
const FAULTS = [
  ["401 Unauthorized", { kind: "status", status: 401, code: "INVALID_SIGNATURE" }],
  ["404 Not found", { kind: "status", status: 404, code: "NOT_FOUND" }],
  ["429, Retry-After in seconds", { kind: "status", status: 429, retry_after: 5 }, "retry_after", "s"],
  ["429, Retry-After as a date", { kind: "status", status: 429, retry_after: 5, retry_after_date: true }, "retry_after", "s"],
  ["429 without Retry-After", { kind: "status", status: 429 }],
  ["500 Internal error", { kind: "status", status: 500 }],
  ["503 Unavailable", { kind: "status", status: 503 }],
  ["Another status", { kind: "status", status: 502 }, "status", ""],
  ["Neither error shape", { kind: "shapeless", status: 400 }, "status", ""],
  ["Slow answer", { kind: "slow", delay_ms: 5000 }, "delay_ms", "ms"],
  ["Slow headers", { kind: "slow_headers", bytes_per_second: 1 }, "bytes_per_second", "B/s"],
  ["Slow body", { kind: "slow_body", bytes_per_second: 1 }, "bytes_per_second", "B/s"],
  ["Connection dropped", { kind: "drop" }],
  ["Body cut off", { kind: "cut" }],
  ["Half of the JSON", { kind: "garbled" }],
  ["Wrong types", { kind: "wrong_types" }],
  ["Duplicate keys", { kind: "duplicate_keys" }],
  ["Huge body", { kind: "huge", bytes: 10485760 }, "bytes", "B"],
  ["Another content type", { kind: "content_type", value: "text/plain" }, "value", ""],
  ["A page instead of JSON", { kind: "html" }],
  ["200 without a body", { kind: "empty" }],
  ["Redirect", { kind: "redirect", location: "https://example.com/" }, "location", ""],
  ["200 with an error inside", { kind: "error_inside" }],
  ["Another invoice's record", { kind: "other_invoice" }],
  ["A changed address", { kind: "changed_address" }],
  ["An unknown status word", { kind: "status_word", word: "REFUNDED" }, "word", ""],
];

const chosen = () => FAULTS[byId("fault-kind").value];

function showMember() {
  const [, fault, member, unit] = chosen();
  byId("fault-member").hidden = member === undefined;
  if (member === undefined) return;
  byId("fault-value").value = fault[member];
  setText(byId("fault-member-name"), member.replaceAll("_", " ") + (unit ? ` (${unit})` : ""));
}

function wanted() {
  const [, fault, member] = chosen();
  const plan = { endpoint: byId("fault-endpoint").value, ...fault };
  const value = byId("fault-value").value;
  if (member !== undefined) plan[member] = typeof fault[member] === "number" ? Number(value) : value;
  const many = Number(byId("fault-many").value);
  if (byId("fault-how").value === "share") plan.share_percent = many;
  else plan.times = many;
  return plan;
}

function name(plan) {
  const same = ([, fault]) => fault.kind === plan.kind && (fault.kind !== "status" || (fault.status === plan.status
    && (fault.retry_after === undefined) === (plan.retry_after === undefined) && (fault.retry_after_date ?? false) === (plan.retry_after_date ?? false)));
  const known = FAULTS.find(same);
  if (known) return known[0];
  return plan.kind === "status" ? String(plan.status) : plan.kind.replaceAll("_", " ");
}

const left = (plan) => [
  plan.times !== null && `${plan.times} left`,
  plan.share_percent !== null && `${plan.share_percent} % of calls`,
].filter(Boolean).join(", ");

show((world) => {
  if (world === null) return;
  const key = JSON.stringify(world.faults);
  const list = byId("faults");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  setText(byId("fault-count"), world.faults.length > 0 ? String(world.faults.length) : "");
  byId("disarm-all").hidden = world.faults.length < 2;
  list.replaceChildren(...world.faults.map((plan) => el("li", { class: "fault", testid: `fault-${plan.number}` },
    el("span", { class: "fault-what" },
      el("b", { text: plan.endpoint === "callback" ? `Callback ${name(plan)}` : name(plan) }),
      el("span", { class: "quiet", text: `${ENDPOINTS.find(([code]) => code === plan.endpoint)?.[1] ?? "callbacks"} · ${left(plan)}` })),
    button("Disarm", () => change(`faults/${plan.number}`, undefined, "DELETE"), { class: "link", testid: `disarm-${plan.number}` }))));
});

byId("fault-endpoint").append(...options(ENDPOINTS));
byId("fault-kind").append(...options(FAULTS.map(([text], index) => [index, text])));
byId("fault-kind").value = "2";
byId("fault-kind").addEventListener("change", showMember);
byId("fault").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => change("faults", wanted()), byId("arm"));
});
byId("disarm-all").addEventListener("click", (event) => attempt(() => change("faults", undefined, "DELETE"), event.currentTarget));
showMember();

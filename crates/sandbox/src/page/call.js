// One call of the log, opened: why it was refused, what was signed and what was expected, headers, body, answer.
import { read } from "./ask.js";
import { button, copy, el } from "./dom.js";

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Both texts with what differs between them marked: what they share at the beginning and the end is not. */
function difference(signed, expected) {
  let start = 0;
  const shorter = Math.min(signed.length, expected.length);
  while (start < shorter && signed[start] === expected[start]) start += 1;
  let end = 0;
  while (end < shorter - start && signed[signed.length - 1 - end] === expected[expected.length - 1 - end]) end += 1;
  const marked = (text, kind) => el("code", { class: "message" }, text.slice(0, start),
    el(kind, { text: text.slice(start, text.length - end) }), text.slice(text.length - end));
  return [marked(signed, "del"), marked(expected, "ins")];
}

function proof({ signed_message: signed, expected_message: expected, received_signature: got, expected_signature: right, hint }) {
  const part = (title, ...content) => el("div", { class: "proof-part" }, el("h4", { text: title }), ...content);
  const code = (text) => el("code", { class: "message", text });
  const [was, should] = signed && signed !== expected ? difference(signed, expected) : [null, code(expected)];
  return el("div", { class: "proof", testid: "proof" },
    hint ? el("p", { class: "hint", testid: "hint", text: `${hint[0].toUpperCase()}${hint.slice(1)}.` }) : null,
    was ? part("You signed", was) : null,
    part(was ? "Expected" : "Expected to be signed", should),
    part("Signature received", code(got)),
    part("Signature expected", code(right)));
}

function section(title, text, extra) {
  if (!text) return null;
  return el("section", { class: "part" },
    el("div", { class: "part-head" }, el("h4", { text: title }), button("Copy", () => copy(text, title), { class: "link" }), extra ?? null),
    el("pre", { text }));
}

/** Shows the call in `body`. */
export async function openCall(body, entry) {
  let call;
  try {
    call = await read(`requests/${entry.call}`);
  } catch {
    body.append(el("p", { class: "quiet", text: "This call is no longer kept; what the log says of it:" }),
      el("pre", { text: JSON.stringify(entry, null, 2) }));
    return;
  }
  const why = [call.code, call.message].filter(Boolean).join(": ");
  const parts = [
    call.signature ? proof(call.signature) : why ? el("p", { class: "hint", text: why }) : null,
    call.fault && !/^(status|shapeless)/.test(call.fault) ? el("p", { class: "quiet", text: "The answer below is the one that the fault spoiled." }) : null,
    section("Body", pretty(call.body)),
    section("Answer", pretty(call.answer)),
    section("Headers", call.headers.map(([name, value]) => `${name}: ${value}`).join("\n")),
  ];
  body.append(...parts.filter(Boolean));
}

// Scenario links: `#scenario=reorg`, or a whole scenario as JSON. Nothing is played before somebody says so.
import { done } from "./ask.js";
import { attempt, byId, copy, el, options, say } from "./dom.js";
import { selected } from "./invoices.js";
import { play, scenarios } from "./scenarios.js";
import { world } from "./world.js";

const MINE = "what-i-did";
const MAX_CHARS = 20000;

/** What was done on this page, for any invoice: the selected one's id becomes a name. */
function recorded() {
  const invoice = selected();
  const text = JSON.stringify(done);
  const steps = JSON.parse(invoice ? text.replaceAll(invoice.id, "{invoice}") : text);
  const opens = invoice && { open: { crypto_code: invoice.crypto_code, amount: invoice.amount_in_local_currency } };
  return { title: "What was done on the page", ...opens, steps: steps.filter((step) => step.path !== "invoices") };
}

function link() {
  const name = byId("share-what").value;
  const scenario = name === MINE ? recorded() : { name };
  if (byId("share-seed").checked) scenario.seed = world.seed;
  const whole = Object.keys(scenario).length > 1 || !scenario.name;
  return `${location.origin}/sandbox#scenario=${whole ? encodeURIComponent(JSON.stringify(scenario)) : scenario.name}`;
}

function copyLink() {
  if (byId("share-what").value === MINE && recorded().steps.length === 0) {
    say("Nothing was done on this page yet: press a few buttons first.", true);
    return undefined;
  }
  const text = link();
  byId("share-link").value = text;
  byId("share-link").hidden = false;
  return copy(text, "The link");
}

function parse(text) {
  if (text.length > MAX_CHARS) throw new Error("The link's scenario is too long.");
  const scenario = text.startsWith("{") ? JSON.parse(text) : { name: text };
  const known = scenario.name === undefined ? null : scenarios.get(scenario.name);
  if (known === undefined) throw new Error(`The link names a scenario that this sandbox does not have: ${scenario.name}`);
  const steps = known?.steps ?? scenario.steps;
  if (!Array.isArray(steps) || steps.length === 0) throw new Error("The link's scenario has no steps.");
  return { scenario, title: String(known?.title ?? scenario.title ?? "A scenario"), shows: known?.shows ?? "", steps };
}

/** Shows what a link would do, and asks. */
export function offerLink() {
  const found = /^#scenario=(.+)$/s.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname);
  let wanted;
  try {
    wanted = parse(decodeURIComponent(found[1]));
  } catch (error) {
    say(error instanceof SyntaxError || error instanceof URIError ? "The link's scenario cannot be read." : error.message, true);
    return;
  }
  const { scenario, title, shows, steps } = wanted;
  byId("link-title").textContent = title;
  byId("link-shows").textContent = shows ? `It ends so: ${shows}.` : "";
  byId("link-seed").hidden = scenario.seed === undefined;
  byId("link-seed").textContent = `It begins a new world from seed ${scenario.seed}: every invoice here is forgotten.`;
  byId("link-steps").replaceChildren(...steps.map((step) => el("li", {},
    el("code", { text: `${step.method ?? "POST"} ${step.path}${step.body === undefined ? "" : ` ${JSON.stringify(step.body)}`}` }))));
  const dialog = byId("link");
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue !== "play") return;
    attempt(async () => {
      await play(scenario, {});
      say(`${title}: played.`);
    });
  };
  dialog.showModal();
}

export function offerSharing() {
  const known = [...scenarios.values()].map(({ name, title }) => [name, title]);
  byId("share-what").append(...options([[MINE, "What I did on this page"], ...known]));
  byId("share").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(copyLink, byId("share-button"));
  });
  addEventListener("hashchange", offerLink);
  offerLink();
}

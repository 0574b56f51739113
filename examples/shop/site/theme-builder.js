// The theme builder: controls, a checkout that follows them, and what to copy. Whatever is chosen stands in the address,
// so that a link leads back to it.

/** By name, with the two colours that speak for it. */
const THEMES = [
  ["auto", "Automatic", "#0b6e52", "#161a18"],
  ["light", "Light", "#ffffff", "#0b6e52"],
  ["dark", "Dark", "#161a18", "#4fd1a1"],
  ["contrast", "Contrast", "#000000", "#ffe03d"],
  ["paper", "Paper", "#f5eee0", "#8c2f1b"],
  ["midnight", "Midnight", "#10132a", "#a5b4ff"],
  ["sorbet", "Sorbet", "#fff0f3", "#c0175d"],
];
/** By token: its name, what it is, and what it is read on. */
const COLOURS = [
  ["accent", "Accent", "buttons and links", "background"],
  ["on-accent", "On accent", "text on buttons", "accent"],
  ["background", "Background", "the background"],
  ["surface", "Surface", "behind the summary"],
  ["text", "Text", "text", "background"],
  ["text-muted", "Muted text", "quiet text", "background"],
  ["border", "Border", "thin lines"],
  ["warning", "Warning", "warnings", "background"],
  ["danger", "Danger", "what went wrong", "background"],
];
const READABLE = 4.5;
const PROXY = document.body.dataset.proxy;
/** The checkout's page: the proxy's, or a copy beside this one. */
const PAGE = new URL(document.body.dataset.checkout || `${PROXY}/pay`, location.href);

const form = document.querySelector("[data-controls]");
const live = document.querySelector("[data-live]");
const state = document.querySelector("[data-state]");
const find = (selector) => document.querySelector(selector);

function make(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

// The controls.

for (const [name, title, background, accent] of THEMES) {
  const swatch = make("span", { className: "swatch" });
  swatch.style.background = `linear-gradient(135deg, ${background} 50%, ${accent} 50%)`;
  const input = make("input", { type: "radio", name: "theme", value: name, defaultChecked: name === "auto" });
  input.dataset.testid = `theme-${name}`;
  find("[data-themes]").append(make("label", {}, input, swatch, title));
}
for (const [name, title, what] of COLOURS) {
  const input = make("input", { type: "color", id: `token-${name}`, name });
  input.dataset.testid = `token-${name}`;
  const undo = make("button", { type: "button", className: "undo", hidden: true, textContent: "Undo" });
  undo.setAttribute("aria-label", `Leave ${title.toLowerCase()} to the theme`);
  undo.addEventListener("click", () => {
    delete tokens[name];
    changed(true);
    input.focus();
  });
  const output = make("output", {});
  output.setAttribute("for", input.id);
  output.dataset.testid = `contrast-${name}`;
  const label = make("label", { htmlFor: input.id }, title, make("small", {}, what));
  find("[data-colours]").append(make("div", { className: "colour" }, input, label, make("div", { className: "reading" }, output, undo)));
}

/** What is set: token by token, without those that are left to the theme. */
let tokens = {};

function theme() {
  return form.elements.theme.value || "auto";
}

// The checkout.

let checkout;

/** A checkout anew: whether it is a dark one is found out when it begins. */
function begin() {
  checkout?.remove();
  checkout = make("florin-checkout");
  for (const [name, value] of Object.entries({ store: live.dataset.store, product: "ebook", display: "inline", theme: theme() })) checkout.setAttribute(name, value);
  applyTheme();
  live.append(checkout);
}

function applyTheme() {
  checkout.setAttribute("theme", theme());
  for (const name of [...checkout.style].filter((name) => name.startsWith("--florin-"))) checkout.style.removeProperty(name);
  for (const [name, value] of Object.entries(tokens)) checkout.style.setProperty(`--florin-${name}`, value);
  checkout.hidden = state.value !== "";
}

/** One of the gallery's states, dressed alike. */
function pose() {
  const frame = live.querySelector("iframe");
  if (!state.value) return frame?.remove();
  const params = new URLSearchParams({ gallery: state.value, origin: location.origin, theme: theme(), locale: "en" });
  for (const [name, value] of Object.entries(tokens)) params.set(`--florin-${name}`, value);
  const src = `${PAGE.href}?store=${encodeURIComponent(live.dataset.store)}#${params}`;
  if (frame) frame.src = src;
  else live.append(make("iframe", { src, title: "The checkout in this state" }));
}

addEventListener("message", ({ source, origin, data }) => {
  const frame = live.querySelector("iframe");
  if (source !== frame?.contentWindow || origin !== PAGE.origin || data?.florin !== 1 || data.type !== "resize") return;
  frame.style.height = `${Math.max(480, data.detail.height | 0)}px`;
});

// What the checkout makes of it.

/** A token as the checkout resolves it, three numbers from 0 to 1. */
function resolve(place, name, space) {
  const probe = place.appendChild(document.createElement("i"));
  probe.style.color = `color-mix(in ${space}, var(--${name}), var(--${name}))`;
  const parts = getComputedStyle(probe).color.split(/[ )]/).slice(1, 4).map(Number);
  probe.remove();
  return parts;
}

function luminance(place, name) {
  const [r, g, b] = resolve(place, name, "srgb-linear");
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function read() {
  const place = checkout.shadowRoot?.querySelector(".theme");
  if (!place) return;
  for (const [name, title, , behind] of COLOURS) {
    const input = find(`#token-${name}`);
    const hex = resolve(place, name, "srgb").map((part) => Math.round(Math.min(1, Math.max(0, part)) * 255).toString(16).padStart(2, "0"));
    if (document.activeElement !== input || !tokens[name]) input.value = `#${hex.join("")}`;
    find(`#token-${name} ~ .reading .undo`).hidden = !tokens[name];
    if (!behind) continue;
    const [dark, light] = [luminance(place, name), luminance(place, behind)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    const output = find(`#token-${name} ~ .reading output`);
    output.toggleAttribute("data-low", contrast < READABLE);
    output.textContent = `${contrast.toFixed(1)} ${contrast < READABLE ? "too low" : "✓"}`;
    output.title = `${title} on ${behind}`;
  }
  const corners = tokens.radius || getComputedStyle(place).getPropertyValue("--radius").trim();
  form.elements.radius.value = parseInt(corners, 10);
  find("[data-radius]").textContent = corners;
}

// What to copy.

function html() {
  const display = form.elements.display.value;
  const lines = [`<script src="${PROXY}/florin.js" async></script>`];
  const set = Object.entries(tokens);
  if (set.length) lines.push("<style>", "  florin-checkout {", ...set.map(([name, value]) => `    --florin-${name}: ${value};`), "  }", "</style>");
  const named = [["store", live.dataset.store], ["product", "ebook"], ["theme", theme() === "auto" ? "" : theme()]].filter(([, value]) => value);
  const params = new URLSearchParams([...named, ...set.map(([name, value]) => [`--florin-${name}`, value])]);
  const frame = display ? "" : `<iframe src="${PROXY}/pay?${String(params).replaceAll("&", "&amp;")}" title="Checkout" allow="clipboard-write"></iframe>`;
  if (display) named.push(["display", display]);
  const attributes = named.map(([name, value]) => ` ${name}="${value}"`);
  lines.push(`<florin-checkout${attributes.join("")}>${frame}</florin-checkout>`);
  return lines.join("\n");
}

function toml() {
  const lines = ["[store.theme]", `preset = "${theme()}"`];
  for (const [name, value] of Object.entries(tokens)) lines.push(`${name.replace("-", "_")} = "${value}"`);
  return lines.join("\n");
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const code = find(`[data-snippet="${button.dataset.copy}"]`);
    let result = "Copied";
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      result = "Selected: copy it";
    }
    button.textContent = result;
    find("[data-status]").textContent = result;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

// Together.

let posing;

function changed(anew) {
  if (anew) begin();
  else applyTheme();
  clearTimeout(posing);
  posing = setTimeout(pose, 150);
  find('[data-snippet="html"]').textContent = html();
  find('[data-snippet="toml"]').textContent = toml();
  const chosen = new URLSearchParams({ theme: theme(), ...tokens });
  if (form.elements.display.value) chosen.set("display", form.elements.display.value);
  history.replaceState(null, "", `#${chosen}`);
  requestAnimationFrame(read);
}

form.addEventListener("input", ({ target: { name, value } }) => {
  if (name === "radius") tokens.radius = `${value}px`;
  else if (name !== "theme" && name !== "display") {
    if (value) tokens[name] = value;
    else delete tokens[name];
  }
  changed(name === "theme");
});
form.addEventListener("change", ({ target: { name } }) => {
  if (name === "background") changed(true);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => {
  tokens = {};
  changed(true);
}));
state.addEventListener("change", () => {
  applyTheme();
  pose();
});
find("[data-width]").addEventListener("change", ({ target: { value } }) => (live.style.maxWidth = value ? `${value}px` : ""));
// By then the checkout knows its store, and takes its theme.
for (const event of ["florin-ready", "florin-status"]) live.addEventListener(event, () => setTimeout(read));

const params = new URLSearchParams(location.hash.slice(1));
for (const [name, value] of params) {
  if (name === "theme" || name === "display") form.elements[name].value = value;
  else if (name === "radius" || form.elements[name]) tokens[name] = value;
  if (name === "font" || name === "density") form.elements[name].value = value;
}
changed(true);

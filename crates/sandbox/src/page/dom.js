// Makes and changes elements. Texts are texts: nothing that came over the wire is ever read as markup.

export const byId = (id) => document.getElementById(id);

/** An element: `text`, `class`, `testid`, `on` (listeners by event) and attributes; then its children. */
export function el(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name === "testid") made.dataset.testid = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Sets a text only when it differs: an unchanged node keeps the user's selection. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A button that does something which may be refused; the sentence is then said. */
export function button(text, act, options = {}) {
  const made = el("button", { type: "button", class: "button", text, ...options });
  made.addEventListener("click", () => attempt(act, made));
  return made;
}

export async function attempt(act, pressed) {
  pressed?.setAttribute("aria-busy", "true");
  try {
    return await act();
  } catch (error) {
    say(error instanceof TypeError ? "The sandbox does not answer. Start it again." : error.message, true);
  } finally {
    pressed?.removeAttribute("aria-busy");
  }
}

/** Options of a `select`: pairs of value and text. */
export function options(pairs) {
  return pairs.map(([value, text]) => el("option", { value, text }));
}

let toastTimer;
export function say(text, bad = false) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.toggle("bad", bad);
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, bad ? 9000 : 4000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is in the clipboard.`);
  } catch {
    say(`The browser does not let this page use the clipboard. Copy it from here: ${text}`, true);
  }
}

/**
 * Diagnostics: why a display of the checkout does not work, and what is missing, as a line to paste. Loaded only when
 * something is wrong. Its texts are for the merchant: on the console, and in the test environment on the page as well.
 */
/** @import { Case } from './types.d.ts' */

/**
 * What is wrong: a text, and the line to paste.
 *
 * @typedef {{ isFatal?: boolean, why: string, line: string, hint?: string | false }} Finding
 */

const BASE = new URL('..', import.meta.url).href;
const ORIGIN = new URL(BASE).origin;
const PROBE_TIMEOUT_MS = 3000;

/**
 * The directives that count when one is missing, from the most specific on.
 *
 * @type {Record<string, string[]>}
 */
const FALLBACKS = {
  'script-src': ['script-src-elem', 'script-src', 'default-src'],
  'connect-src': ['connect-src', 'default-src'],
  'frame-src': ['frame-src', 'child-src', 'default-src'],
  'style-src': ['style-src-elem', 'style-src', 'default-src'],
};

/**
 * The directive of a policy that must change, or be added, with the sources that it lacks.
 *
 * @param {string} policy @param {string} name @param {string[]} lacks
 */
const repaired = (policy, name, lacks) => {
  const directives = new Map(policy.split(';').map((one) => one.trim().split(/\s+/)).map(([known, ...sources]) => /** @type {[string, string[]]} */ ([known.toLowerCase(), sources])));
  const found = (FALLBACKS[name] || [name]).find((one) => directives.has(one));
  const sources = ((found && directives.get(found)) || []).filter((one) => one !== "'none'" && !lacks.includes(one));
  const isThere = found && found !== 'default-src';
  return {
    why: "This page's Content-Security-Policy does not allow it. " + (isThere ? 'Its ' + found + ' should be:' : 'It should also say:'),
    line: [isThere ? found : name, ...sources, ...lacks].join(' '),
  };
};

/**
 * What the page's policy forbade: one line for each directive.
 *
 * @param {SecurityPolicyViolationEvent[]} blocked
 * @returns {Finding[]}
 */
const forbidden = (blocked) => {
  /** @type {Map<string, { lacks: Set<string>, originalPolicy: string }>} */
  const lines = new Map();
  for (const { effectiveDirective, violatedDirective, blockedURI, originalPolicy, disposition } of blocked) {
    const isCode = /eval/.test(blockedURI);
    if (disposition === 'report' || !(isCode || blockedURI.startsWith(ORIGIN))) continue;
    const name = (effectiveDirective || violatedDirective).split(' ')[0].replace(/-(elem|attr)$/, '');
    const lacks = lines.get(name)?.lacks || new Set();
    lacks.add(isCode ? "'wasm-unsafe-eval'" : ORIGIN);
    lines.set(name, { lacks, originalPolicy });
  }
  return [...lines].map(([name, { lacks, originalPolicy }]) => ({
    isFatal: true,
    ...repaired(originalPolicy, name, [...lacks]),
  }));
};

/** Whether the proxy responds. A loader that is loaded twice does nothing, and needs no connect-src. */
const isAlive = async () => {
  const late = new Promise((done) => setTimeout(done, PROBE_TIMEOUT_MS));
  const loader = import(BASE + 'florin.js?' + performance.now()).catch(() => {});
  return Promise.race([late, loader]);
};

/** The files that a checkout is loaded from, with their types. */
const FILES = [
  ['%FLORIN:host.js%', 'text/javascript'],
  ['%FLORIN:widget.js%', 'text/javascript'],
  ['%FLORIN:widget_bg.wasm%', 'application/wasm'],
  ['%FLORIN:florin.css%', 'text/css'],
  ['%FLORIN:theme.js%', 'text/javascript'],
];

/**
 * Files that something between proxy and browser changes.
 *
 * @returns {Promise<Finding[]>}
 */
const changedFiles = async () => {
  const seen = FILES.map(async ([path, type]) => {
    const answer = await fetch(BASE + path, { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS), cache: 'no-store' });
    answer.body?.cancel();
    const is = answer.headers.get('content-type') || 'nothing';
    if (!answer.ok) return { why: 'A file of the checkout is missing; what stands in front of the proxy must hand this address on:', line: BASE + path + ' (answered ' + answer.status + ')' };
    if (!is.startsWith(type)) return { why: 'A file of the checkout comes as ' + is + '. What stands in front of the proxy must send ' + BASE + path + ' with:', line: 'Content-Type: ' + type };
  });
  return (await Promise.all(seen.map((one) => one.catch(() => undefined)))).filter((one) => one !== undefined);
};

const SOURCES = ['product', 'donation', 'order-token', 'client-token'];
/**
 * An attribute's name, form and its description, and the attribute that it needs. florin.js checks all at once.
 *
 * @type {[string, RegExp, string, string?][]}
 */
const RULES = [
  ['product', /./, '', 'store'],
  ['quantity', /^[1-9]\d*$/, 'a whole number, 1 or more', 'product'],
  ['donation', /./, '', 'store'],
  ['amount', /^\d+(\.\d+)?$/, 'an amount like 5.00', 'donation'],
  ['display', /^(frame|inline|modal|redirect)$/, 'frame, inline, modal or redirect'],
  ['locale', /^[a-z]{2,8}(-\w{1,8})*$/i, 'a language tag like de-AT'],
  ['theme', /^(auto|light|dark|contrast|paper|midnight|sorbet)$/, 'auto, light, dark, contrast, paper, midnight or sorbet'],
];

/**
 * All mistakes in the attributes of an element.
 *
 * @param {HTMLElement} element
 */
const mistakes = (element) => {
  const read = (/** @type {string} */ name) => element.getAttribute(name);
  const named = SOURCES.filter(read);
  const wrong = named.length === 1 ? [] : ['name exactly one of ' + SOURCES.join(', ') + ' (named: ' + (named.join(', ') || 'none') + ')'];
  for (const [name, shape, rule, other] of RULES) {
    const value = read(name);
    if (!value) continue;
    if (!shape.test(value)) wrong.push(name + '="' + value + '" is not ' + rule);
    if (other && !read(other)) wrong.push(name + '="' + value + '" needs ' + other);
  }
  return wrong.length ? wrong : ['an attribute holds a line break'];
};

/** @param {Case} examined @returns {Promise<Finding[]>} */
const findings = async ({ element, display, blocked, isRejected, isClipboardBlocked }) => {
  const store = element.getAttribute('store');
  if (isClipboardBlocked) return [{ why: 'The customer cannot copy: this page keeps the clipboard from the checkout. Its header should say:', line: 'Permissions-Policy: clipboard-write=(self "' + ORIGIN + '")' }];
  const alive = await isAlive();
  if (!alive) return forbidden(blocked);
  const isHere = display === 'page' || display === 'inline';
  let isAdmitted = true;
  if (display === 'inline') {
    isAdmitted = !isRejected && Boolean(await fetch(BASE + 'v1/checkout', { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS) }).catch(() => {}));
    // The browser reports afterwards what it did not send.
    await new Promise((done) => setTimeout(done, 50));
  }
  const found = forbidden(blocked);
  const isFramed = !isHere && isRejected;
  if (!found.length && (isFramed || !isAdmitted)) {
    found.push({
      isFatal: true,
      why:
        'The proxy does not let this page show the checkout. In florin.toml, below [[store]]' +
        (store ? ' with id = "' + store + '"' : '') +
        ', beside the origins that stand there:',
      line: 'origins = ["' + location.origin + '"]',
      hint: isFramed && 'If it stands there already, a server in front of the proxy sends an X-Frame-Options or a Content-Security-Policy of its own: take it away from ' + BASE + 'pay.',
    });
  }
  return isHere ? found.concat(await changedFiles()) : found;
};

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.fl-diagnostics{box-sizing:border-box;max-width:1270px;margin:0 auto 16px;padding:16px 20px;border:2px dashed #b7791f;border-radius:16px;background:#fffaf0;color:#2b2111;font:15px/1.5 system-ui,sans-serif;color-scheme:light}
.fl-diagnostics p{margin:8px 0}
.fl-diagnostics b{font-size:16px}
.fl-diagnostics code{display:block;margin:8px 0;padding:10px 12px;border-radius:8px;background:#2b2111;color:#fff;font:13px/1.5 ui-monospace,Consolas,monospace;overflow-wrap:anywhere;user-select:all}`);

/**
 * Shows findings on the page, in the test environment alone.
 *
 * @param {Case} examined @param {string} title @param {(Node | string)[]} texts
 */
const showPanel = ({ element, box, signal, make, isTest }, title, texts) => {
  const shadowRoot = /** @type {ShadowRoot} */ (element.shadowRoot);
  // The next attempt has findings of its own.
  if (signal.aborted) return;
  shadowRoot.querySelector('.fl-diagnostics')?.remove();
  if (!isTest || !texts.length) return;
  shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets.filter((one) => one !== STYLE), STYLE];
  const panel = make('section', { className: 'fl-diagnostics', part: 'doctor', role: 'status', ariaLabel: 'Embed doctor' });
  panel.append(make('b', {}, 'Embed doctor: ' + title), ...texts);
  panel.append(make('p', {}, 'Only the test environment shows this. Customers see the next display that works, or a sentence and a link.'));
  // In a dialog, or above the display, which may be made anew.
  if (box.closest('dialog')) box.prepend(panel);
  else shadowRoot.prepend(panel);
};

/**
 * Names its findings to the merchant. Returns a message for invalid attributes; else whether no further attempt of this
 * display can help.
 *
 * @param {Case} examined
 */
export const examine = async (examined) => {
  const { make, element, display } = examined;
  if (examined.isInvalid) {
    const wrong = mistakes(element);
    const message = '<florin-checkout>: ' + wrong.join('; ') + '.';
    console.error('florin: ' + message);
    showPanel(examined, 'the attributes of <florin-checkout> are not right', wrong.map((line) => make('code', {}, line)));
    return message;
  }
  const found = await findings(examined);
  for (const { why, line, hint } of found) console.error('florin: display="' + display + '" from ' + ORIGIN + '. ' + why + '\n\n    ' + line + '\n' + (hint ? '\n' + hint : ''));
  showPanel(examined, 'display="' + display + '" needs something', found.flatMap(({ why, line, hint }) => [make('p', {}, why), make('code', {}, line), hint ? make('p', {}, hint) : '']));
  return found.some((one) => one.isFatal);
};

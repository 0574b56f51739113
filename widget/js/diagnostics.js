/**
 * Diagnostics: why a display of the checkout does not work, and what is missing, as a line to paste. Loaded only when
 * something is wrong. Its texts are for the merchant: on the console, and in the test environment on the page as well.
 */
import { diagnostics, loader } from '../locales/en.json';
import { brokenBuiltins } from './builtins.js';
import { make } from './dom.js';
import { followTopLink } from './top_links.js';
import { warnOfRenamedTokens } from './renamed_tokens.js';
/** @import { Case, DiagnosticTexts } from './types.d.ts' */

/**
 * What is wrong: a text with the values of its gaps, and the line to paste.
 *
 * @typedef {{ isFatal?: boolean, why: Text, line?: string }} Finding
 * @typedef {[key: keyof DiagnosticTexts, values?: Record<string, string | number>]} Text
 */

const BASE = new URL('..', import.meta.url).href;
const ORIGIN = new URL(BASE).origin;
const PROBE_TIMEOUT_MS = 3000;
/** The pause after the third attempt of a frame. */
const HEADER_AFTER_SECONDS = 8;

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
 * @returns {Finding}
 */
const repaired = (policy, name, lacks) => {
  const directives = new Map(policy.split(';').map((one) => one.trim().split(/\s+/)).map(([known, ...sources]) => /** @type {[string, string[]]} */ ([known.toLowerCase(), sources])));
  const found = (FALLBACKS[name] || [name]).find((one) => directives.has(one));
  const sources = ((found && directives.get(found)) || []).filter((one) => one !== "'none'" && !lacks.includes(one));
  const isThere = found && found !== 'default-src';
  return {
    isFatal: true,
    why: isThere ? ['policy_change', { directive: found }] : ['policy_add'],
    line: [isThere ? found : name, ...sources, ...lacks].join(' '),
  };
};

/**
 * What the page's policy forbade: one line for each directive.
 *
 * @param {SecurityPolicyViolationEvent[]} blocked
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
  return [...lines].map(([name, { lacks, originalPolicy }]) => repaired(originalPolicy, name, [...lacks]));
};

/**
 * Whether the proxy responds. A loader that is loaded twice needs no connect-src, and brings the names of the files of the
 * proxy's version: the next attempt asks for those.
 */
const isAlive = async () => {
  const late = new Promise((done) => setTimeout(done, PROBE_TIMEOUT_MS));
  const loader = import(BASE + 'florin.js?' + performance.now()).catch(() => {});
  return Promise.race([late, loader]);
};

/**
 * Whether the proxy lists the origin of this page for a store; `undefined` if it does not say. A module, which needs no
 * connect-src.
 *
 * @param {string} store
 * @returns {Promise<boolean | undefined>}
 */
const isListed = async (store) => {
  const late = new Promise((done) => setTimeout(done, PROBE_TIMEOUT_MS));
  const query = new URLSearchParams({ store, origins: self.origin, at: String(performance.now()) });
  const response = import(BASE + 'origins.js?' + query).catch(() => {});
  return (await Promise.race([late, response]))?.default?.[0];
};

/** The files that a checkout is loaded from, with their types. */
const FILES = [
  [import.meta.url.slice(BASE.length).replace('diagnostics-', 'host-'), 'text/javascript'],
  ['%FLORIN:widget.js%', 'text/javascript'],
  ['%FLORIN:widget_bg.wasm%', 'application/wasm'],
  ['%FLORIN:florin.css%', 'text/css'],
  ['%FLORIN:theme.js%', 'text/javascript'],
];

/** Files that something between proxy and browser changes. */
const changedFiles = async () => {
  const seen = FILES.map(async ([path, type]) => {
    const address = BASE + path;
    const response = await fetch(address, { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS), cache: 'no-store' });
    response.body?.cancel();
    const is = response.headers.get('content-type') || '?';
    /** @type {Finding | undefined} */
    let found;
    if (!response.ok) found = { why: ['file_missing', { status: response.status }], line: address };
    else if (!is.startsWith(type)) found = { why: ['file_type', { type: is, address }], line: 'Content-Type: ' + type };
    return found;
  });
  return (await Promise.all(seen.map((one) => one.catch(() => undefined)))).filter((one) => one !== undefined);
};

/** The order's source: exactly one is set. */
const SOURCES = ['product', 'donation', 'order-token', 'client-token'];
const DISPLAYS = ['frame', 'inline', 'modal', 'redirect'];
const THEMES = ['auto', 'light', 'dark', 'contrast', 'paper', 'midnight', 'sorbet'];

/**
 * An attribute's form, the text for another one, and the attribute that it needs. florin.js checks all at once.
 *
 * @type {Record<string, { form: RegExp | string[], text?: keyof DiagnosticTexts, needs?: string }>}
 */
const RULES = {
  product: { form: /./, needs: 'store' },
  quantity: { form: /^[1-9]\d*$/, text: 'whole_number', needs: 'product' },
  donation: { form: /./, needs: 'store' },
  amount: { form: /^\d+(\.\d+)?$/, text: 'amount', needs: 'donation' },
  display: { form: DISPLAYS },
  locale: { form: /^[a-z]{2,8}(-\w{1,8})*$/i, text: 'language_tag' },
  theme: { form: THEMES },
};

/**
 * All mistakes in the attributes of an element.
 *
 * @param {HTMLElement} element
 * @param {(...text: Text) => string} say
 */
const mistakes = (element, say) => {
  const read = (/** @type {string} */ name) => element.getAttribute(name);
  const set = SOURCES.filter(read);
  const wrong = set.length === 1 ? [] : [say('one_source', { attributes: SOURCES.join(', '), found: set.join(', ') || say('none') })];
  for (const [name, { form, text, needs }] of Object.entries(RULES)) {
    const value = read(name);
    if (!value) continue;
    const found = name + '="' + value + '"';
    if (Array.isArray(form)) {
      if (!form.includes(value)) wrong.push(say('one_of', { found, values: form.join(', ') }));
    } else if (text && !form.test(value)) wrong.push(say(text, { found }));
    if (needs && !read(needs)) wrong.push(say('needs_attribute', { found, attribute: needs }));
  }
  return wrong.length ? wrong : [say('line_break')];
};

/** What a frame around the checkout must allow. */
const SANDBOX = 'sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"';

/** @param {Case} examined @returns {Promise<Finding[]>} */
const findings = async ({ element, display, blocked, isRejected, isClipboardBlocked, isSandboxed, seconds }) => {
  const names = brokenBuiltins();
  if (names && display === 'inline') return [{ isFatal: true, why: ['page_broken', { names }] }];
  const store = element.getAttribute('store');
  // The frames around this one may forbid what the checkout and the wallets need.
  if (self.origin === 'null' || isSandboxed) return [{ isFatal: !isSandboxed, why: ['sandboxed'], line: SANDBOX }];
  if (isClipboardBlocked) return [{ why: ['clipboard_blocked'], line: 'Permissions-Policy: clipboard-write=(self "' + ORIGIN + '")' }];
  const alive = await isAlive();
  if (!alive) return forbidden(blocked);
  const isHere = display === 'page' || display === 'inline';
  if (display === 'inline') {
    await fetch(BASE + 'v1/checkout', { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS) }).catch(() => {});
    // The browser reports afterwards what it did not send.
    await new Promise((done) => setTimeout(done, 50));
  }
  /** @type {Finding[]} */
  const found = forbidden(blocked);
  if (!found.length && display !== 'page' && (isRejected || display === 'inline')) {
    const is = await isListed(store || '');
    if (is === false) {
      found.push({
        isFatal: true,
        why: ['origin_not_allowed', { store: '[[store]]' + (store ? ' id = "' + store + '"' : '') }],
        line: 'origins = ["' + location.origin + '"]',
      });
      // The page of a proxy that restarts is silent once; a page that may not be framed, always.
    } else if (is && !isHere && seconds && seconds >= HEADER_AFTER_SECONDS) found.push({ why: ['header_added', { address: BASE + 'pay' }] });
  }
  return isHere ? found.concat(await changedFiles()) : found;
};

/**
 * The texts in the customer's language; English where they do not load.
 *
 * @param {Case} examined
 * @returns {Promise<DiagnosticTexts>}
 */
const loadTexts = async ({ labels, load }) => {
  try {
    const { diagnostics: path } = await labels;
    if (path) return { ...diagnostics, ...(await load(path, PROBE_TIMEOUT_MS)).texts };
  } catch {
    // English is inside.
  }
  return diagnostics;
};

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.fl-diagnostics{all:initial;display:block;box-sizing:border-box;max-width:1270px;margin:0 auto 16px;padding:16px 20px;border:2px dashed #b7791f;border-radius:16px;background:#fffaf0;color:#2b2111;font:15px/1.5 system-ui,sans-serif;color-scheme:light}
.fl-diagnostics p{margin:8px 0}
.fl-diagnostics b{font-size:16px}
.fl-diagnostics code{display:block;margin:8px 0;padding:10px 12px;border-radius:8px;background:#2b2111;color:#fff;font:13px/1.5 ui-monospace,Consolas,monospace;overflow-wrap:anywhere;user-select:all}`);

/**
 * Shows findings on the page, in the test environment alone.
 *
 * @param {Case} examined @param {(...text: Text) => string} say @param {string} title @param {(Node | string)[]} texts
 */
const showPanel = ({ element, box, signal, isTest }, say, title, texts) => {
  const shadowRoot = /** @type {ShadowRoot} */ (element.shadowRoot);
  // The next attempt has its own findings.
  if (signal.aborted) return;
  shadowRoot.querySelector('.fl-diagnostics')?.remove();
  if (!isTest || !texts.length) return;
  const sheets = shadowRoot.adoptedStyleSheets;
  if (!sheets.includes(STYLE)) shadowRoot.adoptedStyleSheets = [...sheets, STYLE];
  const panel = make('section', { className: 'fl-diagnostics', part: 'diagnostics', role: 'status', ariaLabel: say('title') });
  panel.append(make('b', {}, say('title') + ': ' + title), ...texts);
  panel.append(make('p', {}, say('test_only')));
  // In a dialog, or above the display, which may be made anew.
  if (box.closest('dialog')) box.prepend(panel);
  else shadowRoot.prepend(panel);
};

/**
 * Puts the customer's language on the notice that there is no checkout, and counts down to the next attempt.
 *
 * @param {Case} examined @param {boolean} isFatal
 */
const complete = async ({ notice, button, link, seconds, labels, texts, locale }, isFatal) => {
  if (!notice) return;
  const found = await labels;
  const words = { ...loader, ...found.texts, ...texts };
  notice.firstChild?.replaceWith(words.load_failed);
  if (link) link.textContent = words.own_page;
  if (!button) return;
  if (isFatal) return button.remove();
  button.textContent = words.retry;
  const countdown = make('p', { ariaLive: 'off' });
  button.before(countdown);
  let left = seconds || 0;
  const count = () => {
    // Throws in a browser without this part of `Intl`, which shows the button alone.
    countdown.textContent = words.retrying.replace('{in}', new Intl.RelativeTimeFormat(locale || found.locale || 'en').format(left, 'second'));
  };
  count();
  const timer = setInterval(() => {
    if (!--left || !notice.isConnected) clearInterval(timer);
    else count();
  }, 1000);
};

/**
 * Names its findings to the merchant. Returns whether no further attempt of this display can help. With a link alone, it
 * follows the link's presses.
 *
 * @param {Case} examined
 */
export const examine = async (examined) => {
  const { element, display, link, signal } = examined;
  if (link && !examined.notice) {
    link.addEventListener('click', (event) => followTopLink(event, () => examine({ ...examined, link: undefined, isSandboxed: true })));
    return false;
  }
  warnOfRenamedTokens(element);
  const loadingTexts = loadTexts(examined);
  const found = examined.isInvalid ? [] : await findings(examined);
  const texts = await loadingTexts;
  /** @type {(...text: Text) => string} */
  const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  if (examined.isInvalid) {
    const wrong = mistakes(element, say);
    const message = '<florin-checkout>: ' + wrong.join(' ');
    console.error('florin: ' + message);
    showPanel(examined, say, say('attributes_wrong', { element: '<florin-checkout>' }), wrong.map((line) => make('code', {}, line)));
    if (!signal.aborted) element.dispatchEvent(new CustomEvent('florin-error', { bubbles: true, composed: true, detail: { code: 'invalid_attributes', message } }));
    return false;
  }
  /** @type {Node[]} */
  const lines = [];
  let isFatal = false;
  // Without `map`: what is named may be that the page has broken it.
  for (const { why, line, isFatal: isThis } of found) {
    const text = say(...why);
    console.error('florin: display="' + display + '" from ' + ORIGIN + '. ' + text + (line ? '\n\n    ' + line + '\n' : ''));
    lines.push(make('p', {}, text));
    if (line) lines.push(make('code', {}, line));
    isFatal ||= Boolean(isThis);
  }
  showPanel(examined, say, say('display_blocked', { display: 'display="' + display + '"' }), lines);
  await complete(examined, isFatal);
  return isFatal;
};

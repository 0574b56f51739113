/**
 * Diagnostics: why a display of the checkout does not work, and what is missing, as a line to paste. Loaded only when
 * something is wrong. Its texts are for the merchant: on the console, and in the test environment on the page as well.
 */
import { diagnostics, loader } from '../locales/en.json';
import { ATTRIBUTES, read } from './attributes.js';
import { brokenBuiltins } from './builtins.js';
import { make } from './dom.js';
import { takesMarkup } from './host/trusted_types.js';
import { followTopLink } from './top_links.js';
/** @import { Case, DiagnosticTexts } from './types.d.ts' */

/**
 * What is wrong: a text with the values of its gaps, or the proxy's own; and the line to paste.
 *
 * @typedef {{ isFatal?: boolean, why: Text | string, line?: string }} Finding
 * @typedef {[key: keyof DiagnosticTexts, values?: Record<string, string | number>]} Text
 */

const BASE = new URL('..', import.meta.url).href;
const ORIGIN = new URL(BASE).origin;
const PROBE_TIMEOUT_MS = 3000;
const ELEMENT = '<florin-checkout>';
const UNCLOSED = '<florin-checkout />';
/** The origin of this page. A page from a disk has none, without any frame around it. */
const OWN = location.protocol === 'file:' ? 'file://' : self.origin;
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
  const sources = ((found && directives.get(found)) || []).filter((one) => one !== "'none'" && !lacks.includes(one)).map((one) => one.replace(/^'nonce-.*/, "'nonce-…'"));
  const isThere = found && found !== 'default-src';
  return {
    isFatal: true,
    why: isThere ? ['policy_change', { directive: found }] : ['policy_add'],
    line: [isThere ? found : name, ...sources, ...lacks].join(' '),
  };
};

/**
 * What the page's policy forbade: one line for each directive. Only inline, the page itself sends requests.
 *
 * @param {SecurityPolicyViolationEvent[]} blocked @param {boolean} isInline
 */
const forbidden = (blocked, isInline) => {
  /** @type {Map<string, { lacks: Set<string>, originalPolicy: string }>} */
  const lines = new Map();
  for (const { effectiveDirective, violatedDirective, blockedURI, originalPolicy, disposition } of blocked) {
    const isCode = /eval/.test(blockedURI);
    if (disposition === 'report' || !(isCode || blockedURI.startsWith(ORIGIN))) continue;
    if (effectiveDirective === 'connect-src' && !isInline) continue;
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

/** Browsers report what they did not send, but later. @param {number} time Milliseconds. */
const pause = (time) => new Promise((done) => setTimeout(done, time));

/**
 * What the proxy says of these pages: `Admission` of proxy/src/http/checkout_page.rs; nothing if it does not respond. It is a
 * script, since a policy may let in scripts of the proxy and no requests.
 *
 * @param {string} store @param {string[]} pages
 * @returns {Promise<{ public_url: string, store: string | null, pages: ('listed' | 'unlisted' | 'unencrypted')[], line: string } | undefined>}
 */
const admission = (store, pages) => {
  const query = new URLSearchParams({ store, pages: pages.join(' '), at: String(performance.now()) });
  return Promise.race([pause(PROBE_TIMEOUT_MS), import(BASE + 'admission.js?' + query).then((module) => module.default, () => {})]);
};

/** The origins of this page and of those around it, as far as the browser names them. */
const origins = () => {
  const { ancestorOrigins } = location;
  const around = ancestorOrigins ? [...ancestorOrigins] : self !== top && document.referrer ? [new URL(document.referrer).origin] : [];
  return [...new Set([OWN, ...around])];
};

/** The frames around a page whose origin is `null` forbid what the checkout and wallets need. @returns {Finding} */
const sandboxed = () => ({
  isFatal: true,
  why: ['sandboxed'],
  line: 'sandbox="allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"',
});

/**
 * What keeps pages out: their origins, the store that the element names, or the address that the loader came from.
 *
 * @param {string} named The store of the element. @param {string[]} pages @param {NonNullable<Awaited<ReturnType<typeof admission>>>} answer
 * @returns {Finding[]}
 */
const unadmitted = (named, pages, { public_url, store, pages: states, line }) => {
  const loader = public_url + '/florin.js';
  if (new URL(loader).href !== BASE + 'florin.js') return [{ why: ['proxy_address'], line: '<script src="' + loader + '" async></script>' }];
  if (!store) return [{ isFatal: true, why: ['store_unknown', { found: 'store="' + named + '"' }] }];
  const those = (/** @type {string} */ state) => pages.filter((_, place) => states[place] === state).join(', ');
  if (pages.includes('null')) return [sandboxed()];
  if (those('unencrypted')) return [{ isFatal: true, why: ['page_unencrypted', { page: those('unencrypted') }] }];
  if (those('unlisted')) return [{ isFatal: true, why: ['origin_not_allowed', { store: '[[store]] id = "' + store + '"' }], line }];
  return [];
};

/**
 * What a server in front of the proxy adds to the page that is framed.
 *
 * @param {string} store @returns {Promise<Finding[]>}
 */
const addedHeaders = async (store) => {
  const address = BASE + 'pay';
  const response = await fetch(address + '?store=' + encodeURIComponent(store), { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS) }).catch(() => {});
  if (!response) return [];
  if (!response.ok) return [{ why: ['file_missing', { status: response.status }], line: address }];
  // Each policy that was added stands after a comma.
  const header = response.headers.has('x-frame-options') ? 'X-Frame-Options' : response.headers.get('content-security-policy')?.includes(',') && 'Content-Security-Policy';
  return header ? [{ isFatal: true, why: ['header_added', { header, address }] }] : [];
};

/** Quotes that are letters to a browser: `store=“demo”`. */
const TYPOGRAPHIC = /[\u00ab\u00bb\u201c-\u201f\u2033]/g;

/** The attributes with such quotes. Texts of the shop may have them. @param {HTMLElement} element @returns {Finding[]} */
const quoted = (element) => {
  const found = ATTRIBUTES.filter((name) => name !== 'words' && read(element, name).search(TYPOGRAPHIC) >= 0);
  return found.map((name) => ({
    isFatal: true,
    why: ['typographic_quotes', { found: name + '=' + read(element, name) }],
    line: name + '="' + read(element, name).replace(TYPOGRAPHIC, '') + '"',
  }));
};

/** The files that a checkout is loaded from, with their types. */
const FILES = [
  [import.meta.url.slice(BASE.length).replace('diagnostics-', 'host-'), 'text/javascript'],
  ['%FLORIN:widget.js%', 'text/javascript'],
  ['%FLORIN:widget_bg.wasm%', 'application/wasm'],
  ['%FLORIN:payment.css%', 'text/css'],
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
  const quotes = quoted(element);
  if (quotes.length) return quotes.map(({ why, line }) => say(.../** @type {Text} */ (why)) + ' ' + line);
  const set = SOURCES.filter((name) => read(element, name));
  const wrong = set.length === 1 ? [] : [say('one_source', { attributes: SOURCES.join(', '), found: set.join(', ') || say('none') })];
  for (const [name, { form, text, needs }] of Object.entries(RULES)) {
    const value = read(element, name);
    if (!value) continue;
    const found = name + '="' + value + '"';
    if (Array.isArray(form)) {
      if (!form.includes(value)) wrong.push(say('one_of', { found, values: form.join(', ') }));
    } else if (text && !form.test(value)) wrong.push(say(text, { found }));
    if (needs && !read(element, needs)) wrong.push(say('needs_attribute', { found, attribute: needs }));
  }
  return wrong.length ? wrong : [say('line_break')];
};

/** Written as `<florin-checkout />`, an element has the rest of the page inside: only then does nothing follow it. @param {Element} element */
const isFollowed = (element) => {
  /** @type {Element | null} */
  let node = element;
  while (node && node !== document.body && !node.nextElementSibling) node = node.parentElement;
  return node !== document.body;
};

/** @param {Case} examined @returns {Promise<Finding[]>} */
const findings = async ({ element, display, blocked, isUnclosed, isRejected, isClipboardBlocked, isSandboxed, seconds, reason }) => {
  if (isUnclosed) return [{ why: ['display_blocked', { display: UNCLOSED }], line: /** @type {Element} */ (element.cloneNode()).outerHTML }];
  const isInline = display === 'inline';
  if (isInline && !takesMarkup()) {
    await pause(50);
    const directive = 'require-trusted-types-for';
    if (blocked.some(({ effectiveDirective, disposition }) => effectiveDirective === directive && disposition !== 'report')) return [{ isFatal: true, why: ['inline_blocked', { directive }], line: 'display="frame"' }];
  }
  const names = brokenBuiltins();
  if (names && isInline) return [{ isFatal: true, why: ['page_broken', { names }] }];
  if (OWN === 'null' || isSandboxed) return [{ ...sandboxed(), isFatal: !isSandboxed }];
  if (isClipboardBlocked) return [{ why: ['clipboard_blocked'], line: 'Permissions-Policy: clipboard-write=(self "' + ORIGIN + '")' }];
  const quotes = quoted(element);
  if (quotes.length) return quotes;
  if (reason) return [{ why: reason }];
  const store = display === 'page' ? new URLSearchParams(location.search).get('store') || '' : read(element, 'store');
  // Requests of an inline checkout are the page's own, whatever is around it.
  const pages = isInline ? [OWN] : origins();
  const [alive, answer] = await Promise.all([isAlive(), admission(store, pages)]);
  if (!alive) return forbidden(blocked, isInline);
  let isAdmitted = true;
  if (isInline) {
    isAdmitted = !isRejected && Boolean(await fetch(BASE + 'v1/checkout', { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS) }).catch(() => {}));
    await pause(50);
  }
  const isHere = isInline || display === 'page';
  const found = forbidden(blocked, isInline);
  if (!found.length && answer && (isRejected || !isAdmitted)) {
    found.push(...unadmitted(store, pages, answer));
    if (!found.length && !isHere) {
      found.push(...(await addedHeaders(store)));
      // The page of a proxy that restarts is silent once; a page that may not be framed, always.
      if (!found.length && seconds && seconds >= HEADER_AFTER_SECONDS) found.push({ why: ['header_added', { address: BASE + 'pay' }] });
    }
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
  if (examined.isUnclosed && isFollowed(element)) return false;
  const loadingTexts = loadTexts(examined);
  const found = examined.isInvalid ? [] : await findings(examined);
  const texts = await loadingTexts;
  const speaker = (/** @type {DiagnosticTexts} */ spoken) => /** @type {(...text: Text) => string} */ ((key, values = {}) => spoken[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name])));
  const say = speaker(texts);
  if (examined.isInvalid) {
    const wrong = mistakes(element, say);
    console.error('florin: ' + ELEMENT + ': ' + wrong.join(' '));
    showPanel(examined, say, say('attributes_wrong', { element: ELEMENT }), wrong.map((line) => make('code', {}, line)));
    // The event is for programs.
    const message = ELEMENT + ': ' + mistakes(element, speaker(diagnostics)).join(' ');
    if (!signal.aborted) element.dispatchEvent(new CustomEvent('florin-error', { bubbles: true, composed: true, detail: { code: 'invalid_attributes', message } }));
    return false;
  }
  /** @type {Node[]} */
  const lines = [];
  let isFatal = false;
  // Without `map`: what is named may be that the page has broken it.
  for (const { why, line, isFatal: isThis } of found) {
    const text = typeof why === 'string' ? why : say(...why);
    console.error('florin: display="' + display + '" from ' + ORIGIN + '. ' + text + (line ? '\n\n    ' + line + '\n' : ''));
    lines.push(make('p', {}, text));
    if (line) lines.push(make('code', {}, line));
    // The page itself has no next display.
    isFatal ||= Boolean(isThis) && display !== 'page';
  }
  const title = examined.reason ? say('attributes_wrong', { element: ELEMENT }) : say('display_blocked', { display: examined.isUnclosed ? UNCLOSED : 'display="' + display + '"' });
  showPanel(examined, say, title, lines);
  await complete(examined, isFatal);
  return isFatal;
};

/**
 * The embed doctor: finds out why a display of the checkout did not come about, and names what is missing as one would
 * paste it. Loaded when something is wrong, never otherwise. What it says is for the merchant: on the console, and in
 * the test environment on the page as well.
 */
const BASE = new URL('..', import.meta.url).href;
const ORIGIN = new URL(BASE).origin;
const PROBE_TIMEOUT_MS = 3000;

/** The directives that are asked when one is missing, from the most particular on. */
const FALLBACKS = {
  'script-src': ['script-src-elem', 'script-src', 'default-src'],
  'connect-src': ['connect-src', 'default-src'],
  'frame-src': ['frame-src', 'child-src', 'default-src'],
  'style-src': ['style-src-elem', 'style-src', 'default-src'],
};

/** What to do about a policy: the directive that has to change, or to be added, whole with what it lacks. */
const mended = (policy, name, lacks) => {
  const directives = new Map(policy.split(';').map((one) => one.trim().split(/\s+/)).map(([known, ...sources]) => [known.toLowerCase(), sources]));
  const found = (FALLBACKS[name] || [name]).find((one) => directives.has(one));
  const sources = (directives.get(found) || []).filter((one) => one !== "'none'" && !lacks.includes(one));
  const isThere = found && found !== 'default-src';
  return {
    why: "This page's Content-Security-Policy does not allow it. " + (isThere ? 'Its ' + found + ' should be:' : 'It should also say:'),
    line: [isThere ? found : name, ...sources, ...lacks].join(' '),
  };
};

/** What the page's own policy forbade: one line for each of its directives. */
const forbidden = (blocked) => {
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
    ...mended(originalPolicy, name, [...lacks]),
  }));
};

/** Whether the proxy answers. The loader does nothing when it is loaded twice, and needs no connect-src. */
const isAlive = async () => {
  const late = new Promise((done) => setTimeout(done, PROBE_TIMEOUT_MS));
  const answer = import(BASE + 'florin.js?' + performance.now()).catch(() => {});
  return Promise.race([late, answer]);
};

/** The files that a checkout is loaded from, and what each has to be. */
const FILES = [
  ['%FLORIN:host.js%', 'text/javascript'],
  ['%FLORIN:widget.js%', 'text/javascript'],
  ['%FLORIN:widget_bg.wasm%', 'application/wasm'],
  ['%FLORIN:florin.css%', 'text/css'],
  ['%FLORIN:theme.js%', 'text/javascript'],
];

/** Files that come otherwise than the proxy sends them: something between it and the browser changes them. */
const spoilt = async () => {
  const seen = FILES.map(async ([path, type]) => {
    const answer = await fetch(BASE + path, { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS), cache: 'no-store' });
    answer.body?.cancel();
    const is = answer.headers.get('content-type') || 'nothing';
    if (!answer.ok) return { why: 'A file of the checkout is missing; what stands in front of the proxy must hand this address on:', line: BASE + path + ' (answered ' + answer.status + ')' };
    if (!is.startsWith(type)) return { why: 'A file of the checkout comes as ' + is + '. What stands in front of the proxy must send ' + BASE + path + ' with:', line: 'Content-Type: ' + type };
  });
  return (await Promise.all(seen.map((one) => one.catch(() => {})))).filter(Boolean);
};

const DOORS = ['product', 'donation', 'order-token', 'client-token'];
/** What an attribute is like, and what it needs beside it. florin.js looks at all of them at once. */
const RULES = [
  ['product', /./, '', 'store'],
  ['quantity', /^[1-9]\d*$/, 'a whole number, 1 or more', 'product'],
  ['donation', /./, '', 'store'],
  ['amount', /^\d+(\.\d+)?$/, 'an amount like 5.00', 'donation'],
  ['display', /^(frame|inline|modal|redirect)$/, 'frame, inline, modal or redirect'],
  ['locale', /^[a-z]{2,8}(-\w{1,8})*$/i, 'a language tag like de-AT'],
  ['theme', /^(auto|light|dark|contrast|paper|midnight|sorbet)$/, 'auto, light, dark, contrast, paper, midnight or sorbet'],
];

/** All that is wrong with the attributes of an element. */
const mistakes = (element) => {
  const read = (name) => element.getAttribute(name);
  const named = DOORS.filter(read);
  const wrong = named.length === 1 ? [] : ['name exactly one of ' + DOORS.join(', ') + ' (named: ' + (named.join(', ') || 'none') + ')'];
  for (const [name, shape, rule, other] of RULES) {
    const value = read(name);
    if (!value) continue;
    if (!shape.test(value)) wrong.push(name + '="' + value + '" is not ' + rule);
    if (other && !read(other)) wrong.push(name + '="' + value + '" needs ' + other);
  }
  return wrong.length ? wrong : ['an attribute holds a line break'];
};

const findings = async ({ element, display, blocked, isRefused, isMute }) => {
  const store = element.getAttribute('store');
  if (isMute) return [{ why: 'The customer cannot copy: this page keeps the clipboard from the checkout. Its header should say:', line: 'Permissions-Policy: clipboard-write=(self "' + ORIGIN + '")' }];
  const alive = await isAlive();
  if (!alive) return forbidden(blocked);
  const isHere = display === 'page' || display === 'inline';
  let admitted = true;
  if (display === 'inline') {
    admitted = !isRefused && (await fetch(BASE + 'v1/checkout', { signal: AbortSignal.timeout?.(PROBE_TIMEOUT_MS) }).catch(() => {}));
    // The browser says only afterwards what it did not send.
    await new Promise((done) => setTimeout(done, 50));
  }
  const found = forbidden(blocked);
  const isFramed = !isHere && isRefused;
  if (!found.length && (isFramed || !admitted)) {
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
  return isHere ? found.concat(await spoilt()) : found;
};

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.fl-doctor{box-sizing:border-box;max-width:1270px;margin:0 auto 16px;padding:16px 20px;border:2px dashed #b7791f;border-radius:16px;background:#fffaf0;color:#2b2111;font:15px/1.5 system-ui,sans-serif;color-scheme:light}
.fl-doctor p{margin:8px 0}
.fl-doctor b{font-size:16px}
.fl-doctor code{display:block;margin:8px 0;padding:10px 12px;border-radius:8px;background:#2b2111;color:#fff;font:13px/1.5 ui-monospace,Consolas,monospace;overflow-wrap:anywhere;user-select:all}`);

const tell = ({ element, box, signal, make, IS_TEST }, title, said) => {
  const { shadowRoot } = element;
  // Whatever comes next has its own to say.
  if (signal.aborted) return;
  shadowRoot.querySelector('.fl-doctor')?.remove();
  if (!IS_TEST || !said.length) return;
  shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets.filter((one) => one !== STYLE), STYLE];
  const panel = make('section', { className: 'fl-doctor', part: 'doctor', role: 'status', ariaLabel: 'Embed doctor' });
  panel.append(make('b', {}, 'Embed doctor: ' + title), ...said);
  panel.append(make('p', {}, 'Only the test environment shows this. Customers see the next display that works, or a sentence and a link.'));
  // A dialog holds it; elsewhere it stands above the display, which may be made anew.
  if (box.closest('dialog')) box.prepend(panel);
  else shadowRoot.prepend(panel);
};

/** Says what it finds to the merchant; answers whether no further try of this display can help. */
export const examine = async (patient) => {
  const { make, element, display } = patient;
  if (patient.isWrong) {
    const wrong = mistakes(element);
    const message = '<florin-checkout>: ' + wrong.join('; ') + '.';
    console.error('florin: ' + message);
    tell(patient, 'the attributes of <florin-checkout> are not right', wrong.map((line) => make('code', {}, line)));
    return message;
  }
  const found = await findings(patient);
  for (const { why, line, hint } of found) console.error('florin: display="' + display + '" from ' + ORIGIN + '. ' + why + '\n\n    ' + line + '\n' + (hint ? '\n' + hint : ''));
  tell(patient, 'display="' + display + '" needs something', found.flatMap(({ why, line, hint }) => [make('p', {}, why), make('code', {}, line), hint ? make('p', {}, hint) : '']));
  return found.some((one) => one.isFatal);
};

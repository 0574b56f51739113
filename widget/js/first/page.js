/** The proxy's page, alone in its window or framed by a shop's: its parameters, and its messages. */
import { TOKENS } from '../attributes.js';
import { recall, remember } from '../storage.js';
import { applyTheme } from '../theme.js';
import { begin } from './begin.js';
/** @import { BegunPage, FirstScreen, Place, Read } from '../types.d.ts' */

/** Events of the element, each after `florin-`: the frame's element has them too. */
const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];
/** What is sold, and how: a frame in the tag shows what its element says. */
const SOLD = ['product', 'quantity', 'donation', 'amount', 'asset', 'theme'];
/** Where the token of a page is kept that came in its address; the page's name stays in the address. */
const PROVIDED = 'florin:given:';

/**
 * Reads what the address says, and sends the element's events to the page around this one. What is sold is named by the query,
 * which the proxy has read as well, or by the fragment, never by both. A token leaves the address wherever storage keeps it.
 *
 * @param {Omit<Place, 'box'>} place
 * @param {string} [posted] The order token that a form has sent.
 * @param {URLSearchParams} [fragment]
 * @returns {{ read: Read, send?: (type: string, detail?: unknown) => void }} `send`: sends a message to the page around this one.
 */
const openPage = ({ element, signal }, posted, fragment = new URLSearchParams(location.hash.slice(1))) => {
  if (posted) fragment.set('order_token', posted);
  const query = new URLSearchParams(location.search);
  const isNamed = query.get('product') || query.get('donation');
  const find = (/** @type {string} */ name) => query.get(name) || (isNamed && SOLD.includes(name) ? null : fragment.get(name));
  /** @type {Record<string, string | null>} */
  const provided = { 'client-token': fragment.get('client_token'), 'order-token': fragment.get('order_token') };
  const token = provided['client-token'] || provided['order-token'];
  const name = fragment.get('page') || String(Math.random());
  if (token) {
    if (remember(PROVIDED + name, token)) {
      fragment.delete('client_token');
      fragment.delete('order_token');
      fragment.set('page', name);
    }
    // After it, a reload is a GET, also of a page that a form has opened.
    history.replaceState(null, '', '#' + fragment);
  } else if (!find('product') && !find('donation')) {
    // Of the two, an order token alone has dots.
    const kept = recall(PROVIDED + name) || '';
    provided[kept.includes('.') ? 'order-token' : 'client-token'] = kept;
  }
  // Only the store's pages frame this one, but any site can link to it: its texts are not taken.
  if (parent === window) provided.words = null;
  document.documentElement.dataset.theme = find('theme') || '';
  /** @type {Read} */
  const read = (name) => (name in provided ? provided[name] : find(name.startsWith('-') ? name : name.replace('-', '_')));
  if (parent === window) return { read };
  /** That of the page around this one. Only the store's pages may be it. */
  let origin = '';
  const greeting = { florin: 1 };
  /** @type {Map<string, object>} The last message of each type, until it is known who receives it. */
  const unsent = new Map([['', greeting]]);
  const send = (/** @type {string} */ type, /** @type {unknown} */ detail) => {
    const message = { florin: 1, type, detail, width: innerWidth };
    if (origin) parent.postMessage(message, origin);
    else unsent.set(type, message);
  };
  addEventListener('message', ({ data, source, origin: from }) => {
    if (source !== parent || data?.florin !== 1) return;
    if (data.type === 'refresh') element.refresh?.();
    if (data.type !== 'hello') return;
    const params = new URLSearchParams(data.detail);
    if (SOLD.some((name) => (params.get(name) || '') !== (read(name) || ''))) return location.replace('?' + params);
    if (origin) return;
    origin = from;
    for (const message of unsent.values()) parent.postMessage(message, origin);
    const tokens = TOKENS.map((name) => [name, params.get('--florin-' + name)]);
    // A frame that stands in the tag has them from the element alone.
    if (tokens.some(([name, value]) => value !== read('--florin-' + name))) applyTheme(element, '--florin-', tokens);
  }, { signal });
  for (const type of EVENTS) element.addEventListener('florin-' + type, (event) => send(type, /** @type {CustomEvent} */ (event).detail), { signal });
  parent.postMessage(greeting, '*');
  return { read, send };
};

/**
 * Begins the checkout of the proxy's page.
 *
 * @param {Place} place
 * @param {string} base The proxy's address; ends in a slash.
 * @param {FirstScreen | null} [given] What the page came with.
 * @param {URLSearchParams} [fragment] In place of the address's.
 * @returns {BegunPage}
 */
export const beginPage = (place, base, given, fragment) => {
  const { read, send } = openPage(place, given?.order_token, fragment);
  return { ...begin(place, read, true, base, given), send };
};

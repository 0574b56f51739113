/** The proxy's page, alone in its window or framed by a shop's. */
import { TOKENS } from '../attributes.js';
import { recall, remember } from '../storage.js';
import { showCheckout } from './checkout.js';
import { loadTheme } from './files.js';
/** @import { Context, FoundLabels } from '../types.d.ts' */

/** Events of the element, each after `florin-`: the frame's element has them too. */
const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];
/** Where the token of a page is kept that came in its address; the page's name stays in the address. */
const PROVIDED = 'florin:given:';

/**
 * The frame's name in the customer's language; none for English, which the loader has.
 *
 * @param {Context} context
 */
const findTitle = async ({ load }) => {
  const { lang } = document.documentElement;
  if (lang === 'en') return '';
  /** @type {FoundLabels} */
  const { texts } = (await load('labels')).find(lang);
  return texts.checkout;
};

/**
 * Shows the checkout as the fragment says. A token leaves the address wherever storage keeps it.
 *
 * @param {Context} context
 */
export const showPage = (context, params = new URLSearchParams(location.hash.slice(1))) => {
  const { element, signal } = context;
  // A page that frames this one was let in as the store of its address: it sells for no other.
  const store = new URLSearchParams(location.search).get('store');
  if (store) params.set('store', store);
  const origin = params.get('origin');
  let { examine } = context;
  /** @type {Record<string, string | null>} */
  const provided = { 'client-token': params.get('client_token'), 'order-token': params.get('order_token') };
  const token = provided['client-token'] || provided['order-token'];
  const name = params.get('page') || String(Math.random());
  if (token && remember(PROVIDED + name, token)) {
    params.delete('client_token');
    params.delete('order_token');
    params.set('page', name);
    history.replaceState(null, '', '#' + params);
  } else if (!token && !params.get('product') && !params.get('donation')) {
    // Of the two, an order token alone has dots.
    const kept = recall(PROVIDED + name) || '';
    provided[kept.includes('.') ? 'order-token' : 'client-token'] = kept;
  }
  const isModal = params.get('display') === 'modal';
  // Only the store's pages frame this one, but any site can link to it: its texts are not taken.
  if (parent === window) params.delete('words');
  else if (origin) {
    const send = (/** @type {string} */ type, /** @type {unknown} */ detail) => parent.postMessage({ florin: 1, type, detail, width: innerWidth }, origin);
    // A key that is pressed in a frame does not reach the page around it.
    if (isModal) addEventListener('keydown', (event) => event.key === 'Escape' && !event.defaultPrevented && send('escape', null), { signal });
    // The page around this one has what is to be changed, and its console.
    examine = async (signs) => send('examine', signs);
    const { featurePolicy } = /** @type {any} */ (document);
    if (featurePolicy?.allowsFeature('clipboard-write') === false) examine({ isClipboardBlocked: true });
    // Read with the frame, and later than all that the customer waits for.
    element.addEventListener('florin-ready', () => findTitle(context).then((title) => title && send('title', title), () => {}), { signal });
    EVENTS.forEach((type) => element.addEventListener('florin-' + type, (event) => send(type, /** @type {CustomEvent} */ (event).detail), { signal }));
    addEventListener('message', ({ data, source, origin: from }) => {
      if (source === parent && from === origin && data?.florin === 1 && data.type === 'refresh') element.refresh();
    }, { signal });
  }
  addEventListener('hashchange', context.restart, { signal });
  loadTheme(context.load).then(({ applyTheme }) => applyTheme(element, '--florin-', TOKENS.map((name) => [name, params.get('--florin-' + name)])), () => {});
  document.documentElement.dataset.theme = params.get('theme') || '';
  return showCheckout({ ...context, examine }, (name) => (name in provided ? provided[name] : params.get(name.replace('-', '_'))), true);
};

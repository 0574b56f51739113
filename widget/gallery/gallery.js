/**
 * The state gallery, in the test environment alone: `/pay#gallery` lists every state of the checkout, and
 * `/pay#gallery=underpaid` shows one of them, full size. What is shown is the checkout itself; only the proxy's responses
 * are canned, in states.json. Loaded by host.js when the fragment asks for it, and never by a purchase.
 *
 * Beside `gallery` the fragment takes all that the checkout page's takes (`theme`, `locale`, `--florin-…`), and
 * `dir=rtl` to turn any language round, and `text` to put one text into every field that a shop or the payment service
 * writes.
 */
import { act, response } from './responses.js';
import { index } from './index.js';
import { answersOf } from './wallet.js';

const load = async (name) => (await fetch(new URL(name, import.meta.url))).json();
const STATES = load('states.json');

const ICON = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22%3E%3Crect width=%2224%22 height=%2224%22 rx=%226%22 fill=%22%23e2761b%22/%3E%3Cpath d=%22M6 9h12v7H6z%22 fill=%22%23fff%22/%3E%3C/svg%3E';

/**
 * Announces wallets of these names, as extensions do, by EIP-6963 or by TIP-6963. One of Tron has `tronWeb` once it is
 * unlocked.
 */
const announce = (standard, names, request, signal) => addEventListener(standard + ':requestProvider', () => names.forEach((name) => dispatchEvent(new CustomEvent(standard + ':announceProvider', {
  detail: {
    info: { uuid: name, rdns: name, name, icon: ICON },
    provider: { request, tronWeb: false },
  },
}))), { signal });

/** Shows what the fragment asks for; `page` is the checkout page as ever, and `languages` those that it speaks. */
export const start = async (context, page, languages) => {
  const table = await STATES;
  if (context.signal.aborted) return;
  const params = new URLSearchParams(location.hash.slice(1));
  const name = params.get('gallery');
  if (!name) return index(context, table, languages);
  const state = table.states.find((state) => state.name === name);
  if (!state) {
    addEventListener('hashchange', context.restart, { signal: context.signal });
    return context.show(context.make('p', {}, 'There is no state of that name. The gallery has: ' + table.states.map((state) => state.name).join(', ') + '.'));
  }
  response(table, state, params);
  const request = answersOf(state);
  announce('eip6963', state.wallets || [], request, context.signal);
  announce('TIP6963', state.wallets_of_tron || [], request, context.signal);
  act(context, state);
  // Each state has its own product or donation, so that no state finds the order of another.
  const store = table.order.store.id;
  params.set('store', store);
  params.set(state.source || 'product', name);
  // Of a state after the choice, or without a choice, the order is known.
  const isOffered = state.source || state.open || (!state.order?.status && !state.order?.flow && state.quotes !== 'never');
  if (!isOffered) sessionStorage.setItem('florin:' + JSON.stringify({ store, product: name }), 'gallery');
  page(context, params);
};

/** The order: found again, or opened from what the attributes name. */
import { recall, remember } from '../storage.js';
import { BASE } from './files.js';
/** @import { Opening, OrderBody, Read } from '../types.d.ts' */

const REQUEST_TIMEOUT_MS = 20000;
/** The order's source: exactly one is set. */
const SOURCES = ['product', 'donation', 'order-token', 'client-token'];

/**
 * The members of POST /v1/checkout that the attributes name.
 *
 * @param {Read} read
 */
const requestOf = (read) => {
  const token = read('order-token');
  /** @type {Record<string, string | number>} */
  const request = token ? { order_token: token } : {};
  if (token) return request;
  for (const name of ['store', 'product', 'quantity', 'donation', 'amount']) {
    const value = read(name);
    if (value) request[name] = name === 'quantity' ? +value : value;
  }
  return request;
};

/** A query for a GET request where a service worker may have kept its response: `cache` does not reach that one. */
export const uncached = () => (navigator.serviceWorker?.controller ? '?' + Date.now() : '');

/**
 * @param {string} path @param {string} method @param {Record<string, string>} [headers] @param {string} [body]
 * @returns {Promise<[Response, any]>}
 */
const call = async (path, method, headers, body) => {
  const response = await fetch(BASE + 'v1/checkout' + path, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
  const found = await response.json();
  // Any other response is of a server in between: the network. See widget/src/state/problem.rs.
  const isOurs = response.ok ? found.store || found.client_token || Array.isArray(found) || /^req_/.test(response.headers.get('x-request-id') || '') : typeof found.error?.code === 'string';
  if (!isOurs) throw new Error('a response of another server: ' + response.status);
  return [response, found];
};

/** @param {string} message @returns {Opening} */
const refuse = (message) => {
  console.error('florin: ' + message);
  return { body: { error: { code: 'not_found', message } } };
};

/**
 * The order with its prices, where an asset is to be chosen: those that came with it, or a request for them.
 *
 * @param {string} token @param {OrderBody} body @param {unknown} given @returns {Opening}
 */
const prefetch = (token, body, given) => {
  const prices = async () => {
    const [response, quotes] = await call('/quotes' + uncached(), 'GET', { authorization: 'Bearer ' + token });
    return response.ok && quotes;
  };
  return { token, body, quotes: body.status === 'open' && body.flow !== 'hosted' && (given || prices().catch(() => {})) };
};

/**
 * Returns what opens the order: the one whose token is known, else a new one. Without a token in the result, `body` is a
 * refusal, or with `asks` a donation that needs an amount. `mayExist`: an order may have been opened before.
 *
 * @param {Read} read
 */
export const opener = (read) => {
  const request = requestOf(read);
  const given = read('client-token');
  const store = read('store');
  /** A page that names its store shows no other store's order. */
  const known = (/** @type {string} */ token, /** @type {OrderBody} */ body, /** @type {unknown} */ quotes = undefined) => (!store || !body.store || body.store.id === store ? prefetch(token, body, quotes) : refuse('This order is not of the store ' + store + '.'));
  const key = 'florin:' + JSON.stringify(request);
  const named = SOURCES.filter(read);
  /** @type {(again: boolean, amount?: string) => Promise<Opening>} */
  const open = async (again, amount) => {
    if (named.length !== 1 || ((request.product || request.donation) && !request.store)) {
      return refuse('Name exactly one of ' + SOURCES.join(', ') + ', the first two with a store; named: ' + (named.join(', ') || 'none') + '.');
    }
    // No header takes other characters, and no token has them.
    if (given && !/^[!-~]+$/.test(given)) return refuse('client-token has characters that no token has.');
    if (again) remember(key);
    const token = given || recall(key);
    if (token) {
      const [response, body] = await call(uncached(), 'GET', { authorization: 'Bearer ' + token });
      if (response.ok) return known(token, body);
      if (given || response.status !== 404) return { body, status: response.status };
      remember(key);
    }
    if (request.donation && !request.amount && !amount) {
      const [response, body] = await call('/donation?' + new URLSearchParams({ store: String(request.store), donation: String(request.donation) }), 'GET');
      return { asks: response.ok, body, status: response.status };
    }
    const sent = JSON.stringify(amount ? { ...request, amount } : request);
    // Kept before it is sent: a lost response or a reload opens no second order.
    const slot = 'idempotency:' + sent;
    const id = recall(slot) || crypto.getRandomValues(new Uint8Array(16)).join('');
    remember(slot, id);
    const [response, body] = await call('', 'POST', { 'content-type': 'application/json', 'idempotency-key': id }, sent);
    if (response.ok) remember(key, body.client_token);
    // Done, or refused for good: the next call is another request.
    if (response.status < 409 || response.status === 422) remember(slot);
    return response.ok ? known(body.client_token, body.order, body.quotes) : { body, status: response.status };
  };
  return { open, mayExist: () => !!(given || request.order_token || recall(key)) };
};

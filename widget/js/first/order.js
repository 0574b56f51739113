/** The order: found again, or opened by a choice from what the attributes name. */
import { recall, remember } from '../storage.js';
/** @import { FirstScreen, Opening, OrderBody, Read } from '../types.d.ts' */

const REQUEST_TIMEOUT_MS = 20000;
/** The order's source: exactly one is set. */
const SOURCES = ['product', 'donation', 'order-token', 'client-token'];

/**
 * The members of POST /v1/checkout that the attributes name, without a choice.
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

/** @param {string} message @returns {Opening} */
const refuse = (message) => {
  console.error('florin: ' + message);
  return { body: { error: { code: 'not_found', message } } };
};

/**
 * Returns what finds the order whose token is known, or what is offered, of which a choice opens one. Without a token in the
 * result, `body` is a refusal, with `offers` an offer, or with `asks` a donation that needs an amount. `mayExist`: an order may
 * have been opened before.
 *
 * @param {Read} read
 * @param {string} base The proxy's address; ends in a slash.
 * @param {FirstScreen['offer']} [brought] What the page came with.
 */
export const opener = (read, base, brought) => {
  const request = requestOf(read);
  const given = read('client-token');
  const store = read('store');
  const source = JSON.stringify(request);
  const key = 'florin:' + source;
  /** What is sent to open the order, until it is decided: `{id, sent}`. One at a time, so that no two orders are opened. */
  const slot = 'idempotency:' + source;
  const named = SOURCES.filter(read);
  /** @type {string | undefined} What the customer of a donation gives. */
  let amount;
  /** @type {Promise<Opening> | undefined} */
  let choosing;
  /**
   * @param {string} path @param {string} method @param {Record<string, string>} [headers] @param {string | URLSearchParams} [body]
   * @returns {Promise<[Response, any]>}
   */
  const call = async (path, method, headers, body) => {
    const response = await fetch(base + 'v1/checkout' + path, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
    const found = await response.json();
    // Any other response is of a server in between: the network. See widget/src/state/problem.rs.
    const isOurs = response.ok ? found.store || found.client_token || Array.isArray(found) || /^req_/.test(response.headers.get('x-request-id') || '') : typeof found.error?.code === 'string';
    if (!isOurs) throw new Error('a response of another server: ' + response.status);
    return [response, found];
  };
  const bearer = (/** @type {string} */ token) => ({ authorization: 'Bearer ' + token });
  /**
   * The order with a request for its prices, where an asset is to be chosen.
   *
   * @param {string} token @param {OrderBody} body @returns {Opening}
   */
  const prefetch = (token, body) => {
    const prices = async () => {
      const [response, quotes] = await call('/quotes' + uncached(), 'GET', bearer(token));
      return response.ok && quotes;
    };
    return { token, body, at: Date.now(), quotes: body.status === 'open' && body.flow !== 'hosted' && prices().catch(() => {}) };
  };
  /** A page that names its store shows no other store's order. */
  const known = (/** @type {string} */ token, /** @type {OrderBody} */ body) => (!store || !body.store || body.store.id === store ? prefetch(token, body) : refuse('This order is not of the store ' + store + '.'));

  /** Opens the order. Kept before it is sent: a lost response or a reload opens no second one. @param {string} sent @param {string} [id] @returns {Promise<Opening>} */
  const post = async (sent, id = crypto.getRandomValues(new Uint8Array(16)).join('')) => {
    remember(slot, JSON.stringify({ id, sent }));
    const [response, body] = await call('', 'POST', { 'content-type': 'application/json', 'idempotency-key': id }, sent);
    if (response.ok) remember(key, body.client_token);
    // Done, or refused for good: the next call is another request.
    if (response.status < 409 || response.status === 422 || body.offer) remember(slot);
    return response.ok ? { ...known(body.client_token, body.order), refusal: body.refusal, qr_code: body.qr_code } : { body, status: response.status };
  };
  /** Sends again what was not decided. @returns {Promise<Opening | undefined>} Nothing, if it opened no order and never will. */
  const resume = async () => {
    const kept = recall(slot);
    if (!kept) return;
    const { id, sent } = JSON.parse(kept);
    const opening = await post(sent, id);
    if (opening.token || recall(slot)) return opening;
  };
  /** @param {boolean} again @param {string} [given_amount] @returns {Promise<Opening>} */
  const open = async (again, given_amount) => {
    const offer = brought;
    brought = undefined;
    if (named.length !== 1 || ((request.product || request.donation) && !request.store)) {
      return refuse('Name one of ' + SOURCES.join(', ') + ', the first two with a store.');
    }
    // No header takes other characters, and no token has them.
    if (given && !/^[!-~]+$/.test(given)) return refuse('client-token is no token.');
    if (again) remember(key);
    amount = given_amount || (again ? undefined : amount);
    const token = given || recall(key);
    if (token) {
      const [response, body] = await call(uncached(), 'GET', bearer(token));
      if (response.ok) return known(token, body);
      if (given || response.status !== 404) return { body, status: response.status };
      remember(key);
    }
    const resumed = await resume();
    if (resumed) return resumed;
    if (offer) return offer.order_exists ? post(source) : { offers: true, body: offer, quotes: offer.quotes };
    const members = new URLSearchParams(/** @type {any} */ (amount ? { ...request, amount } : request));
    // A token stands in no address.
    const [response, body] = await (request.order_token ? call('/offer', 'POST', undefined, members) : call('/offer?' + members, 'GET'));
    if (body.order_exists) return post(source);
    return { asks: response.ok && !!body.suggested, offers: response.ok, body, quotes: body.quotes, status: response.status };
  };
  /** @param {string} crypto_code @param {string} quote_id @returns {Promise<Opening>} */
  const choose = async (crypto_code, quote_id) => {
    // Another element of this page, or a frame of it, may have opened the order meanwhile.
    const resumed = (await resume()) || (recall(key) ? await open(false) : undefined);
    const choice = { crypto_code, quote_id };
    if (!resumed || resumed.offers) return post(JSON.stringify({ ...request, ...(amount && { amount }), ...choice }));
    const { token, body } = resumed;
    const isChosen = /** @type {any} */ (body).attempt?.crypto_code === crypto_code;
    if (!token || isChosen) return resumed;
    const [response, found] = await call('/attempt', 'POST', { ...bearer(token), 'content-type': 'application/json' }, JSON.stringify(choice));
    return response.ok ? known(token, found) : { ...resumed, refusal: found.error };
  };
  return {
    open,
    choose: (/** @type {string} */ code, /** @type {string} */ quote) => (choosing ||= choose(code, quote).finally(() => (choosing = undefined))),
    mayExist: () => !!(given || request.order_token || recall(key) || recall(slot)),
  };
};

/** The server of a shop, as it uses a Florin proxy. */

import { send } from './request.js';

export { FlorinError } from './error.js';
export { createOrderToken, verifyReceiptToken } from './tokens.js';
export { verifyWebhook } from './webhooks.js';

const TIMEOUT_MS = 30_000;
const EVENTS_PER_PAGE = 100;

export class Florin {
  #url;
  #secretKey;
  #timeoutMs;

  constructor({ url, secretKey, timeoutMs = TIMEOUT_MS }) {
    const { protocol } = new URL(url);
    if (!['http:', 'https:'].includes(protocol)) throw new TypeError(`${protocol} is not a protocol of the proxy: use https.`);
    if (!secretKey) throw new TypeError('secretKey is missing.');
    this.#url = String(url).replace(/\/+$/, '');
    this.#secretKey = secretKey;
    this.#timeoutMs = timeoutMs;
  }

  createOrder(order, options) {
    return this.request('POST', '/v1/orders', { ...options, body: order });
  }

  getOrder(id, options) {
    return this.request('GET', `/v1/orders/${encodeURIComponent(id)}`, options);
  }

  listOrders(query, options) {
    return this.request('GET', '/v1/orders', { ...options, query });
  }

  cancelOrder(id, options) {
    return this.request('POST', `/v1/orders/${encodeURIComponent(id)}/cancel`, options);
  }

  listEvents(query, options) {
    return this.request('GET', '/v1/events', { ...options, query });
  }

  async *events({ after, limit = EVENTS_PER_PAGE } = {}, options) {
    let cursor = after;
    for (;;) {
      const { events } = await this.listEvents({ after: cursor, limit }, options);
      yield* events;
      if (events.length < limit) return;
      cursor = events.at(-1).id;
    }
  }

  verifyReceipt(receipt, options) {
    return this.request('POST', '/v1/receipts/verify', { ...options, body: { receipt } });
  }

  createStaffLink(link, options) {
    return this.request('POST', '/v1/staff_links', { ...options, body: link ?? {} });
  }

  async request(method, path, { query = {}, body, idempotencyKey, timeoutMs = this.#timeoutMs } = {}) {
    const url = new URL(this.#url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, value);
    }
    return send(url, { method, secretKey: this.#secretKey, body, idempotencyKey, timeoutMs });
  }
}

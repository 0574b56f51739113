/** The server of a shop, as it uses a Florin proxy: orders, order tokens, events, webhooks, receipts and links for its staff. */

import type { components, operations } from './types.js';

type Schemas = components['schemas'];
type Query<Operation extends { parameters: { query?: unknown } }> = NonNullable<Operation['parameters']['query']>;

/** What the store wants paid. Amounts are texts, like `"19.90"`. */
export type NewOrder = Schemas['OpenOrder'];
/** An order. */
export type Order = Schemas['OrderRecord'];
/** An order, and how its customer gets to it. */
export type OpenedOrder = Schemas['OpenedOrder'];
export type OrderPage = Schemas['OrderPage'];
/** An event of an order or a donation, as webhooks and `listEvents` have it. Process each `id` once. */
export type Event = EventPage['events'][number];
export type EventPage = Schemas['EventPage'];
/** An operator tests the webhook: accept it, and do nothing. */
export type TestEvent = Schemas['WebhookTest'] & { id: string };
export type Receipt = Schemas['Receipt'];
export type VerifiedReceipt = Schemas['VerifiedReceipt'];
export type NewStaffLink = Schemas['OpenStaffLink'];
export type StaffLink = Schemas['StaffLink'];
export type ErrorCode = Schemas['Refusal']['error']['code'];

/** The claims of an order token that a shop chooses. */
export type OrderTokenClaims = Pick<NewOrder, 'reference' | 'amount' | 'currency' | 'title' | 'lines' | 'return_url' | 'cancel_url'>;

/** One of the store's `token_keys`. */
export interface TokenKey {
  /** The proxy's `public_url`. */
  publicUrl: string | URL;
  /** The store's `id`. */
  store: string;
  kid: string;
  secret: string;
}

/** The headers of `node:http`, of a `Request`, or any object of texts. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

export interface FlorinOptions {
  /** The address at which this server reaches the proxy: `https://pay.shop.example`. */
  url: string | URL;
  /** The store's `secret_key`. */
  secretKey: string;
  /** How long a call may take with all its retries, in milliseconds; 30,000 if it is absent. */
  timeoutMs?: number;
}

export interface CallOptions {
  /** How long this call may take with all its retries, in milliseconds. */
  timeoutMs?: number;
}

export interface PostOptions extends CallOptions {
  /** A key that you stored before the call, so that you can repeat it after a crash. One is drawn if it is absent. */
  idempotencyKey?: string;
}

/**
 * A client of one store. It keeps no connection and no state; its secret key is in no property, so that no log prints it.
 *
 * Calls fail with a `FlorinError`. They are sent again after 429 and 503, not before `Retry-After`, and after a lost
 * connection, with the same idempotency key, as long as `timeoutMs` permits.
 */
export class Florin {
  constructor(options: FlorinOptions);

  /** Opens an order. The same `reference` at the same price is the same order. */
  createOrder(order: NewOrder, options?: PostOptions): Promise<OpenedOrder>;
  getOrder(id: string, options?: CallOptions): Promise<Order>;
  /** Returns a page of orders, newest first. */
  listOrders(query?: Query<operations['list_orders']>, options?: CallOptions): Promise<OrderPage>;
  /** Cancels an order, while no payment was seen for it. */
  cancelOrder(id: string, options?: PostOptions): Promise<Order>;

  /** Returns a page of events, in order. */
  listEvents(query?: Query<operations['list_events']>, options?: CallOptions): Promise<EventPage>;
  /**
   * Returns all events after the one with the id `after`, up to the present. Store the last `id` as the next `after`.
   * `limit` is the size of a page; 100 if it is absent.
   */
  events(query?: Query<operations['list_events']>, options?: CallOptions): AsyncGenerator<Event, void, undefined>;

  /** Asks the proxy whether a receipt, a token or a printed code, is genuine, and for its order as it stands. */
  verifyReceipt(receipt: string, options?: CallOptions): Promise<VerifiedReceipt>;
  /** Makes a link to the store's orders for a member of the staff. Redirect the person to its `url` at once. */
  createStaffLink(link?: NewStaffLink, options?: PostOptions): Promise<StaffLink>;

  /** Sends any other request of the proxy's HTTP interface, with the same retries. */
  request(
    method: 'GET' | 'POST',
    path: string,
    options?: PostOptions & { query?: Record<string, string | number | undefined>; body?: unknown },
  ): Promise<unknown>;
}

/** Signs a price, without a call to the proxy. The token lives an hour, or `expiresInSeconds`, at most a day. */
export function createOrderToken(order: OrderTokenClaims, key: TokenKey, options?: { expiresInSeconds?: number }): string;

/**
 * Returns the event of a delivery, with its `id`.
 *
 * @param body The bytes of the request, before any of it was parsed.
 * @param webhookSecret The webhook's `secret`: `whsec_…`.
 * @throws A `FlorinError` with the code `invalid_webhook`: the delivery is not signed by the proxy, or older than five minutes.
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, webhookSecret: string): Event | TestEvent;

/**
 * Returns the receipt of a token, without a call to the proxy. What happened after it was issued, like a refund, is not in it.
 *
 * @param webhookSecret The `secret` of the store's first webhook.
 * @throws A `FlorinError` with the code `invalid_receipt`: the token is not signed by this secret.
 */
export function verifyReceiptToken(token: string, webhookSecret: string): Receipt;

/** The one type of error: a refusal of the proxy, or a call, webhook or receipt that failed here. */
export class FlorinError extends Error {
  /** A code of the proxy, or what failed here. */
  readonly code: ErrorCode | 'connection_failed' | 'timeout' | 'invalid_response' | 'invalid_webhook' | 'invalid_receipt';
  /** The member or parameter at fault: `lines[1].title`. */
  readonly field?: string;
  /** What to quote when asking for help; the proxy's log has it. */
  readonly requestId?: string;
  /** The HTTP status. */
  readonly status?: number;
  /** Seconds until the call may be repeated. */
  readonly retryAfter?: number;
}

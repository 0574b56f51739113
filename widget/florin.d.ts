/** The types of <florin-checkout>, for shops that check theirs. `/// <reference path="florin.d.ts" />` or an import. */

/** One of the proxy's statuses of an order. */
export type FlorinStatus =
  | 'open'
  | 'awaiting_payment'
  | 'checking'
  | 'processing'
  | 'paid'
  | 'overpaid'
  | 'underpaid'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'blocked';

/**
 * What the element tells its page, by event. A hint for the page alone: the proof of a payment is the signed webhook,
 * or GET /v1/orders/{id}.
 */
export interface FlorinEventMap {
  /** The checkout's program runs. */
  'florin-ready': CustomEvent<null>;
  /** Its height changed, in CSS pixels. */
  'florin-resize': CustomEvent<{ height: number }>;
  /** The order is shown for the first time, or in another status. */
  'florin-status': CustomEvent<{ order_id: string; status: FlorinStatus }>;
  /** The status has become `paid` or `overpaid`. */
  'florin-paid': CustomEvent<{ order_id: string }>;
  /** The customer leaves a paid order by its link back to the shop. */
  'florin-close': CustomEvent<null>;
  /** A wish was refused or could not be carried out; `code` is one of the proxy's, `network`, `load_failed` or `frame_timeout`. */
  'florin-error': CustomEvent<{ code: string; message: string }>;
}

/** The attributes. Of `product`, `donation`, `order-token` and `client-token` exactly one is named. */
export interface FlorinCheckoutAttributes {
  store?: string;
  product?: string;
  quantity?: string;
  donation?: string;
  /** What is given, like `"5.00"`; without it the checkout asks. */
  amount?: string;
  'order-token'?: string;
  'client-token'?: string;
  display?: 'frame' | 'inline' | 'redirect';
  /** BCP 47. */
  locale?: string;
  theme?: 'light' | 'dark';
  /** A `crypto_code` that is chosen at once when it is offered. */
  asset?: string;
}

export interface FlorinCheckoutElement extends HTMLElement {
  /** Asks for the order's state at once. */
  refresh(): void;
  addEventListener<Type extends keyof FlorinEventMap>(
    type: Type,
    listener: (this: FlorinCheckoutElement, event: FlorinEventMap[Type]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<Type extends keyof HTMLElementEventMap>(
    type: Type,
    listener: (this: FlorinCheckoutElement, event: HTMLElementEventMap[Type]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'florin-checkout': FlorinCheckoutElement;
  }
  /** The events bubble, and cross shadow roots. */
  interface DocumentEventMap extends FlorinEventMap {}
}

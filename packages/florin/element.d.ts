/**
 * The types of `<florin-checkout>`: its attributes, events and methods.
 *
 * A proxy serves this file as `/florin.d.ts`; the npm package has it as part of itself. Either makes
 * `document.querySelector('florin-checkout')` and `addEventListener('florin-paid', …)` known to TypeScript.
 */

/**
 * One of the proxy's statuses of an order. `paid` and `overpaid` are final; money that arrives late leads back from every
 * other one.
 */
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
 * How the checkout is shown.
 *
 * - `frame`, the default: in a frame of the proxy's own origin, out of reach of the page's scripts.
 * - `inline`: in the element's shadow root, with the page's trust; its `script-src` needs `'wasm-unsafe-eval'`.
 * - `modal`: a button that opens a dialog with that frame. What stands in the element is the button's words.
 * - `redirect`: a link that gives the whole window to the checkout's own page. Its words are the element's, too.
 */
export type FlorinDisplay = 'frame' | 'inline' | 'modal' | 'redirect';

/** How it looks. Without one, and by `auto`: what the store's configuration says, then what the customer's system likes. */
export type FlorinTheme = 'auto' | 'light' | 'dark' | 'contrast' | 'paper' | 'midnight' | 'sorbet';

/** A custom property that dresses it, set on the element or above it: docs/guide/themes.md says what each is. */
export type FlorinToken = `--florin-${
  | 'accent'
  | 'on-accent'
  | 'background'
  | 'surface'
  | 'text'
  | 'text-muted'
  | 'border'
  | 'warning'
  | 'danger'
  | 'radius'
  | 'font'
  | 'density'
  | 'min-height'}`;

/**
 * The events of the element for its page. The events bubble and leave shadow roots; none holds a token or an address.
 *
 * Each is a hint for the page alone, which any script at the browser can dispatch: the proof of a payment is the signed
 * webhook, or GET /v1/orders/{id}.
 */
export interface FlorinEventMap {
  /** The checkout's program runs. */
  'florin-ready': CustomEvent<null>;
  /** Its height changed, in CSS pixels. The frame has followed already. */
  'florin-resize': CustomEvent<{ height: number }>;
  /** The order is shown for the first time, or in another status. */
  'florin-status': CustomEvent<{ order_id: string; status: FlorinStatus }>;
  /** The status has become `paid` or `overpaid`; also when a paid order is opened again. */
  'florin-paid': CustomEvent<{ order_id: string }>;
  /** The dialog was closed, or the customer leaves an order that has ended by its link back to the shop. */
  'florin-close': CustomEvent<null>;
  /**
   * A request was rejected or could not be carried out. `code` is one of the proxy's (docs/reference/http.md), `network`,
   * `load_failed`, `frame_timeout` or `invalid_attributes`; `message` is for the developer, in English.
   */
  'florin-error': CustomEvent<{ code: string; message: string }>;
}

/** One product of the store's catalogue. */
export interface FlorinProductSource {
  /** The store's id in the proxy's configuration. */
  store: string;
  /** The product's `sku` in the proxy's configuration; its price stands there. */
  product: string;
  /** How many. One when it is missing. */
  quantity?: number | `${number}`;
}

/** A donation that the store declared. */
export interface FlorinDonationSource {
  /** The store's id in the proxy's configuration. */
  store: string;
  /** The donation's id in the store's configuration. */
  donation: string;
  /** What is given, as a decimal like `"5.00"`. Without it the checkout asks; the bounds are the proxy's either way. */
  amount?: string;
}

/** An order that the store's server signed. */
export interface FlorinOrderTokenSource {
  /** Whose pages may show it. May be left out as long as the proxy has one store. */
  store?: string;
  /** The signed order: a JWT of at most 8192 characters. */
  'order-token': string;
}

/** An order that the store's server opened by POST /v1/orders. */
export interface FlorinClientTokenSource {
  /** Whose pages may show it. May be left out as long as the proxy has one store. */
  store?: string;
  /** The `client_token` that the proxy answered. */
  'client-token': string;
}

type Sources = FlorinProductSource & FlorinDonationSource & FlorinOrderTokenSource & FlorinClientTokenSource;
/** This source, and of the others what it has in common with them. */
type Only<Source> = Source & { [Name in Exclude<keyof Sources, keyof Source>]?: never };

/** What is to be paid: exactly one of the four. */
export type FlorinSource = Only<FlorinProductSource> | Only<FlorinDonationSource> | Only<FlorinOrderTokenSource> | Only<FlorinClientTokenSource>;

/** How it is shown. A changed attribute starts the element anew. */
export interface FlorinSettings {
  /** In what it is shown. `frame` when it is missing. */
  display?: FlorinDisplay;
  /** BCP 47, like `"ar-EG"`. Without one: the page's `<html lang>`, then the browser's languages, then English. */
  locale?: string;
  /**
   * The shop's own words for some of the texts, as JSON by language: `{"de": {"paid": "…"}}`. Keys and gaps are those of the
   * English file. They hold in a frame and inline.
   */
  words?: string;
  /** How it looks: a theme by its name. Tokens set on the element win over it. */
  theme?: FlorinTheme;
  /**
   * A `crypto_code` that is chosen at once when it is offered. One that lives on several networks, like USDT, is confirmed by
   * the customer first.
   */
  asset?: string;
}

/** All attributes of the element. */
export type FlorinCheckoutAttributes = FlorinSource & FlorinSettings;

/** The element. Its attributes are set as those of any other; it has its methods once florin.js has run. */
export interface FlorinCheckoutElement extends HTMLElement {
  /** With `modal`, opens the dialog; with `redirect`, goes to the checkout's page. */
  open(): void;
  /** With `modal`, closes the dialog. The order stays open, and is shown again when it is opened again. */
  close(): void;
  /** Asks for the order's state at once. */
  refresh(): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'florin-checkout': FlorinCheckoutElement;
  }
  /** For the listeners of every element, of the document and of the window. */
  interface GlobalEventHandlersEventMap extends FlorinEventMap {}
}

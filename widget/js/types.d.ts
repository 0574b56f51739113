/** Types that several modules share. Nothing of this file is shipped. */

import type { loader, diagnostics } from '../locales/en.json';

/** The order's source and its looks: `frame` and `modal` frame `page`; `inline` and `page` show the screens themselves. */
export type Display = 'frame' | 'inline' | 'modal' | 'redirect' | 'page';

/** Imports a module of the proxy, by the name of one that the loader knows or by its path; `timeout` is in milliseconds. */
export type Load = (path: string, timeout?: number, isAgain?: boolean) => Promise<any>;
/** Texts of loader and dialog. */
export type Labels = typeof loader;
/** What labels.js found: texts, and the module with the merchant's texts. English is in the scripts themselves. */
export interface FoundLabels {
  texts: Partial<Labels>;
  /** BCP 47; none for English. */
  locale?: string;
  diagnostics?: string;
}
/** Texts for the merchant. */
export type DiagnosticTexts = typeof diagnostics;
/** Texts of the screens, by key: a text, or one for each plural form. */
export type Words = Record<string, string | Record<string, string>>;

/** What is known of a display that does not work. */
export interface Signs {
  /** The attributes are not valid. */
  isInvalid?: boolean;
  /** The element has content that may be the rest of the page. */
  isUnclosed?: boolean;
  /** The proxy did not let this page in. */
  isRejected?: boolean;
  /** The page keeps the clipboard from the frame. */
  isClipboardBlocked?: boolean;
  /** A sandbox keeps a link from the whole window. */
  isSandboxed?: boolean;
  /** Why the proxy refused to open the order, in English; the test environment alone says it. */
  reason?: string;
}

/** What is known of a display that is tried again. */
export interface Retry {
  /** Seconds until the next attempt. */
  seconds?: number;
  /** Says that there is no checkout; begins with that text. */
  notice?: HTMLElement;
  /** Tries again at once. */
  button?: HTMLElement;
  /** To the checkout's own page; none on that page. */
  link?: HTMLElement | '';
  /** Texts and locale of the screens, as far as they came. */
  texts?: Partial<Labels>;
  locale?: string;
}

/** A display that does not work, as diagnostics.js examines it. */
export interface Case extends Signs, Retry {
  element: HTMLElement;
  /** Where the display is: the element's own box, or the dialog's. */
  box: HTMLElement;
  display: Display;
  /** Ends with the attempt. */
  signal: AbortSignal;
  isTest: boolean;
  load: Load;
  labels: Promise<FoundLabels>;
  /** What the page's policy has forbidden since the element was there. */
  blocked: SecurityPolicyViolationEvent[];
}

/** Where a checkout is shown. */
export interface Place {
  element: PageElement;
  box: HTMLElement;
  /** Ends when the element is removed or its attributes change. */
  signal: AbortSignal;
}

/** What florin.js hands to host.js for one checkout. */
export interface Context extends Place {
  load: Load;
  restart(): void;
  /** Takes what asks for the order at once; the display works from here on. */
  onRefresh(refresh: () => void): void;
  /** The display cannot be shown. `labels`: those of the screens, as far as they came. */
  fail(error: unknown, labels?: Pick<Retry, 'texts' | 'locale'>): void;
  /** Examines what the proxy rejected or a frame forbids; shows the next display when this one cannot work. */
  examine(signs: Signs): Promise<void>;
}

/** The element of the proxy's page, until host.js takes what its script has begun. */
export interface PageElement extends HTMLElement {
  /** Of the element that florin.js defines. */
  refresh?(): void;
  begun?: BegunPage & { end(): void };
}

/** A checkout until its program runs: first/begin.js. */
export interface Begun extends Pick<Place, 'box'> {
  container: HTMLElement;
  menu: HTMLSelectElement;
  read: Read;
  /** The tag of the language file, and the one by which numbers and times are written. */
  file: string;
  locale: string;
  /** Takes the texts where the page did not come with those of the list. */
  giveWords?: (words: Promise<Words>) => void;
  emit(name: string, detail?: unknown): void;
  /** The order or the offer. */
  first: Promise<Opening>;
  /** `first`, once its prices are there. */
  opened: Promise<void>;
  /** Resolves with the first choice of an asset. */
  pressed: Promise<void>;
  /** The list, once it was shown. */
  list(): ReturnType<typeof import('./first/early_choice.js').createEarlyChoice>;
  /** Ends it; absent where it ends with its signal. */
  end?(): void;
  /** Takes what draws the first screen of a payment. */
  giveParts: (parts: Promise<PaymentParts>) => void;
  /** What has drawn that screen before the program. */
  instructions(): ReturnType<typeof import('./instructions.js').createInstructions> | undefined;
  /** Shows the screens in place of what was shown. */
  handOver(words: Words): void;
  /** What the program gets: widget/src/host.rs. */
  host: {
    base: string;
    locale: string;
    menu: HTMLElement;
    asset: string;
    heading: string;
    remember(code: string): void;
    wallets: AnnouncedWallet[];
    /** Draws the list of assets for what was found last. */
    list(words: Words, quotes: Quote[]): HTMLElement;
    uncached(): string;
    may_exist(): boolean;
    take_opening(): Opening | undefined;
    open(again: boolean, amount: string): Promise<Opening>;
    choose(code: string, quote: string): Promise<Opening>;
    about(words: Words): HTMLElement;
    early_payment(due: string): HTMLElement | undefined;
  };
}

/** What draws the screens after the choice: their script, style and texts. */
export type PaymentParts = [typeof import('./payment.js'), CSSStyleSheet, Words];

/** Of the proxy's page. `send`: sends a message to the page around this one. */
export interface BegunPage extends Begun {
  send?: (type: string, detail?: unknown) => void;
}

/** What the proxy's page comes with: proxy/src/http/first_page.rs. */
export interface FirstScreen {
  /** The tag of the language file that has `words`, those of the list. */
  language: string;
  words: Words;
  /** The page's store, where there is no offer, and where its customers go back to. */
  store?: Store;
  return_url?: string | null;
  offer?: Offer & OrderBody;
  /** The token that a form has sent. */
  order_token?: string;
}

/** Reads an attribute, or a parameter of the page's address, by the attribute's name. */
export type Read = (name: string) => string | null | undefined;

/** An order as the proxy sends it, as far as the scripts read it. */
export interface OrderBody {
  status?: string;
  flow?: string;
  store?: Store;
  error?: { code: string; message: string; reason?: string };
  [member: string]: unknown;
}

export interface Store {
  id: string;
  theme?: string;
  theme_tokens?: Record<string, string>;
}

/** A price of an order: `Quote` of crates/checkout-api/src/attempt_view.rs. */
export interface Quote {
  crypto_code: string;
  asset: string;
  asset_name: string;
  network: string;
  amount_in_crypto?: string;
  amount_in_usd?: string;
  available: boolean;
  reason?: string;
  limit_in_order_currency?: string;
  name: string;
  detail: string;
  amount_shown?: string;
  limit_shown?: string;
  takes_seconds?: number;
  fee_in_order_currency?: string;
  /** Keys of texts: in what it is the best. */
  marks?: string[];
  glyph?: string;
  badge?: string;
  wallet?: 'evm' | 'tron';
  confirms_network?: boolean;
  is_folded?: boolean;
  quote_id: string;
}

/** What the list of assets calls of the program: widget/src/screens/pick_asset.rs. */
export interface ListCalls {
  /** Opens an attempt: a `crypto_code`, a space, and the id of its quote. */
  choose(choice: string): void;
  /** Takes a text for screen readers. */
  announce(text: string): void;
  /** Ends the report of an earlier press. */
  forget(nothing: ''): void;
  /** Goes back to the payment. */
  leave(nothing: ''): void;
  /** Requests the quotes anew. */
  reload(nothing: ''): void;
}

/** The list of assets in its place on the screen. */
export interface ShownList {
  /**
   * Shows these quotes. `json`: empty while they are awaited. `isUnpriced`: a banner says that the order's currency cannot be paid.
   * `isBusy`: a request is under way.
   */
  show(json: string, isUnpriced: boolean, isBusy: boolean): void;
}

/** A wallet of this browser, as it has announced itself. `icon`: a picture as a data URL; empty for none. */
export interface AnnouncedWallet {
  name: string;
  icon: string;
  kind: string;
}

/** What is offered, or an order whose asset is to be chosen: `Offer` of crates/checkout-api/src/offer.rs, as far as the list shows it. */
export interface Offer {
  environment: string;
  store: { name: string; logo_url?: string; support_url?: string };
  title: string;
  lines?: { title: string; quantity: number; amount?: string; image_url?: string }[];
  amount: string;
  currency: string;
  quotes?: Quote[];
}

/** A wallet's interface; of Tron, what takes its place. Source: EIP-1193. */
export interface Provider {
  request(request: { method: string; params?: unknown }): Promise<unknown>;
}

/** A wallet of this browser. */
export interface Wallet {
  key: string;
  name: string;
  /** A `data:` address, or empty. */
  icon: string;
  provider: Provider;
  /** Pays on Tron, not on Ethereum's chains. */
  isOnTron: boolean;
}

/** A QR code in units of its modules: `QrCode` of crates/checkout-api/src/qr_code.rs. */
export interface QrCode {
  side: string | number;
  /** SVG path data. */
  path: string;
}

/** A button that copies. */
export interface CopyButton {
  /** Its test's name too. */
  id: string;
  /** Where the value is shown, as a selector. */
  place: string;
  value: string;
  /** What the button says; an icon without it. */
  face?: string;
  /** The same with its context, for a screen reader. */
  label?: string;
}

/** What is to be sent: widget/src/screens/instructions/payment.rs. */
export interface Payment {
  /** What is due, in the asset. */
  amount: string;
  /** Not empty once a part has arrived. */
  isRest: string;
  address: string;
  /** What the QR code holds. */
  uri: string;
  asset: string;
  network: string;
  /** What is due, in `currency`. */
  price?: string;
  currency: string;
  /** What one unit of the asset costs, in `rateCurrency`. */
  rate?: string;
  rateCurrency: string;
  /** The store's name. */
  store: string;
  /** Not empty if the proxy has checked the address. */
  isVerified: string;
  warnings: { kind: string, text: string }[];
  /** Of `uri`; absent where no code holds it. */
  qr?: QrCode;
  /** Of `address`; absent before the program runs, and where no code holds it. */
  bareQr?: QrCode;
}

/** What a wallet is asked to pay: `WalletTransaction` of crates/checkout-api/src/attempt_view.rs, and what the page shows of it. */
export interface WalletPayment extends Payment {
  order: string;
  /** The gateway's code of the asset. */
  code: string;
  /** Not empty in the test environment. */
  isTest: string;
  /** Empty, as the next three, where the asset is on another kind of chain. */
  chainId: string;
  to: string;
  value: string;
  data: string;
  /** The transaction that the proxy keeps as the customer's hint; empty for none. */
  hint: string;
  /** Takes a transaction for the proxy: its hash, a space, and the address of the attempt that it pays. */
  sent(transaction: string): void;
  /** The address of this order's page, which gives access to it. */
  page: string;
  /** The screen's title once a wallet has sent it. */
  sentTitle: string;
  /** Takes a text for screen readers. */
  announce(text: string): void;
}

/** What opening an order brought; see `HostResponse` in widget/src/host.rs. */
export interface Opening {
  token?: string;
  body: OrderBody;
  /** When the order's state was read, by this browser's clock. */
  at?: number;
  /** The prices, or a promise of them, where an asset is to be chosen. */
  quotes?: unknown;
  asks?: boolean;
  /** `body` is an offer. */
  offers?: boolean;
  /** Why the order has no attempt: an `error` of the proxy. */
  refusal?: unknown;
  /** Of the attempt's payment, where the choice opened it. */
  qr_code?: QrCode;
  /** Of a refusal. */
  status?: number;
}

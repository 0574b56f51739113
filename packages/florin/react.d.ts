/** `<florin-checkout>` as a component of React 18 and 19, and as an element in JSX. */

import type { CSSProperties, ForwardRefExoticComponent, HTMLAttributes, ReactNode, RefAttributes } from 'react';
import type {
  FlorinCheckoutAttributes,
  FlorinCheckoutElement,
  FlorinClientTokenSource,
  FlorinDonationSource,
  FlorinEventMap,
  FlorinOrderTokenSource,
  FlorinProductSource,
  FlorinSettings,
  FlorinToken,
} from './element.js';

export type * from './element.js';

/** Styles of the element, its own properties (`--florin-accent`) among them. */
export type FlorinStyle = CSSProperties & { [Token in FlorinToken]?: string | number };

/** What the component takes beside the attributes: the address of florin.js, its texts, and the handlers of its events. */
export interface FlorinComponentProps {
  /**
   * The address of your proxy's script: `https://pay.shop.example/florin.js`. It is loaded when the component is mounted,
   * and tried again for as long as it cannot be. A product or donation in a `frame`, without `words` and `asset`, is rendered with
   * its frame, in place of the children. May be left out when the page has a `<script>` for it; then no frame is rendered.
   */
  src?: string;
  /** The nonce of the page's Content-Security-Policy, for the script. */
  nonce?: string;
  /** What the script must be, like `"sha384-…"`. */
  integrity?: string;
  /** The shop's own words for some of the texts, by language and key: `{ en: { thanks: 'Thank you!' } }`. */
  words?: Record<string, Record<string, string>>;
  style?: FlorinStyle;
  /** Shown in place of the children while the script cannot be loaded; a frame stays. A sentence in English when it is missing. */
  failure?: ReactNode;
  /** The checkout's program runs. */
  onReady?: (event: FlorinEventMap['florin-ready']) => void;
  /** Its height changed, in CSS pixels: `event.detail.height`. */
  onResize?: (event: FlorinEventMap['florin-resize']) => void;
  /** The order is shown for the first time, or in another status: `event.detail.status`. */
  onStatus?: (event: FlorinEventMap['florin-status']) => void;
  /** The order is paid, as far as this browser knows. Ship when the signed webhook has arrived, not here. */
  onPaid?: (event: FlorinEventMap['florin-paid']) => void;
  /** The dialog was closed, or the customer leaves an order that has ended by its link back to the shop. */
  onClose?: (event: FlorinEventMap['florin-close']) => void;
  /** A request was rejected or could not be carried out: `event.detail.code`. Also when the script cannot be loaded. */
  onError?: (event: FlorinEventMap['florin-error']) => void;
}

type Tokens = { orderToken: string; clientToken: string };
type Sources = FlorinProductSource & FlorinDonationSource & Tokens;
type Only<Source> = Source & { [Name in Exclude<keyof Sources, keyof Source>]?: never };

/** What is to be paid: exactly one of the four sources. */
export type FlorinSourceProps =
  | Only<FlorinProductSource>
  | Only<FlorinDonationSource>
  | Only<{ store?: string; orderToken: FlorinOrderTokenSource['order-token'] }>
  | Only<{ store?: string; clientToken: FlorinClientTokenSource['client-token'] }>;

type Own = keyof FlorinComponentProps | keyof FlorinSettings | keyof Sources;

/** The element's attributes in React's spelling, its events as handlers, and whatever every element has. */
export type FlorinCheckoutProps = FlorinSourceProps &
  Omit<FlorinSettings, keyof FlorinComponentProps> &
  FlorinComponentProps &
  Omit<HTMLAttributes<FlorinCheckoutElement>, Own>;

/** The component. Its `ref` is the element, which has its methods once florin.js has run. */
export const FlorinCheckout: ForwardRefExoticComponent<FlorinCheckoutProps & RefAttributes<FlorinCheckoutElement>>;

/** The element's events as React 19 listens for them. */
type Listeners = { [Type in keyof FlorinEventMap as `on${Type}`]?: (event: FlorinEventMap[Type]) => void };
type Common = Omit<HTMLAttributes<FlorinCheckoutElement>, Own | keyof FlorinCheckoutAttributes> & { style?: FlorinStyle; class?: string };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'florin-checkout': FlorinCheckoutAttributes & Listeners & Common & RefAttributes<FlorinCheckoutElement>;
    }
  }
}

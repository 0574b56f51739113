/** Loads `<florin-checkout>` from a proxy, where there is a page to load it into. */

import type { FlorinCheckoutElement } from './element.js';

export type * from './element.js';

/** How the script is loaded. */
export interface FlorinLoadOptions {
  /** The nonce of the page's Content-Security-Policy, for a `script-src` that asks for one. */
  nonce?: string;
  /**
   * What the script must be, like `"sha384-…"`. It changes with each version of the proxy: pin it only if you update
   * both at once.
   */
  integrity?: string;
  /** How long to wait for the script, in milliseconds. 15,000 when it is missing. */
  timeoutMs?: number;
}

/**
 * Loads florin.js and answers the class of the element; on a server, `null`, and nothing happens.
 *
 * The script is put into the page once, however often it is asked for; what a page's own `<script>` has defined already
 * is answered as it is. After a failure, the next call tries again.
 *
 * @param url The address of the script: `https://pay.shop.example/florin.js`. A page has its checkouts from one proxy.
 * @throws An `Error` that says what to look at: the address is none or another proxy's, or the script did not arrive in
 *   time, was refused, or defines no element.
 */
export function loadFlorin(url: string | URL, options?: FlorinLoadOptions): Promise<(new () => FlorinCheckoutElement) | null>;

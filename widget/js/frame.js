/** The checkout's page of the proxy, and the frame that shows it. */
import { BASE, ORIGIN } from './assets.js';
import { ATTRIBUTES, TOKENS, read } from './attributes.js';
import { make } from './dom.js';

/** The language that the page asks for, BCP 47; empty for none. @param {HTMLElement} element */
export const localeOf = (element) => read(element, 'locale') || document.documentElement.lang;

/**
 * The address of the checkout's page; its fragment has what is bought and how it looks.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
export const pageAddress = (element, display) => {
  // That of `self`: `location` has none in a frame with `srcdoc`.
  const params = new URLSearchParams({ origin, locale: localeOf(element) });
  for (const name of ATTRIBUTES) {
    const value = read(element, name);
    if (value) params.set(name.replace('-', '_'), value);
  }
  const style = getComputedStyle(element);
  for (const token of TOKENS) {
    const name = '--florin-' + token;
    const value = style.getPropertyValue(name).trim();
    if (value) params.set(name, value);
  }
  params.set('display', display);
  return BASE + 'pay?store=' + encodeURIComponent(read(element, 'store')) + '#' + params;
};

/**
 * Makes the frame of the page. Messages between the two are `{florin: 1, type, detail}`, to and from one exact origin
 * each, and never carry a token or an address. Those of the page have the frame's `width` in its CSS pixels.
 *
 * @param {HTMLElement} element
 * @param {string} display
 * @param {string} title
 * @param {AbortSignal} signal Ends the messages.
 * @param {(message: { type?: string, detail: any, width: number }) => void} onMessage
 */
export const createFrame = (element, display, title, signal, onMessage) => {
  const frame = make('iframe', {
    className: 'fl-frame',
    src: pageAddress(element, display),
    title,
    allow: 'clipboard-write',
    referrerPolicy: 'strict-origin',
  });
  // Forms belong to the gateway's own page, in a frame of this one; modals are the dialog for printing. Windows of
  // wallets and explorers are whole pages.
  frame.sandbox = /** @type {any} */ ('allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation');
  addEventListener('message', ({ data, origin, source }) => {
    if (source === frame.contentWindow && origin === ORIGIN && data?.florin === 1) onMessage(data);
  }, { signal });
  return frame;
};

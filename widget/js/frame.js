/** The checkout's page of the proxy, and the frame that shows it. */
import { BASE, ORIGIN } from './assets.js';
import { ATTRIBUTES, TOKENS } from './attributes.js';
import { make } from './dom.js';

/** A page that loads sends a message at once; one that does not load gets this long. */
const LOAD_TIMEOUT_MS = 15000;
const ANSWER_TIMEOUT_MS = 3000;

/**
 * The address of the checkout's page; its fragment has what is bought and how it looks.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
export const pageAddress = (element, display) => {
  const params = new URLSearchParams({ origin: location.origin });
  for (const name of ATTRIBUTES) {
    const value = element.getAttribute(name);
    if (value) params.set(name.replace('-', '_'), value);
  }
  const style = getComputedStyle(element);
  for (const token of TOKENS) {
    const name = '--florin-' + token;
    const value = style.getPropertyValue(name).trim();
    if (value) params.set(name, value);
  }
  params.set('display', display);
  params.set('locale', element.getAttribute('locale') || document.documentElement.lang);
  return BASE + 'pay?store=' + encodeURIComponent(element.getAttribute('store') || '') + '#' + params;
};

/**
 * Makes the frame of a display, in a place that is a skeleton until the page answers. Messages between the two are
 * `{florin: 1, type, detail}`, to and from one exact origin each, and never carry a token or an address.
 *
 * @param {HTMLElement} element
 * @param {string} display
 * @param {string} title
 * @param {AbortSignal} signal Ends the frame's timers and listeners.
 * @param {(isRejected: boolean, show: (notice: HTMLElement) => void) => void} onSilence The page did not answer: `show`
 *   puts a notice in the frame's place until it does.
 * @param {(message: { type: string, detail: any }) => void} onMessage
 */
export const createFrame = (element, display, title, signal, onSilence, onMessage) => {
  const frame = make('iframe', {
    className: 'fl-frame',
    src: pageAddress(element, display),
    title,
    allow: 'clipboard-write',
    referrerPolicy: 'strict-origin',
  });
  // Forms belong to the gateway's own page, in a frame of this one; modals are the dialog for printing.
  frame.sandbox = /** @type {any} */ ('allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-top-navigation-by-user-activation');
  const place = make('div', { className: 'fl-place fl-wait' }, frame);
  /** @type {HTMLElement | undefined} */
  let notice;
  let isAnswered = false;
  const wait = (/** @type {number} */ time, isRejected = false) => setTimeout(() => isAnswered || onSilence(isRejected, (shown) => {
    if (isAnswered) return;
    // The frame stays where it is: moved, it would load anew, and one that answers late is shown.
    place.hidden = true;
    place.before((notice = shown));
  }), time);
  let timer = wait(LOAD_TIMEOUT_MS);
  frame.onload = () => {
    clearTimeout(timer);
    timer = wait(ANSWER_TIMEOUT_MS, true);
  };
  addEventListener('message', ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== ORIGIN || data?.florin !== 1) return;
    isAnswered = true;
    notice?.remove();
    place.hidden = false;
    place.className = 'fl-place';
    if (data.type === 'resize' && display === 'frame') frame.style.height = Math.max(480, data.detail.height | 0) + 2 + 'px';
    onMessage(data);
  }, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  return { place, frame };
};

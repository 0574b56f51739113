/** The checkout's page of the proxy, and the frame that shows it. */
import { BASE, ORIGIN } from './assets.js';
import { ATTRIBUTES, TOKENS, read } from './attributes.js';
import { make } from './dom.js';

/** The language that the page asks for, BCP 47; empty for none. @param {HTMLElement} element */
export const localeOf = (element) => read(element, 'locale') || document.documentElement.lang;

/**
 * The parameters of the checkout's page, with what is bought and how it looks: those of the query, and those of the fragment,
 * which no server sees.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
const parametersOf = (element, display) => {
  const params = [new URLSearchParams({ locale: localeOf(element) }), new URLSearchParams()];
  for (const name of ATTRIBUTES) {
    const value = read(element, name);
    if (value) params[+/token|words/.test(name)].set(name.replace('-', '_'), value);
  }
  const style = getComputedStyle(element);
  for (const token of TOKENS) {
    const name = '--florin-' + token;
    const value = style.getPropertyValue(name).trim();
    if (value) params[0].set(name, value);
  }
  params[0].set('display', display);
  return params;
};

/**
 * The address of the checkout's page.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
export const pageAddress = (element, display) => BASE + 'pay?' + parametersOf(element, display).join('#');

/**
 * The frame of the page: the one in the tag, or a new one. Messages between the two are `{florin: 1, type, detail}`, and
 * never carry a token or an address. The page begins, by a message without a type; the answer, `hello`, has the
 * parameters of the query, and the origin of the page around it. Its messages have the frame's `width` in its CSS pixels.
 *
 * @param {HTMLElement} element
 * @param {string} display
 * @param {string} title
 * @param {AbortSignal} signal Ends the messages.
 * @param {(message: { type?: string, detail: any, width: number }) => void} onMessage
 */
export const createFrame = (element, display, title, signal, onMessage) => {
  const [query, fragment] = parametersOf(element, display);
  /** @type {HTMLIFrameElement | false | null} A frame in the tag has no token. */
  const own = display === 'frame' && !('' + fragment) && element.querySelector(`iframe[src^="${BASE}pay?"]`);
  const frame = own || make('iframe', { className: 'fl-frame', src: pageAddress(element, display), title, allow: 'clipboard-write' });
  const hello = () => frame.contentWindow?.postMessage({ florin: 1, type: 'hello', detail: '' + query }, '*');
  addEventListener('message', ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== ORIGIN || data?.florin !== 1) return;
    if (!data.type) hello();
    onMessage(data);
  }, { signal });
  // The page in the tag may have begun before.
  hello();
  return frame;
};

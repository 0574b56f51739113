/** What is sold, with its shop and price: drawn once, for the list before the program and for the program's screens. */
import { clean } from '../clean.js';
/** @import { Offer, Words } from '../types.d.ts' */

/** Lines of an order that are open. */
const LINES_SHOWN = 3;
/** @typedef {Node | string | false | null | undefined} Child */

/**
 * @template {Element} E
 * @param {E} element @param {Record<string, string | false | undefined>} attributes Set unless `undefined` or `false`.
 * @param {Child[]} children
 */
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return element;
};
/** @param {string} tag @param {Record<string, string | false | undefined>} attributes @param {...Child} children */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
/** @param {string} tag @param {Record<string, string>} attributes @param {...Child} children */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
/** @param {string} text */
export const ltr = (text) => h('bdi', { dir: 'ltr' }, text);
export const initial = (/** @type {string} */ text) => [...text][0];
/** @param {string | undefined} url */
export const isPage = (url) => /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost|\[::1])[:/]/.test(url || '');

/** @param {string} locale BCP 47 @param {string} currency @param {number} decimals */
const moneyFormat = (locale, currency, decimals) => new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** Writes an amount in vain: the first one takes a slow phone 50 ms. @param {string} locale BCP 47 */
export const prepareAmounts = (locale) => {
  try {
    moneyFormat(locale, 'USD', 2).format(1);
  } catch {
    // This browser does not know the locale; amounts are written without it.
  }
};

/**
 * What writes texts and amounts.
 *
 * @param {Words} words @param {string} locale BCP 47 @param {string | undefined} currency
 */
export const createTexts = (words, locale, currency) => {
  /** @param {unknown} template @param {Record<string, string>} [values] */
  const put = (template, values = {}) => String(template).replace(/\{(\w+)\}/g, (gap, name) => (Object.hasOwn(values, name) ? values[name] : gap));
  /** @param {string} key @param {Record<string, string>} [values] */
  const text = (key, values) => put(words[key] ?? key, values);
  /** @param {string} key @param {number} count @param {string} written */
  const plural = (key, count, written) => {
    const forms = /** @type {Record<string, string>} */ (words[key]);
    return put(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { count: written });
  };
  /** @param {string} amount */
  const money = (amount) => {
    const digits = (amount.split('.')[1] || '').length;
    try {
      return moneyFormat(locale, String(currency), digits).format(/** @type {any} */ (amount));
    } catch {
      return amount + '\u00a0' + String(currency);
    }
  };
  return { text, plural, money };
};

/**
 * Draws the summary.
 *
 * @param {unknown} sold An offer or an order, or a donation, which has no price yet.
 * @param {Words} words @param {string} locale BCP 47 @param {string} heading The element for the title.
 */
export const createAbout = (sold, words, locale, heading) => {
  /** @type {Offer} */
  const order = clean(/** @type {any} */ (sold));
  const { text, plural, money } = createTexts(words, locale, order.currency);
  /** A picture for eyes alone. @param {string} name @param {string} url @param {string} side */
  const picture = (name, url, side) => {
    const image = h('img', { class: name, src: url, alt: '', width: side, height: side, referrerpolicy: 'no-referrer' });
    image.onerror = () => (image.hidden = true);
    return image;
  };
  const lines = order.lines || [];
  const [single] = lines;
  const areLines = lines.length > 1 || (single && (single.quantity > 1 || single.image_url));
  const items = lines.map(({ quantity, title, amount, image_url: url }) => {
    const count = String(quantity);
    const isTitle = lines.length === 1 && title === order.title;
    const written = quantity === 1 ? title : text(isTitle ? 'quantity' : 'line', { count, title });
    return h('li', {}, isPage(url) && picture('picture', String(url), '40'), h('bdi', {}, written), amount && ltr(money(amount)));
  });
  const rest = items.splice(LINES_SHOWN);
  const price = order.amount ? money(order.amount) : '';
  const { store } = order;
  return h('div', { class: 'about' },
    h('p', { class: 'store', part: 'store' },
      isPage(store.logo_url) ? picture('logo', String(store.logo_url), '28') : h('span', { class: 'initial', 'aria-hidden': 'true' }, initial(store.name)),
      h('bdi', {}, store.name),
      order.environment === 'test' && h('span', { class: 'test', title: text('test_hint') }, text('test'))),
    h(heading, { class: 'title' }, h('bdi', {}, order.title)),
    price && h('p', { class: 'price', part: 'price' }, ltr(price)),
    areLines && h('div', { class: 'lines', role: 'group', 'aria-label': text('items'), 'data-testid': 'lines' },
      h('ul', {}, ...items),
      rest.length > 0 && h('details', {}, h('summary', {}, plural('items_more', rest.length, String(rest.length))), h('ul', {}, ...rest)),
      lines.length > 1 && lines.every(({ amount }) => amount) && h('p', { class: 'total' }, h('span', {}, text('total')), ltr(price))));
};

/** What draws the screens of the page's scripts: elements with attributes, texts and amounts. */
/** @import { Words } from './types.d.ts' */

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

/** The address of the checkout's page of the proxy. */
import { BASE } from './assets.js';
import { ATTRIBUTES, TOKENS, read } from './attributes.js';

/** The language that the page asks for, BCP 47; empty for none. @param {HTMLElement} element */
export const localeOf = (element) => read(element, 'locale') || document.documentElement.lang;

/**
 * The parameters of the checkout's page, with what is bought and how it looks: those of the query, and those of the fragment,
 * which no server sees.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
export const parametersOf = (element, display) => {
  const query = new URLSearchParams({ locale: localeOf(element) });
  const fragment = new URLSearchParams();
  const style = getComputedStyle(element);
  for (const name of ATTRIBUTES) {
    const value = read(element, name);
    if (value) (/token|words/.test(name) ? fragment : query).set(name.replace('-', '_'), value);
  }
  for (const token of TOKENS) {
    const name = '--florin-' + token;
    const value = style.getPropertyValue(name).trim();
    if (value) query.set(name, value);
  }
  query.set('display', display);
  return [query, fragment];
};

/**
 * The address of the checkout's page.
 *
 * @param {HTMLElement} element
 * @param {string} display
 */
export const pageAddress = (element, display) => BASE + 'pay?' + parametersOf(element, display).join('#');

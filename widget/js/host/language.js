/** The customer's language: its texts, and the menu to change it. */
import { make } from '../dom.js';
import { CHOSEN } from '../locale.js';
import { remember } from '../storage.js';
import { get } from './files.js';
/** @import { Context, Words } from '../types.d.ts' */

/** The languages by tag, each with the hash in its file's name. */
export const LANGUAGES = new URLSearchParams('%LANGUAGES%');

/** No text of a checkout names another place to go or to send to. */
const LINK_OR_ADDRESS = /:\/\/|(?=[a-z]*\d)[a-z\d]{16}/i;

/**
 * The texts of a language, with the shop's in their places.
 *
 * @param {string} file The language's tag.
 * @param {string | null | undefined} own JSON: `{"de": {"paid": "…"}}`.
 */
export const loadWords = async (file, own) => {
  /** @type {Words} */
  const words = await (await get('assets/' + file + '-' + LANGUAGES.get(file) + '.json')).json();
  if (!own) return words;
  const gaps = (/** @type {string} */ text) => JSON.stringify(text.match(/\{\w+\}/g)?.sort());
  /** @type {Record<string, unknown>} */
  let texts = {};
  try {
    texts = JSON.parse(own)[file] || {};
  } catch {
    console.error('florin: words is not JSON like {"' + file + '": {"paid": "' + words.paid + '"}}: ' + own);
  }
  for (const [key, text] of Object.entries(texts)) {
    const known = words[key];
    if (typeof known === 'string' && typeof text === 'string' && gaps(text) === gaps(known) && !LINK_OR_ADDRESS.test(text)) words[key] = text;
    else if (known && LINK_OR_ADDRESS.test(String(text))) console.error('florin: words: "' + key + '" is left as it is: a text of the checkout leads nowhere and holds no address');
    else console.error('florin: words: "' + key + '" is left as it is: ' + (known ? 'its text needs the same {…} as "' + (typeof known === 'string' ? known : known.other) + '"' : 'there is no such text'));
  }
  return words;
};

/** @type {HTMLElement | undefined} The element whose customer has just chosen a language. */
let choosing;

/**
 * Focuses the menu of the element whose customer has just chosen a language, as the old menu had the focus.
 *
 * @param {HTMLElement} element @param {HTMLElement} menu
 */
export const focusAgain = (element, menu) => {
  if (choosing === element) menu.focus();
  choosing = undefined;
};

/**
 * The menu of languages, each by its own name. It holds the current one alone until it is used: the names of all take
 * longer than everything else that is shown first.
 *
 * @param {Context} context @param {string} label @param {string} file The current language's tag.
 */
export const createMenu = ({ element, restart }, label, file) => {
  const named = (/** @type {string} */ tag) => {
    const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) || tag;
    return make('option', { value: tag, lang: tag }, name[0].toLocaleUpperCase(tag) + name.slice(1));
  };
  const select = make('select', { className: 'language', ariaLabel: label }, named(file));
  select.onfocus = select.onpointerdown = () => {
    select.onfocus = select.onpointerdown = null;
    const options = [...LANGUAGES.keys()].map(named).sort((a, b) => a.text.localeCompare(b.text));
    select.replaceChildren(...options);
    select.value = file;
  };
  select.onchange = () => {
    remember(CHOSEN, select.value);
    choosing = element;
    restart();
  };
  select.setAttribute('part', 'language');
  return select;
};

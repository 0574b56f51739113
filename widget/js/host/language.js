/** The customer's language: its texts, and the menu to change it. */
import { clean } from '../clean.js';
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
 * The shop's texts for one language, by key.
 *
 * @param {string} file The language's tag.
 * @param {string | null | undefined} own JSON: `{"de": {"paid": "…"}}`.
 * @returns {Record<string, unknown>}
 */
const parse = (file, own) => {
  try {
    return clean((own && JSON.parse(own)[file]) || {});
  } catch {
    console.error('florin: words is not JSON like {"' + file + '": {"paid": "…"}}: ' + own);
    return {};
  }
};

/** @param {string} key @param {string} reason */
const leave = (key, reason) => console.error('florin: words: "' + key + '" is left as it is: ' + reason);

/**
 * What loads the texts of a language, with the shop's in their places: those of the first screens, and after them those
 * of the screens after the asset choice.
 *
 * @param {string} file The language's tag.
 * @param {string | null | undefined} own JSON: `{"de": {"paid": "…"}}`.
 */
export const createWords = (file, own) => {
  const texts = parse(file, own);
  /** @type {Record<string, unknown>} */
  const unknown = { ...texts };
  const gaps = (/** @type {string} */ text) => JSON.stringify(text.match(/\{\w+\}/g)?.sort());
  /** @param {string} part @returns {Promise<Words>} */
  const load = async (part) => {
    const words = await (await get('assets/' + file + part + '-' + LANGUAGES.get(file) + '.json')).json();
    for (const [key, text] of Object.entries(texts)) {
      const known = words[key];
      if (!known) continue;
      delete unknown[key];
      if (LINK_OR_ADDRESS.test(String(text))) leave(key, 'a text of the checkout leads nowhere and holds no address');
      else if (typeof known === 'string' && typeof text === 'string' && gaps(text) === gaps(known)) words[key] = text;
      else leave(key, 'its text needs the same {…} as "' + (typeof known === 'string' ? known : known.other) + '"');
    }
    return words;
  };
  const first = Promise.all([load(''), load('.list')]);
  return {
    first: async () => Object.assign(...await first),
    payment: async () => {
      const words = await load('.payment');
      // The page announces them: they may come before the others.
      first.then(() => {
        for (const key of Object.keys(unknown).filter((key) => !key.startsWith('wallet_'))) leave(key, 'there is no such text');
      }, () => {});
      return words;
    },
    wallets: () => load('.wallets'),
  };
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

/** A language by its name in itself. @param {string} tag */
const languageOption = (tag) => {
  let name = tag;
  try {
    name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) || tag;
  } catch {
    // This browser does not name languages.
  }
  return make('option', { value: tag, lang: tag }, name[0].toLocaleUpperCase(tag) + name.slice(1));
};

/**
 * Fills the menu of languages once it is used: the names of all take longer than everything else that is shown first.
 *
 * @param {HTMLSelectElement} menu @param {Context} context @param {string} file The current language's tag.
 */
export const fillMenu = (menu, { element, restart }, file) => {
  const fill = () => {
    menu.onfocus = menu.onpointerdown = null;
    const options = [...LANGUAGES.keys()].map(languageOption).sort((a, b) => a.text.localeCompare(b.text));
    menu.replaceChildren(...options);
    menu.value = file;
  };
  menu.onfocus = menu.onpointerdown = fill;
  menu.onchange = () => {
    remember(CHOSEN, menu.value);
    choosing = element;
    restart();
  };
};

/** The choice of a language. */
import { recall } from './storage.js';

/** Where the customer's choice of a language is kept. */
export const CHOSEN = 'florin:locale';

/**
 * The best language for the requested tags, which come before the browser's, as `[file, locale]`: the tag of a file, and the tag
 * by which numbers and times are written, `de-CH` for instance. Digits are those of wallets everywhere.
 *
 * @param {(file: string) => boolean} has Whether there is a file of that tag. There is one of `en`.
 * @param {...(string | null | undefined | false)} requested BCP 47
 * @returns {[string, string]}
 */
export const chooseLanguage = (has, ...requested) => {
  for (const tag of [recall(CHOSEN), ...requested, ...(navigator.languages || [navigator.language])]) {
    // Most tags name the language themselves: a browser's first use of `Intl` takes 70 ms of a slow phone.
    const [, plain] = /^([a-z]{2})(?:-[A-Z]{2})?$/.exec(tag || '') || [];
    // Of these six the region can name another file, or another script.
    if (plain && !/az|kk|ms|pt|sr|zh/.test(plain) && has(plain)) return [plain, tag + '-u-nu-latn'];
    try {
      const locale = new Intl.Locale(tag || '', { numberingSystem: 'latn' });
      const { language, script, region } = locale.maximize();
      // Languages whose writing differs from the language's own file.
      /** @type {Record<string, string | false>} */
      const other = { no: 'nb', nn: 'nb', zh: script === 'Hant' && 'zh-TW', pt: region !== 'BR' && 'pt-PT' };
      const file = other[language] || language;
      // A language in another script is no closer than English: Serbian in Latin letters, Azerbaijani in Cyrillic ones.
      if (has(file) && new Intl.Locale(file).maximize().script === script) return [file, '' + locale];
    } catch {
      // No tag.
    }
  }
  return ['en', 'en-u-nu-latn'];
};

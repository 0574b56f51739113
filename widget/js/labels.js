/** The texts of loader and dialog in every language. Loaded by florin.js for every language but English. */
import { chooseLanguage } from './locale.js';
/** @import { FoundLabels, Labels } from './types.d.ts' */

/** By the language's tag. */
const LABELS = /** @type {Record<string, Partial<Labels>>} */ (/** @type {unknown} */ ('%LABELS%'));
/** The merchant's texts: by the language's tag, the hash in the module's name. */
const DIAGNOSTICS = new URLSearchParams('%DIAGNOSTICS%');

/**
 * The texts of the best language.
 *
 * @param {string | null} wished BCP 47
 * @returns {FoundLabels}
 */
export const find = (wished) => {
  const [file, locale] = chooseLanguage((tag) => DIAGNOSTICS.has(tag), wished);
  return { texts: LABELS[file], locale, diagnostics: 'assets/' + file + '.diagnostics-' + DIAGNOSTICS.get(file) + '.js' };
};

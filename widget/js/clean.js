/** Texts of others. */

/** What a browser obeys instead of showing: `is_obeyed` of crates/checkout-api. */
const CONTROL_CHARACTERS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/**
 * @template T
 * @param {T} value
 * @returns {T} The same without what a browser obeys.
 */
export const clean = (value) => JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? part.replace(CONTROL_CHARACTERS, '') : part));

/** The browser's storage, or memory where it is forbidden, as in frames of another site. */

/** Where the name of the wallet that was used last is kept. */
export const LAST_WALLET = 'florin:wallet';
/** @type {Record<string, string | undefined>} */
const memory = {};

/**
 * Keeps a text; without a value, removes it. Returns `true` if a reload of the page finds it.
 *
 * @param {string} key @param {string} [value] @param {'sessionStorage' | 'localStorage'} [storage]
 */
export const remember = (key, value, storage = 'sessionStorage') => {
  memory[key] = value;
  try {
    if (value) window[storage].setItem(key, value);
    else window[storage].removeItem(key);
    return true;
  } catch {
    return false;
  }
};

/**
 * The text that was kept.
 *
 * @param {string} key @param {'sessionStorage' | 'localStorage'} [storage] @returns {string | null | undefined}
 */
export const recall = (key, storage = 'sessionStorage') => {
  try {
    return memory[key] || window[storage].getItem(key);
  } catch {}
};

/** The proxy that the loader came from, and its modules. */

/** The proxy's address; ends in a slash. Set by `locate`. */
export let BASE = '';
export let ORIGIN = '';

/** Finds the proxy. Called while florin.js runs: later, no script is the current one. */
export const locate = () => {
  // To a module that imports this file, no script is the current one; its own address stands in its errors.
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  const source = script?.src || (/https?:[^\s@]+?florin\.js/.exec(new Error().stack || '') || [''])[0];
  BASE = new URL('.', source).href;
  ORIGIN = new URL(BASE).origin;
};

/** @type {Record<string, Promise<any> | undefined>} */
const loaded = {};
let failures = '';

/**
 * Imports a module of the proxy. Browsers keep the failure of a module: the next attempt has another address.
 *
 * @type {import('./types.d.ts').Load}
 */
export const load = (path, timeout = 30000) =>
  (loaded[path] ||= Promise.race([import(BASE + path + failures), new Promise((_, reject) => setTimeout(reject, timeout, path))]).catch((error) => {
    delete loaded[path];
    failures += '#';
    throw error;
  }));

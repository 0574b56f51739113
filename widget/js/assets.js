/** The proxy that the loader came from, and its modules. */

// On a server, and in a worker, there is neither.
const page = globalThis.document;
const script = /** @type {HTMLScriptElement | null} */ (page?.currentScript);
const stack = /** @type {string} */ (new Error().stack);
// To a module that imports this file, no script is the current one; its own address stands in its errors.
const url = page && new URL('.', script?.src || /** @type {RegExpExecArray} */ (/https?:[^\s@]+?florin\.js/.exec(stack))[0]);

/** The proxy's address; ends in a slash. */
export const BASE = url?.href;
export const ORIGIN = url?.origin;

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

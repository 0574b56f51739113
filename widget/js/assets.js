/** The proxy that the loader came from, and its modules. */

export const TAG = 'florin-checkout';

/**
 * `page` in the loader of the proxy's page, which knows this display alone; `shop` in that of shops.
 *
 * @type {string}
 */
const KIND = '%KIND%';
export const IS_PAGE = KIND === 'page';

// On a server, and in a worker, there is none.
const page = globalThis.document;
// To a module, no script is the current one; its own address stands in its errors.
const source = /** @type {HTMLScriptElement | null} */ (page?.currentScript)?.src || /** @type {string} */ (new Error().stack);
const own = (IS_PAGE ? /https?:\/\/[^\s/@]+\/(?=assets\/florin-)/ : /https?:\/\/[^\s/@]+\/(?=florin\.js)/).exec(source)?.[0];

/**
 * The proxy's address; ends in a slash. A loader that the page's own server serves, pasted or joined to other scripts, is a
 * copy: it asks the published address. The proxy writes that one here, except in the loader of the checkout's page.
 */
export const BASE = /** @type {string} */ (page && (/^http/.test('%PUBLIC_URL%') && (!own || own === location.origin + '/') ? '%PUBLIC_URL%' : own));
export const ORIGIN = BASE && new URL(BASE).origin;
if (page && !ORIGIN) console.error('florin: load it from your proxy');

/** What the names of the loader's modules end in, which all have the same hash. */
export const VERSION = '-%VERSION%.js';

/** @type {Record<string, Promise<any> | undefined>} */
const loaded = {};
let failures = '';

/** @param {string} path @param {number} timeout @returns {Promise<any>} */
const get = (path, timeout) => Promise.race([import(BASE + path), new Promise((_, reject) => setTimeout(reject, timeout, path))]);

/**
 * Imports a module of the loader by its name, another one by its path. Browsers keep the failure of a module: the next attempt
 * has another address. A file may be missing because the proxy has another version by now: then the loader is fetched anew,
 * past the cache, and writes its `VERSION` to the element's class.
 *
 * @type {import('./types.d.ts').Load}
 */
export const load = (name, timeout = 30000, isAgain) => {
  const path = name.includes('/') ? name : 'assets/' + name + /** @type {any} */ (customElements.get(TAG))[BASE];
  return (loaded[path] ||= get(path + failures, timeout).catch((error) => {
    delete loaded[path];
    failures += '#';
    // A file that did not come in time is not asked for twice: the error is its path.
    if (isAgain || typeof error === 'string') throw error;
    return get('florin.js?' + Date.now(), timeout).then(() => load(name, timeout, true));
  }));
};

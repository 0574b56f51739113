/**
 * Loads florin.js from a proxy, once per page. Importing this file touches nothing, so that a server may.
 */
const NAME = 'florin-checkout';
const TIMEOUT_MS = 15000;

/** What is being loaded, or is loaded, by address. A failure is not kept: the next call tries again. */
const loads = new Map();

export const loadFlorin = (url, { nonce, integrity, timeoutMs = TIMEOUT_MS } = {}) => {
  if (typeof document === 'undefined') return Promise.resolve(null);
  let address;
  try {
    address = new URL(url, document.baseURI);
  } catch {
    return Promise.reject(new Error(`florin: ${url} is no address. Name the script of your proxy, like https://pay.shop.example/florin.js.`));
  }
  const { href, origin } = address;
  for (const other of loads.keys()) {
    if (other !== href) return Promise.reject(new Error(`florin: this page has its checkout from ${other}, and can have none from ${href} beside it.`));
  }
  if (!loads.has(href)) {
    const load = inject(href, origin, nonce, integrity, timeoutMs);
    loads.set(href, load);
    load.catch(() => loads.delete(href));
  }
  return loads.get(href);
};

const inject = (href, origin, nonce, integrity, timeoutMs) =>
  new Promise((resolve, reject) => {
    const known = customElements.get(NAME);
    if (known) return resolve(known);
    const script = document.createElement('script');
    const fail = (why) => {
      clearTimeout(timer);
      script.remove();
      reject(new Error(`florin: ${href} ${why}`));
    };
    const timer = setTimeout(fail, timeoutMs, `did not arrive within ${timeoutMs / 1000} seconds.`);
    script.onload = () => {
      clearTimeout(timer);
      const element = customElements.get(NAME);
      if (element) resolve(element);
      else fail(`defines no <${NAME}>: it is not the script of a proxy.`);
    };
    script.onerror = () =>
      fail(
        `could not be loaded. Open it in a browser: the proxy answers there, or the address is wrong. If it answers, this page's Content-Security-Policy needs script-src ${origin}` +
          (integrity ? ', or the script is another version than the integrity says.' : '.'),
      );
    if (nonce) script.nonce = nonce;
    if (integrity) {
      script.integrity = integrity;
      // Only what was fetched by CORS can be checked; the proxy lets every page.
      script.crossOrigin = 'anonymous';
    }
    script.async = true;
    script.src = href;
    document.head.append(script);
  });

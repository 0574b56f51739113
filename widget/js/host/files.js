/** The files of the checkout, each loaded once for all elements of the page. */
/** @import { Load } from '../types.d.ts' */

/** The proxy's address; ends in a slash. This module's output lies in assets/. */
export const BASE = new URL('..', import.meta.url).href;
const FILES = {
  glue: '%FLORIN:widget.js%',
  wasm: '%FLORIN:widget_bg.wasm%',
  paymentCss: '%FLORIN:payment.css%',
  /** Empty where the program is one module. */
  payment: '%FLORIN:payment.wasm%',
  paymentJs: '%FLORIN:payment.js%',
  wallets: '%FLORIN:wallets.js%',
};
/** The icons of the proxy's page by the state of its order. */
const ICONS = {
  '': '%FLORIN:icon.svg%',
  paid: '%FLORIN:paid-icon.svg%',
  problem: '%FLORIN:problem-icon.svg%',
};
/** For a file of the checkout: at the slowest, a few kilobytes a second. */
const FILE_TIMEOUT_MS = 45000;

/** @param {keyof typeof ICONS} state */
export const showIcon = (state) => {
  const link = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel=icon]'));
  if (link) link.href = BASE + ICONS[state];
};

/** @param {string} path */
export const get = async (path) => {
  const response = await fetch(BASE + path, { signal: AbortSignal.timeout?.(FILE_TIMEOUT_MS) });
  // A network that asks for a sign-in answers with its own page.
  if (!response.ok || /html/.test(response.headers.get('content-type') || '')) throw Object.assign(new Error(response.status + ' ' + path), { status: response.status });
  return response;
};

/**
 * Keeps the result of `load` for every element of the page, but not its failure.
 *
 * @template T
 * @param {(load: Load) => Promise<T>} load
 */
const once = (load) => {
  /** @type {Promise<T> | undefined} */
  let kept;
  return (/** @type {Load} */ module) => (kept ||= load(module).catch((error) => {
    kept = undefined;
    throw error;
  }));
};

/** The screens: `mount`, `unmount` and `refresh` of widget/src/element.rs. */
export const loadProgram = once(async (load) => {
  const wasm = get(FILES.wasm);
  wasm.catch(() => {});
  const glue = await load(FILES.glue);
  await glue.default({ module_or_path: wasm });
  return glue;
});
/** The payment module, a second part of the program: the screens after the asset choice. The program instantiates it. */
export const loadPayment = once(async (load) => {
  if (!FILES.payment) return;
  const bytes = await (await get(FILES.payment)).arrayBuffer();
  const [module, glue] = await Promise.all([WebAssembly.compile(bytes), load(FILES.glue)]);
  glue.provide(module);
});
/** @param {string} path */
const loadSheet = (path) => once(async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await get(path)).text());
  return sheet;
});
/** The script of the screens after the asset choice. */
export const loadPaymentScript = once((load) => /** @type {Promise<typeof import('../payment.js')>} */ (load(FILES.paymentJs)));
/** The style of the screens after the asset choice. */
export const loadPaymentStyle = loadSheet(FILES.paymentCss);
/** The wallets of this browser, for an asset that they can pay. */
export const loadWallets = once((load) => /** @type {Promise<typeof import('../wallets.js')>} */ (load(FILES.wallets)));

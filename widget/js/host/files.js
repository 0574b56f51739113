/** The files of the checkout, each loaded once for all elements of the page. */
/** @import { Load } from '../types.d.ts' */

/** The proxy's address; ends in a slash. This module's output lies in assets/. */
export const BASE = new URL('..', import.meta.url).href;
const FILES = {
  glue: '%FLORIN:widget.js%',
  wasm: '%FLORIN:widget_bg.wasm%',
  css: '%FLORIN:florin.css%',
  theme: '%FLORIN:theme.js%',
};
/** For a file of the checkout: at the slowest, a few kilobytes a second. */
const FILE_TIMEOUT_MS = 45000;

/** @param {string} path */
export const get = async (path) => {
  const answer = await fetch(BASE + path, { signal: AbortSignal.timeout?.(FILE_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(answer.status + ' ' + path);
  return answer;
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
export const loadStyle = once(async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await (await get(FILES.css)).text());
  return sheet;
});
export const loadTheme = once((load) => /** @type {Promise<typeof import('../theme.js')>} */ (load(FILES.theme)));

/** The script that stands in the proxy's page: shows what the page came with, and loads the rest. */
import { make } from './dom.js';
import { beginPage } from './first/page.js';

const LOADER = './florin.js';
const LONGEST_PAUSE_SECONDS = 30;
/** A slow phone has drawn the first screen by then. A hidden frame draws none. */
const LONGEST_FRAME_MS = 1000;
let failures = 0;
/** Loads florin.js, again and again: what is shown needs it once something is chosen. */
const loadRest = () => {
  // Browsers keep the failure of a module.
  import(LOADER + '#'.repeat(failures)).catch(() => {
    element.begun?.list()?.missProgram();
    const again = () => {
      clearTimeout(timer);
      removeEventListener('online', again);
      loadRest();
    };
    const timer = setTimeout(again, 1000 * Math.min(LONGEST_PAUSE_SECONDS, 2 ** ++failures));
    addEventListener('online', again);
  });
};
const element = /** @type {import('./types.d.ts').PageElement} */ (document.querySelector('florin-checkout'));
const frame = requestAnimationFrame(() => {
  clearTimeout(hidden);
  setTimeout(loadRest);
});
const hidden = setTimeout(() => {
  cancelAnimationFrame(frame);
  loadRest();
}, LONGEST_FRAME_MS);
// The gallery shows a state on canned responses.
if (!/^#gallery\b/.test(location.hash)) {
  const box = make('div');
  element.attachShadow({ mode: 'open' }).append(box);
  const run = new AbortController();
  const given = JSON.parse(String(document.getElementById('first')?.textContent));
  const begun = beginPage({ element, box, signal: run.signal }, new URL('.', location.href).href, given);
  element.begun = { ...begun, end: () => run.abort() };
}

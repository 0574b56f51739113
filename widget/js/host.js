/**
 * The displays that show the checkout itself: the proxy's page, or inline the shop's. Loaded by florin.js, which hands
 * over a `Context`.
 */
import { read } from './attributes.js';
import { make } from './dom.js';
import { BASE } from './host/files.js';
import { LANGUAGES } from './host/language.js';
import { showCheckout } from './host/checkout.js';
import { followParent } from './host/page.js';
import { createPolicy, takesMarkup } from './host/trusted_types.js';
/** @import { BegunPage, Context } from './types.d.ts' */

/** Whether the page has its policy: it can be created once. */
let hasPolicy = false;

/** Shows the checkout as the address says, or as the fragment `given` in its place. @param {Context} context @param {URLSearchParams} [given] */
const showPage = async (context, given) => {
  const { element, signal } = context;
  /** @type {BegunPage} */
  const begun = element.begun || (await context.load('first')).FIRST.beginPage(context, BASE, null, given);
  const restart = () => {
    element.begun?.end();
    element.begun = undefined;
    context.restart();
  };
  addEventListener('hashchange', restart, { signal });
  const examine = begun.send ? followParent(context, begun.read, begun.send) : context.examine;
  return showCheckout({ ...context, restart, examine }, begun, true);
};

/**
 * Shows the checkout. An exception before the first screen rejects the result.
 *
 * @param {Context} context
 * @param {boolean} isPage Whether this is the proxy's page, with its parameters in the address.
 */
export const start = async (context, isPage) => {
  // Where a policy forbids WebAssembly, this throws, before an order is opened that could not be shown.
  new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  if (!isPage) {
    // A shop's page shares what its scripts have broken; a frame does not. diagnostics.js names it.
    if (JSON.stringify(['a', ''].filter(Boolean).map((one) => one)) !== '["a"]') throw new Error('a script of this page has broken lists');
    // The list of assets needs no markup, the screens after it do.
    if (!takesMarkup()) throw new Error('this page does not take the markup of the screens');
    const { FIRST } = await context.load('first');
    return showCheckout(context, FIRST.begin(context, (/** @type {string} */ name) => read(context.element, name), false, BASE), false);
  }
  if (!hasPolicy) createPolicy();
  hasPolicy = true;
  // Every state on canned responses, where the proxy of a test environment has the file.
  if (!/^#gallery\b/.test(location.hash)) return showPage(context);
  return import(BASE + 'gallery/gallery.js').then((gallery) => gallery.start({ ...context, make, show: context.box.replaceChildren.bind(context.box) }, showPage, [...LANGUAGES.keys()]), () => showPage(context));
};

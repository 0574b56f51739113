/** The proxy's page, in the frame of a shop's page. */
/** @import { Context, FoundLabels, Read } from '../types.d.ts' */

/**
 * The frame's name in the customer's language; none for English, which the loader has.
 *
 * @param {Context} context
 */
const findTitle = async ({ load }) => {
  const { lang } = document.documentElement;
  if (lang === 'en') return '';
  /** @type {FoundLabels} */
  const { texts } = (await load('labels')).find(lang);
  return texts.checkout;
};

/**
 * Follows the page around this one. Returns what examines a display.
 *
 * @param {Context} context @param {Read} read
 * @param {(type: string, detail?: unknown) => void} send
 * @returns {Context['examine']}
 */
export const followParent = (context, read, send) => {
  const { element, signal } = context;
  // A key that is pressed in a frame does not reach the page around it.
  if (read('display') === 'modal') addEventListener('keydown', (event) => event.key === 'Escape' && !event.defaultPrevented && send('escape'), { signal });
  const { featurePolicy } = /** @type {any} */ (document);
  if (featurePolicy?.allowsFeature('clipboard-write') === false) send('examine', { isClipboardBlocked: true });
  // Read with the frame, and later than all that the customer waits for.
  element.addEventListener('florin-ready', () => findTitle(context).then((title) => title && send('title', title), () => {}), { signal });
  // The page around this one has what is to be changed, and its console.
  return async (signs) => send('examine', signs);
};

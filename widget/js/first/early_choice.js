/**
 * The choice of assets before the program runs: what widget/src/app.rs builds, with the list that it takes. A choice is sent at
 * once, and its payment shown in place of the list; any other press is repeated once the program runs. See ADR 0031.
 */
import { clean } from '../clean.js';
import { createTexts, h, isPage } from '../drawing.js';
import { createList } from './list.js';
/** @import { AnnouncedWallet, Offer, Opening, Quote, Words } from '../types.d.ts' */

/** A pointer that is down for longer drags or rests. */
const LONGEST_PRESS_MS = 1000;

/**
 * Returns `true` if the choice of assets is the first screen, and something can be chosen.
 *
 * @param {Opening} opening
 */
const isChoice = ({ offers, token, body, quotes }) => (offers || (token && body.status === 'open' && body.flow !== 'hosted')) && Array.isArray(quotes) && quotes.some(({ available }) => available);

/**
 * Builds the choice of assets; nothing, where the first screen is another.
 *
 * @param {Opening} opening With its prices.
 * @param {Words} words @param {string} locale BCP 47
 * @param {{ about: HTMLElement, last: string, wallets: AnnouncedWallet[], menu: HTMLElement, kept: DOMStringMap, choose: (quote: Quote) => Promise<unknown> }} view `last`: the asset that was chosen last.
 * `kept.pressed`: the test id of the row that was pressed, also before loading failed and was tried again.
 */
export const createEarlyChoice = (opening, words, locale, view) => {
  if (!isChoice(opening)) return undefined;
  /** @type {[Offer, Quote[]]} */
  const [order, quotes] = clean([/** @type {any} */ (opening.body), /** @type {Quote[]} */ (opening.quotes)]);
  const { text } = createTexts(words, locale, order.currency);
  const list = createList(order, quotes, words, locale, view);
  /** Whether a row was pressed that can be: the first press counts. */
  let isSent = false;
  /** As while the program requests the address: no other row can be pressed, and the one that was shows it. @param {boolean} isWaiting */
  const wait = (isWaiting) => {
    isSent = isWaiting;
    banners.replaceChildren();
    for (const row of list.querySelectorAll('button:not([data-off])')) isWaiting ? row.setAttribute('aria-disabled', 'true') : row.removeAttribute('aria-disabled');
  };
  const banners = h('div', { class: 'banners' });
  const showFailure = () => banners.replaceChildren(h('div', { class: 'banner', part: 'banner', role: 'alert' }, h('p', {}, text('no_network'))));
  /** There is no connection: another press sends the same request again. */
  const fail = () => {
    wait(false);
    showFailure();
    delete view.kept.pressed;
  };
  list.onclick = ({ target }) => {
    const button = /** @type {Element} */ (target).closest('button');
    if (!button || isSent) return;
    const { testid, off } = button.dataset;
    view.kept.pressed = testid;
    if (off === '') return;
    wait(true);
    const quote = quotes.find(({ crypto_code: code }) => testid === 'asset-' + code);
    // The request leaves with the press; the program takes its answer.
    if (quote && opening.offers && !quote.confirms_network) view.choose(quote).catch(fail);
  };

  const { store } = order;
  // The program fills its link in with what the order is about.
  const help = (isPage(store.support_url) || store.support_url?.startsWith('mailto:')) && h('a', { class: 'quiet help', 'data-testid': 'help' }, text('help', { store: store.name }));
  const tree = h('div', { class: 'florin', part: 'checkout', lang: locale, dir: text('direction') },
    h('aside', { class: 'summary', part: 'summary', 'aria-label': text('order') }, h('div', { class: 'live' }, h('div', { class: 'order' }, view.about, help)), view.menu),
    h('section', { class: 'main', part: 'main', 'aria-label': text('payment') },
      banners,
      h('div', { class: 'screen', 'data-testid': 'status-open' }, list)),
    h('div', { class: 'unseen', role: 'status' }));

  /** Resolves once no pointer is down. */
  let released = Promise.resolve();
  tree.onpointerdown = () => {
    released = new Promise((done) => {
      // A press has become a click by then.
      for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => setTimeout(done), { once: true });
      setTimeout(done, LONGEST_PRESS_MS);
    });
  };

  return {
    tree,
    /** The list and its prices, which the program takes. */
    list,
    quotes,
    /** The program cannot be loaded at present: says so to the customer who waits for it. */
    missProgram: () => isSent && showFailure(),
    /** Shows address and code in place of the list. @param {HTMLElement} screen */
    showPayment: (screen) => {
      banners.replaceChildren();
      tree.querySelector('.screen')?.replaceWith(screen);
      screen.querySelector('h2')?.focus();
    },
    /** A press that began on an element ends on it, or it is none: the list stays for so long. */
    released: () => released,
  };
};

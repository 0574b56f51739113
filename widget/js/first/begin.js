/** A checkout until its program runs: the order, or what is offered, and the list of assets. */
import { TOKENS } from '../attributes.js';
import { clean } from '../clean.js';
import { make } from '../dom.js';
import { prepareAmounts } from '../drawing.js';
import { chooseLanguage } from '../locale.js';
import { recall, remember } from '../storage.js';
import { applyTheme } from '../theme.js';
import { createContainer } from './container.js';
import { createEarlyChoice } from './early_choice.js';
import { createList } from './list.js';
import { opener, uncached } from './order.js';
import { createAbout } from './summary.js';
import { announcedWallets } from './wallets.js';
/** @import { Begun, FirstScreen, Opening, OrderBody, PaymentParts, Place, Quote, Read, Words } from '../types.d.ts' */

/** The tags of the language files. */
const TAGS = '%TAGS%'.split(' ');
const STYLE = new CSSStyleSheet();
STYLE.replaceSync('%STYLE%');
/** Where the asset that was chosen last is kept. */
const LAST_ASSET = 'florin:asset';
const lastAsset = () => recall(LAST_ASSET, 'localStorage') || '';

/**
 * Shows a checkout in the element, as far as it goes without the program.
 *
 * @param {Place} place
 * @param {Read} read
 * @param {boolean} isPage Whether this is the proxy's page.
 * @param {string} base The proxy's address; ends in a slash.
 * @param {FirstScreen | null} [given] What the page came with.
 * @returns {Begun}
 */
export const begin = ({ element, box, signal }, read, isPage, base, given) => {
  /** @param {string} name @param {unknown} [detail] */
  const emit = (name, detail) => element.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
  const { open, choose, mayExist } = opener(read, base, given?.offer);
  const first = open(false);
  // The language of a shop's page counts; that of the proxy's page is set here.
  const [file, locale] = chooseLanguage((tag) => TAGS.includes(tag), read('locale'), !isPage && document.documentElement.lang);
  if (isPage) document.documentElement.lang = file;
  /** @type {(words: Words | Promise<Words>) => void} */
  let giveWords = () => {};
  /** @type {Promise<Words>} */
  const loadingWords = new Promise((resolve) => (giveWords = resolve));
  loadingWords.catch(() => {});
  // The shop's words come with the rest.
  const hasWords = given?.language === file && !read('words');
  if (hasWords) giveWords(given.words);
  /** @type {Begun['giveParts']} */
  let giveParts = () => {};
  /** @type {Promise<PaymentParts>} */
  const loadingParts = new Promise((resolve) => (giveParts = resolve));
  const { container, showSkeleton, applyStore, removeSkeleton } = createContainer({ box, signal }, read, isPage, emit);
  const root = /** @type {ShadowRoot} */ (element.shadowRoot);
  // The loader's sheet comes first.
  root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((sheet) => sheet !== STYLE), STYLE];
  // Those that the page around this one has sent stay.
  if (isPage && (parent === window || !element.style.length)) applyTheme(element, '--florin-', TOKENS.map((name) => [name, read('--florin-' + name)]));
  // With the current language alone, until host.js fills it.
  const menu = make('select', { className: 'language' }, make('option', { value: file, lang: file }));
  menu.setAttribute('part', 'language');
  /** Applies the theme of the order's store. @param {Promise<Opening>} opening */
  const applyThemeOf = async (opening) => {
    const { body } = await opening;
    if (body?.store) applyStore(body.store);
  };
  const store = given?.offer?.store || given?.store;
  // The list removes it in the same task.
  showSkeleton();
  // The request is sent: until it is answered there is time for what takes long at its first use.
  if (!given?.offer) prepareAmounts(locale);
  if (store) applyStore(store);
  applyThemeOf(first).catch(() => {});

  /** @type {OrderBody | undefined} What was found last: an order, an offer or a donation. */
  let sold;
  const wallets = announcedWallets();
  /** @type {Opening | undefined} The order or the offer, once its prices are there, until the program has it. */
  let known;
  let isTaken = false;
  let isWaiting = true;
  const opened = first.then(async (opening) => {
    sold = opening.body;
    known = { ...opening, quotes: await opening.quotes };
  });
  /** @type {{ body?: OrderBody, about?: HTMLElement }} What is sold, as it was drawn last. */
  let drawn = {};
  /** The summary of what was found last: one element for both lists. @param {Words} words */
  const drawAbout = (words) => {
    if (drawn.body !== sold) drawn = { body: sold, about: createAbout(sold, words, locale, isPage ? 'h1' : 'p') };
    return /** @type {HTMLElement} */ (drawn.about);
  };
  /** Replaces the skeleton: the list or the screens follow in the same task. @param {Words} words */
  const reveal = (words) => {
    if (isPage) document.documentElement.dir = String(words.direction);
    menu.ariaLabel = String(words.language);
    if (menu.length < 2) menu.options[0].text = String(words.language_name);
    removeSkeleton();
  };
  /** Repeats the press on a list that is gone. */
  const press = () => {
    const { pressed } = box.dataset;
    if (pressed) [...container.querySelectorAll('button')].find(({ dataset }) => dataset.testid === pressed)?.click();
  };
  let notePressed = () => {};
  /** @type {Promise<void>} */
  const pressed = new Promise((resolve) => (notePressed = resolve));
  const keepAsset = (/** @type {string} */ code) => {
    remember(LAST_ASSET, code, 'localStorage');
    notePressed();
  };
  /** Sends the choice from the list before the program, which begins with the answer or waits for it. @param {Quote} quote */
  const chooseEarly = async ({ crypto_code: code, quote_id: quote }) => {
    keepAsset(code);
    const opening = await choose(code, quote);
    if (opening.token && !isTaken) {
      known = opening;
      sold = opening.body;
      // A lost choice of another asset may have come first.
      if (/** @type {any} */ (sold).attempt?.crypto_code === code) showPayment(opening).catch(() => {});
    }
    return opening;
  };
  /** @type {ReturnType<Begun['instructions']>} */
  let instructions;
  /** Shows address and code in place of the list. @param {Opening} opening */
  const showPayment = async ({ body, qr_code: code }) => {
    const [script, style, words] = await loadingParts;
    if (signal.aborted || !isWaiting) return;
    instructions = script.INSTRUCTIONS.createInstructions(words, locale, base);
    const screen = instructions.begin(body, code);
    if (!screen) return;
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, style];
    early?.showPayment(screen);
  };
  /** @type {ReturnType<typeof createEarlyChoice>} */
  let early;
  const showEarlyChoice = async () => {
    const [words] = await Promise.all([loadingWords, opened]);
    // An asset that the page names is chosen at once, without a list.
    if (signal.aborted || !isWaiting || !known || read('asset')) return;
    try {
      early = createEarlyChoice(known, words, locale, { about: drawAbout(words), last: lastAsset(), wallets, menu, kept: box.dataset, choose: chooseEarly });
    } catch (error) {
      // The program shows the choice, or what is wrong with it.
      console.error('florin:', error);
    }
    if (!early) return;
    reveal(words);
    container.append(early.tree);
    press();
  };
  showEarlyChoice().catch(() => {});

  return {
    box,
    container,
    menu,
    read,
    file,
    locale,
    giveWords: hasWords ? undefined : giveWords,
    giveParts,
    emit,
    first,
    opened,
    pressed,
    list: () => early,
    instructions: () => instructions,
    /** Shows the screens in place of what was shown. @param {Words} words */
    handOver: (words) => {
      isWaiting = false;
      reveal(words);
      early?.tree.remove();
    },
    host: {
      base,
      locale,
      menu,
      asset: read('asset') || '',
      heading: isPage ? 'h1' : 'p',
      remember: keepAsset,
      wallets,
      list: (words, quotes) => createList(clean(/** @type {any} */ (sold)), quotes, words, locale, { last: lastAsset(), wallets }),
      uncached,
      may_exist: mayExist,
      take_opening: () => {
        const opening = isTaken ? undefined : known;
        isTaken ||= !!opening;
        return opening;
      },
      open: async (again, amount) => {
        const opening = isTaken ? open(again, amount) : first;
        isTaken = true;
        applyThemeOf(opening).catch(() => {});
        const found = await opening;
        // After a refusal, what was found before is still shown.
        if (!found.body.error) sold = found.body;
        return found;
      },
      choose: async (code, quote) => {
        const found = await choose(code, quote);
        if (found.token) sold = found.body;
        return found;
      },
      about: drawAbout,
      early_payment: (due) => instructions?.early(due),
    },
  };
};

/** One checkout on the page: opens the order, loads program, style and texts, and mounts the screens. */
import { chooseLanguage } from '../locale.js';
import { followTopLink } from '../top_links.js';
import { recall, remember } from '../storage.js';
import { createEarlyChoice } from './early_choice.js';
import { BASE, loadPayment, loadPaymentScript, loadPaymentStyle, loadProgram, loadStyle, loadTheme, showIcon } from './files.js';
import { createContainer } from './container.js';
import { GLYPHS } from './glyphs.js';
import { LANGUAGES, createMenu, createWords, focusAgain } from './language.js';
import { opener, uncached } from './order.js';
import { clean, createAbout, prepareAmounts } from './summary.js';
import { createWallets } from './wallets.js';
/** @import { Context, Labels, Opening, OrderBody, Quote, Read, Words } from '../types.d.ts' */

/** The longest that the screens wait for the order; then they show that they wait. */
const PATIENCE_MS = 3000;
/** The longest that they wait for its prices after that. */
const PRICES_PATIENCE_MS = 400;
/** Where the asset that was chosen last is kept. */
const LAST_ASSET = 'florin:asset';
const lastAsset = () => recall(LAST_ASSET, 'localStorage') || '';

/**
 * Loads the proxy's page again without its Cross-Origin-Embedder-Policy, unless it has none: the gateway's page, which this
 * one is to frame, sends none either.
 *
 * @param {Opening} opening @returns {Opening | Promise<never>}
 */
const reopenWithoutPolicy = (opening) => {
  const query = new URLSearchParams(location.search);
  if (query.has('hosted')) return opening;
  query.set('hosted', '');
  location.replace('?' + query + location.hash);
  return new Promise(() => {});
};

/**
 * Shows a checkout in the element.
 *
 * @param {Context} context
 * @param {Read} read
 * @param {boolean} isPage Whether this is the proxy's page.
 */
export const showCheckout = async (context, read, isPage) => {
  const { element, box, signal } = context;
  box.addEventListener('click', (event) => followTopLink(event, () => context.examine({ isSandboxed: true })), { signal });
  /** @param {string} name @param {unknown} [detail] */
  const emit = (name, detail) => element.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
  const { open, choose, mayExist } = opener(read);
  /** Whether the gateway's page may be framed. */
  const embed = isPage && parent !== window && read('display') !== 'redirect';
  const first = open(false).then((opening) => (embed && opening.body?.flow === 'hosted' ? reopenWithoutPolicy(opening) : opening));
  let isFirst = true;
  let isRefused = false;
  /** Whether the order is beyond the asset choice. */
  const isChosen = first.then(({ body }) => !!body?.status && (body.status !== 'open' || body.flow === 'hosted'), () => false);
  /** Then the payment's screens are needed at once: beside the program, not after it. */
  const loadPaymentParts = () => Promise.all([loadPayment(context.load), loadPaymentStyle(context.load), loadPaymentScript(context.load)]).catch(() => {});
  isChosen.then((isNeeded) => void (isNeeded && loadPaymentParts()));
  // The language of a shop's page counts; that of the proxy's page is set here.
  const [file, locale] = chooseLanguage((tag) => LANGUAGES.has(tag), read('locale'), !isPage && document.documentElement.lang);
  if (isPage) document.documentElement.lang = file;
  /** What of a refusal the merchant can mend. @param {Opening} opening */
  const examine = ({ body }) => {
    const { code, reason } = body?.error || {};
    if (code === 'origin_not_allowed') context.examine({ isRejected: true });
    else if (reason) {
      isRefused = true;
      context.examine({ reason });
    }
  };
  first.then(examine, () => void (isPage || context.examine({})));
  const texts = createWords(file, read('words'));
  const wallets = createWallets(context, texts.wallets);
  const loadingWords = texts.first().then(clean);
  loadingWords.catch(() => {});
  let isWaiting = true;
  const { container, showSkeleton, applyTheme, removeSkeleton } = createContainer(context, read, isPage, emit);
  const style = Promise.all([loadStyle(context.load), loadTheme(context.load)]).then(([sheet, theme]) => {
    // The loader's sheet comes first.
    const root = /** @type {ShadowRoot} */ (element.shadowRoot);
    root.adoptedStyleSheets = [root.adoptedStyleSheets[0], sheet];
    showSkeleton(theme);
    return theme;
  });
  const loadingProgram = loadProgram(context.load);
  loadingProgram.catch(() => {});
  // All requests are sent: until they are answered there is time for what takes long at its first use.
  const menu = createMenu(context, file);
  prepareAmounts(locale);
  /** Applies the theme of the order's store. @param {Promise<Opening>} opening */
  const applyThemeFor = async (opening) => {
    const [theme, { body }] = await Promise.all([style, opening]);
    if (body?.store) applyTheme(theme, body.store);
  };
  // While the prices are on their way: a theme takes long to apply.
  applyThemeFor(first).catch(() => {});
  const keepAsset = (/** @type {string} */ code) => {
    remember(LAST_ASSET, code, 'localStorage');
    // Beside the gateway's response.
    wallets.prepare();
  };
  /** Sends the choice from the list before the program, which begins with the answer or waits for it. @param {Quote} quote */
  const chooseEarly = async ({ crypto_code: code, quote_id: quote }) => {
    keepAsset(code);
    loadPaymentParts();
    const opening = await choose(code, quote);
    if (opening.token && isFirst) known = opening;
  };
  /** @type {OrderBody | undefined} What was found last: an order, an offer or a donation. */
  let sold;
  /** @type {Opening | undefined} The order, once its prices are there. */
  let known;
  const opened = first.then(async (opening) => {
    sold = opening.body;
    known = { ...opening, quotes: await opening.quotes };
  });
  /** Replaces the skeleton: the list or the screens follow in the same task. @param {Words} words */
  const reveal = (words) => {
    if (isPage) document.documentElement.dir = String(words.direction);
    menu.ariaLabel = String(words.language);
    removeSkeleton();
  };
  /** Repeats the press on a list that is gone. */
  const press = () => {
    const { pressed } = box.dataset;
    if (pressed) [...container.querySelectorAll('button')].find(({ dataset }) => dataset.testid === pressed)?.click();
  };
  /** @type {{ body?: OrderBody, about?: HTMLElement }} What is sold, as it was drawn last. */
  let drawn = {};
  /** The summary of what was found last: one element for both lists. @param {Words} words */
  const drawAbout = (words) => {
    if (drawn.body !== sold) drawn = { body: sold, about: createAbout(sold, words, locale, isPage ? 'h1' : 'p') };
    return /** @type {HTMLElement} */ (drawn.about);
  };
  /** @type {ReturnType<typeof createEarlyChoice>} */
  let early;
  const showEarlyChoice = async () => {
    const [words] = await Promise.all([loadingWords, style, opened]);
    // An asset that the page names is chosen at once, without a list.
    if (signal.aborted || !isWaiting || !known || read('asset')) return;
    try {
      early = createEarlyChoice(known, words, locale, { about: drawAbout(words), last: lastAsset(), menu, kept: box.dataset, choose: (quote) => chooseEarly(quote).catch(() => {}) });
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
  try {
    // Without the order and its prices the screens would start smaller than they soon are, and what is below would move.
    const pause = (/** @type {number} */ time) => new Promise((done) => {
      const timer = setTimeout(done, time);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const priced = async () => {
      await first;
      await Promise.race([opened, pause(PRICES_PATIENCE_MS)]);
    };
    const patience = Promise.race([priced(), pause(PATIENCE_MS)]).catch(() => {});
    const [words, program] = await Promise.all([loadingWords, loadingProgram, style, patience]);
    await early?.released();
    if (signal.aborted) return;
    isWaiting = false;
    reveal(words);
    const repeat = early?.remove(container);
    let isReady = false;
    const paymentScript = () => loadPaymentScript(context.load);
    const mounted = program.mount(container, {
      base: BASE,
      words,
      locale,
      menu,
      asset: read('asset') || '',
      recall: lastAsset,
      remember: keepAsset,
      heading: isPage ? 'h1' : 'p',
      repeatable: !read('client-token') && !read('order-token'),
      embed,
      glyph: (/** @type {string} */ symbol) => GLYPHS.get(symbol),
      take_opening: () => {
        const opening = isFirst ? known : undefined;
        if (opening) isFirst = false;
        return opening;
      },
      open: (/** @type {boolean} */ again, /** @type {string} */ amount) => {
        const opening = isFirst ? first : open(again, amount);
        isFirst = false;
        applyThemeFor(opening).catch(() => {});
        return opening.then((found) => {
          sold = found.body;
          return found;
        });
      },
      about: () => drawAbout(words),
      choose: (/** @type {string} */ code, /** @type {string} */ quote) => {
        const opening = choose(code, quote);
        return opening.then((found) => {
          examine(found);
          if (found.token) sold = found.body;
          return found;
        });
      },
      uncached,
      may_exist: mayExist,
      load_payment: () => {
        const script = paymentScript();
        script.catch(() => {});
        return Promise.all([texts.payment(), loadPaymentStyle(context.load), loadPayment(context.load), isChosen.then((isNeeded) => (isNeeded ? wallets.prepare() : undefined))]).then(async ([words, sheet]) => {
          (await script).keepTexts(container, signal);
          const root = /** @type {ShadowRoot} */ (element.shadowRoot);
          root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
          return words;
        }).catch((error) => {
          console.error('florin:', error);
          if (error.status !== 404) throw error;
          return null;
        });
      },
      wallets: wallets.show,
      // The page receives the first status after `florin-ready`.
      emit: (/** @type {string} */ name, /** @type {unknown} */ detail) => (isReady ? emit(name, detail) : queueMicrotask(() => emit(name, detail))),
      mark: showIcon,
      // In the next frame the screens are up to date.
      print: () => requestAnimationFrame(async () => (await paymentScript()).printAlone(element)),
      may_stream: async (/** @type {AbortSignal} */ ended) => (await paymentScript()).mayStream(ended),
    });
    // An event of the first screen may have removed the element: an aborted signal calls no listener.
    if (signal.aborted) return program.unmount(mounted);
    signal.addEventListener('abort', () => program.unmount(mounted));
    context.onRefresh(() => program.refresh(mounted));
    repeat?.();
    press();
    delete box.dataset.pressed;
    focusAgain(element, menu);
    // The diagnostics of an earlier attempt no longer hold.
    if (!isRefused) element.shadowRoot?.querySelector('.fl-diagnostics')?.remove();
    isReady = true;
    emit('ready');
  } catch (error) {
    isWaiting = false;
    context.fail(error, { texts: /** @type {Partial<Labels> | undefined} */ (await loadingWords.catch(() => undefined)), locale });
  }
};

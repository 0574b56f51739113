/** One checkout on the page: opens the order, loads program, style and texts, and mounts the screens. */
import { TOKENS } from '../attributes.js';
import { make } from '../dom.js';
import { chooseLanguage } from '../locale.js';
import { recall, remember } from '../storage.js';
import { createEarlyChoice } from './early_choice.js';
import { BASE, loadPayment, loadPaymentStyle, loadProgram, loadStyle, loadTheme, showIcon } from './files.js';
import { GLYPHS } from './glyphs.js';
import { LANGUAGES, createMenu, createWords, focusAgain } from './language.js';
import { opener } from './order.js';
import { printAlone } from './print.js';
/** @import { Context, Labels, Opening, Read, Store } from '../types.d.ts' */

/** The longest that the screens wait for the order; then they show that they wait. */
const PATIENCE_MS = 3000;
/** The longest that they wait for its prices after that. */
const PRICES_PATIENCE_MS = 400;
/** When colours are checked inline: the checkout is on the screen by then. */
const CHECK_AFTER_MS = 2000;
/** A contrast below which text is hidden. */
const HIDDEN_CONTRAST = 2;
/** Where the asset that was chosen last is kept. */
const LAST_ASSET = 'florin:asset';
const lastAsset = () => recall(LAST_ASSET, 'localStorage') || '';

/**
 * Shows a checkout in the element.
 *
 * @param {Context} context
 * @param {Read} read
 * @param {boolean} isPage Whether this is the proxy's page.
 */
export const showCheckout = async (context, read, isPage) => {
  const { element, box, signal } = context;
  /** @param {string} name @param {unknown} [detail] */
  const emit = (name, detail) => element.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
  const open = opener(read);
  const first = open(false);
  let isFirst = true;
  // Beyond the asset choice, the payment's screens are needed at once: beside the program, not after it.
  first.then(async ({ body }) => {
    if (body?.status && (body.status !== 'open' || body.flow === 'hosted')) await Promise.all([loadPayment(context.load), loadPaymentStyle(context.load)]);
  }).catch(() => {});
  // After the first request is sent: a browser's first use of languages takes long. The language of a shop's page counts;
  // that of the proxy's page is set here.
  const [file, locale] = chooseLanguage((tag) => LANGUAGES.has(tag), read('locale'), !isPage && document.documentElement.lang);
  if (isPage) document.documentElement.lang = file;
  // A page that the proxy does not let in reads no response, or this one.
  if (!isPage) first.then(({ body }) => void (body?.error?.code === 'origin_not_allowed' && context.reportRejected(true)), () => context.reportRejected());
  const themed = (/** @type {Node[]} */ ...children) => {
    const place = make('div', { className: 'theme' }, ...children);
    place.dataset.theme = read('theme') || '';
    return place;
  };
  /**
   * @param {HTMLElement} shown @param {typeof import('../theme.js')} theme
   * @param {Store} [store] Missing while the order loads.
   */
  const appear = (shown, theme, store) => {
    box.replaceChildren(shown);
    if (store || isPage) theme.applyStoreTheme(shown, read('theme'), store || theme.announcedTheme(), isPage);
  };
  const place = themed();
  const bar = () => make('div', { className: 'bar' });
  const skeleton = make('div', { className: 'florin' }, make('aside', { className: 'summary' }, bar(), bar()), make('section', { className: 'main' }, bar(), bar(), bar(), bar()));
  skeleton.setAttribute('aria-busy', 'true');
  const texts = createWords(file, read('words'));
  const loadingWords = texts.first();
  loadingWords.catch(() => {});
  let isWaiting = true;
  const style = Promise.all([loadStyle(context.load), loadTheme(context.load)]).then(([sheet, theme]) => {
    // The loader's sheet comes first.
    const root = /** @type {ShadowRoot} */ (element.shadowRoot);
    root.adoptedStyleSheets = [root.adoptedStyleSheets[0], sheet];
    if (!signal.aborted && isWaiting) appear(themed(skeleton), theme);
    return theme;
  });
  let lastWidth = 0;
  const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => {
    // Empty or hidden, it has no height to report.
    if (!height) return;
    // Inline, the checkout does not shrink while its width stays: what is below keeps its place.
    if (!isPage) place.style.setProperty('--florin-min-height', width === lastWidth ? height + 'px' : '');
    lastWidth = width;
    emit('resize', { height: Math.ceil(height) });
  });
  observer.observe(place);
  signal.addEventListener('abort', () => observer.disconnect());
  /** @type {Opening | undefined} The order, once its prices are there. */
  let known;
  const opened = first.then(async (opening) => {
    known = { ...opening, quotes: await opening.quotes };
    return opening;
  });
  // The store whose theme is applied.
  /** @type {Store | undefined} */
  let dressed;
  const isAlone = isPage && parent === window;
  /**
   * Puts `place` on the page. A theme changes every style in the place: nothing is in it yet.
   *
   * @param {typeof import('../theme.js')} theme
   * @param {Store} [store]
   */
  const dress = (theme, store) => {
    appear(place, theme, dressed = store);
    if (store) check(theme);
  };
  /** @param {typeof import('../theme.js')} theme */
  const check = (theme) => {
    const look = () => {
      // Anybody can send a link: its colours are removed where they hide the text.
      if (!signal.aborted && theme.checkContrast(place) < HIDDEN_CONTRAST && isAlone) theme.applyTheme(element, '--florin-', TOKENS.map((name) => [name, null]));
    };
    // Once the screen is painted: the merchant's warnings take long, and no customer waits for them.
    setTimeout(look, isAlone ? 0 : CHECK_AFTER_MS);
  };
  /** @type {ReturnType<typeof createEarlyChoice>} */
  let early;
  const showEarlyChoice = async () => {
    const [words, theme] = await Promise.all([loadingWords, style, opened]);
    // An asset that the page names is chosen at once, without a list.
    if (signal.aborted || !isWaiting || !known || read('asset')) return;
    early = createEarlyChoice(known, words, locale, { isPage, last: lastAsset(), menu: createMenu(context, String(words.language), file) });
    if (!early) return;
    if (isPage) document.documentElement.dir = String(words.direction);
    dress(theme, known.body.store);
    place.append(early.tree);
  };
  showEarlyChoice().catch((error) => console.error('florin:', error));
  try {
    // Without the order and its prices the screens would start smaller than they soon are, and what is below would move.
    const pause = (/** @type {number} */ time) => new Promise((done) => setTimeout(done, time));
    const priced = async () => {
      await first;
      await Promise.race([opened, pause(PRICES_PATIENCE_MS)]);
    };
    const patience = Promise.race([priced(), pause(PATIENCE_MS)]).catch(() => {});
    const [words, program, theme] = await Promise.all([loadingWords, loadProgram(context.load), style, patience]);
    await early?.released();
    if (signal.aborted) return;
    isWaiting = false;
    if (!early) {
      if (isPage) document.documentElement.dir = String(words.direction);
      dress(theme, known?.body?.store);
    }
    const menu = early?.menu || createMenu(context, String(words.language), file);
    const repeat = early?.remove(place);
    let isReady = false;
    const mounted = program.mount(place, {
      base: BASE,
      words,
      locale,
      menu,
      asset: read('asset') || '',
      recall: lastAsset,
      remember: (/** @type {string} */ code) => remember(LAST_ASSET, code, 'localStorage'),
      heading: isPage ? 'h1' : 'p',
      repeatable: !read('client-token') && !read('order-token'),
      embed: !!isPage && parent !== window && read('display') !== 'redirect',
      glyph: (/** @type {string} */ symbol) => GLYPHS.get(symbol),
      take_opening: () => {
        const opening = isFirst ? known : undefined;
        if (opening) isFirst = false;
        return opening;
      },
      open: (/** @type {boolean} */ again, /** @type {string} */ amount) => {
        const opening = isFirst ? first : open(again, amount);
        isFirst = false;
        opening.then(({ body }) => {
          if (dressed || signal.aborted || !body.store) return;
          dressed = body.store;
          theme.applyStoreTheme(place, read('theme'), dressed, isPage);
          check(theme);
        }, () => {});
        return opening;
      },
      load_payment: () => Promise.all([texts.payment(), loadPaymentStyle(context.load), loadPayment(context.load)]).then(([words, sheet]) => {
        const root = /** @type {ShadowRoot} */ (element.shadowRoot);
        root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
        return words;
      }, (error) => {
        console.error('florin:', error);
        if (error.status !== 404) throw error;
        return null;
      }),
      // The page hears of the first status after `florin-ready`.
      emit: (/** @type {string} */ name, /** @type {unknown} */ detail) => (isReady ? emit(name, detail) : queueMicrotask(() => emit(name, detail))),
      mark: showIcon,
      // In the next frame the screens are up to date.
      print: () => requestAnimationFrame(() => printAlone(element)),
    });
    // An event of the first screen may have removed the element: an aborted signal calls no listener.
    if (signal.aborted) return program.unmount(mounted);
    signal.addEventListener('abort', () => program.unmount(mounted));
    context.onRefresh(() => program.refresh(mounted));
    repeat?.();
    focusAgain(element, menu);
    // The diagnostics of an earlier attempt no longer hold.
    element.shadowRoot?.querySelector('.fl-diagnostics')?.remove();
    isReady = true;
    emit('ready');
  } catch (error) {
    isWaiting = false;
    context.fail(error, /** @type {Partial<Labels> | undefined} */ (await loadingWords.catch(() => undefined)), locale);
  }
};

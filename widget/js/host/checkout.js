/** The program of one checkout: loaded with texts and wallets, and mounted in place of what was shown until then. */
import { TOKENS } from '../attributes.js';
import { clean } from '../clean.js';
import { checkContrast } from '../contrast.js';
import { followTopLink } from '../top_links.js';
import { loadPayment, loadPaymentScript, loadPaymentStyle, loadProgram, showIcon } from './files.js';
import { followHistory } from './history.js';
import { createWords, fillMenu, focusAgain } from './language.js';
import { createLists } from './list.js';
import { followOtherTabs, showOtherTab } from './other_tabs.js';
import { createWallets } from './wallets.js';
/** @import { Begun, Context, CopyButton, Labels, ListCalls, Opening, WalletPayment, Words } from '../types.d.ts' */

/** The longest that the screens wait for the order; then they show that they wait. */
const PATIENCE_MS = 3000;
/** The longest that they wait for its prices after that. */
const PRICES_PATIENCE_MS = 400;
/** When colours are checked inline: the checkout is on the screen by then. */
const CHECK_AFTER_MS = 2000;
const VIBRATION_MS = 40;
/** A contrast below which text is hidden. */
const HIDDEN_CONTRAST = 2;

/** The style of the program's first screens. */
const SCREENS_STYLE = new CSSStyleSheet();
SCREENS_STYLE.replaceSync('%SCREENS_STYLE%');

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

/** The store that the proxy's page came with, where there is no offer of it. */
const findStore = () => {
  const first = JSON.parse(document.getElementById('first')?.textContent || 'null');
  return first?.store && clean({ ...first.store, return_url: first.return_url });
};

/**
 * @param {Context} context
 * @param {Begun} begun
 * @param {boolean} isPage Whether this is the proxy's page.
 */
export const showCheckout = async (context, begun, isPage) => {
  const { element, box, signal } = context;
  const { container, emit, file, host, locale, menu, read } = begun;
  const root = /** @type {ShadowRoot} */ (element.shadowRoot);
  /** @param {CSSStyleSheet} sheet */
  const adopt = (sheet) => {
    root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((one) => one !== sheet), sheet];
  };
  // The payment that is shown before the program needs it as well.
  adopt(SCREENS_STYLE);
  box.addEventListener('click', (event) => followTopLink(event, () => context.examine({ isSandboxed: true })), { signal });
  const isAlone = isPage && parent === window;
  /** Whether the gateway's page may be framed. */
  const embed = isPage && !isAlone && read('display') !== 'redirect';
  const first = begun.first.then((opening) => (embed && opening.body?.flow === 'hosted' ? reopenWithoutPolicy(opening) : opening));
  let isRefused = false;
  /** Whether the order is beyond the asset choice. */
  const isChosen = first.then(({ body }) => !!body?.status && (body.status !== 'open' || body.flow === 'hosted'), () => false);
  /** Then the payment's screens are needed at once: beside the program, not after it. */
  const loadPaymentScreens = () => void loadPayment(context.load).catch(() => {});
  isChosen.then((isNeeded) => isNeeded && loadPaymentScreens());
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
  const loadingWords = texts.first();
  loadingWords.catch(() => {});
  begun.giveWords?.(loadingWords);
  const wallets = createWallets(context, async () => ({ ...await loadingWords, ...await texts.wallets() }));
  const loadingProgram = loadProgram(context.load);
  loadingProgram.catch(() => {});
  fillMenu(menu, context, file);
  // Beside the gateway's response.
  begun.pressed.then(() => {
    wallets.prepare();
    loadPaymentScreens();
  });
  /** What their first screen is drawn with. */
  const loadParts = () => Promise.all([loadPaymentScript(context.load), loadPaymentStyle(context.load), texts.payment()]);
  // The list and what it needs come first.
  let parts = begun.opened.then(loadParts);
  parts.catch(() => {});
  begun.giveParts(parts);
  /** The merchant's warnings take long, and no customer waits for them. Any site can send a link: its colours are removed where they hide the text. */
  const checkColors = () => {
    if (!signal.aborted && checkContrast(container) < HIDDEN_CONTRAST && isAlone) TOKENS.forEach((name) => element.style.removeProperty('--florin-' + name));
  };
  first.then(() => {
    const timer = setTimeout(checkColors, isAlone ? 0 : CHECK_AFTER_MS);
    signal.addEventListener('abort', () => clearTimeout(timer));
  }, () => {});
  try {
    // Without the order and its prices the screens would start smaller than they soon are, and what is below would move.
    const pause = (/** @type {number} */ time) => new Promise((done) => {
      const timer = setTimeout(done, time);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const priced = async () => {
      await first;
      await Promise.race([begun.opened, pause(PRICES_PATIENCE_MS)]);
    };
    const patience = Promise.race([priced(), pause(PATIENCE_MS)]).catch(() => {});
    const [words, program] = await Promise.all([loadingWords, loadingProgram, patience]);
    await begun.list()?.released();
    if (signal.aborted) return;
    // Until here, what the page's script has begun is there for another attempt.
    element.begun = undefined;
    signal.addEventListener('abort', () => begun.end?.());
    const { activeElement } = root;
    const early = begun.list();
    /** The list that the customer has, for the program's first screen alone. */
    let given = early?.list.isConnected ? { ...early, pressed: box.dataset.pressed } : undefined;
    begun.handOver(words);
    delete box.dataset.pressed;
    const showList = createLists(element, host, words, wallets.prefer, program.network);
    let isReady = false;
    /** Whether the customer waits for a notification. */
    let isNotifying = false;
    /** How many the page has shown: an order that was paid before is the first. */
    let statuses = 0;
    /** The order has become paid on the open page: a phone vibrates, and a customer who waits for it is notified. */
    const celebrate = () => {
      const [title, store] = ['h2', '.store bdi'].map((selector) => container.querySelector(selector)?.textContent || '');
      // Browsers refuse to vibrate, with a message, before the customer has pressed anything.
      if (matchMedia('(pointer: coarse)').matches && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(VIBRATION_MS);
      if (isNotifying) drawing.notifications.show(title, store);
    };
    const paymentScript = () => loadPaymentScript(context.load);
    /** @type {typeof import('../payment.js').INSTRUCTIONS & { words: Words }} What draws the screens after the choice, once they are loaded. */
    let drawing;
    /** @type {ReturnType<Begun['instructions']>} */
    let instructions;
    /** @param {HTMLElement} place @param {WalletPayment} payment @param {boolean} isProgress */
    const showWallets = (place, payment, isProgress) => {
      // Where nothing names the payment, a wallet could be asked for another one.
      if (drawing.opensWallet(payment) || payment.to) wallets.show(place, payment, isProgress);
    };
    const sold = read('product') || read('donation');
    const showOrder = isPage && followOtherTabs(sold ? read('store') + '/' + sold : '', signal, (isElsewhere) => queueMicrotask(() => showOtherTab(container, String(words.other_tab), isElsewhere)));
    const noteList = isAlone && followHistory(begun.pressed, signal, (isList) => program.show_list(mounted, isList));
    /** @type {number} */
    const mounted = program.mount(container, {
      ...host,
      words,
      repeatable: !read('client-token') && !read('order-token'),
      embed,
      about: () => host.about(words),
      list: (/** @type {HTMLElement} */ place, /** @type {ListCalls} */ calls, /** @type {boolean} */ mayLeave) => showList(place, calls, mayLeave, given),
      take_opening: () => {
        const opening = host.take_opening();
        const attempt = /** @type {any} */ (opening?.body.attempt);
        // The program may come long after the response.
        if (attempt && opening?.at) attempt.expires_in_seconds = Math.max(0, attempt.expires_in_seconds - Math.round((Date.now() - opening.at) / 1000));
        return opening;
      },
      choose: async (/** @type {string} */ code, /** @type {string} */ quote) => {
        const found = await host.choose(code, quote);
        examine(found);
        return found;
      },
      load_payment: async () => {
        try {
          const loading = parts.catch(() => (parts = loadParts()));
          const [[script, sheet, words]] = await Promise.all([loading, loadPayment(context.load), isChosen.then((isNeeded) => (isNeeded ? wallets.prepare() : undefined))]);
          drawing = { ...script.INSTRUCTIONS, words };
          script.keepTexts(container, signal);
          adopt(sheet);
          return words;
        } catch (error) {
          console.error('florin:', error);
          if (/** @type {any} */ (error).status !== 404) throw error;
          return null;
        }
      },
      instructions: (/** @type {HTMLElement} */ place, /** @type {WalletPayment} */ payment) => {
        instructions ||= begun.instructions() || drawing.createInstructions(drawing.words, locale, host.base);
        showWallets(instructions.show(place, payment), payment, false);
      },
      copy_button: (/** @type {HTMLElement} */ place, /** @type {CopyButton} */ button) => place.append(...drawing.createCopyButton(drawing.words, button).childNodes),
      wallets: (/** @type {HTMLElement} */ place, /** @type {WalletPayment} */ payment) => showWallets(place, payment, true),
      // The page receives the first status after `florin-ready`.
      emit: (/** @type {string} */ name, /** @type {unknown} */ detail) => {
        if (name === 'status') statuses += 1;
        // Its screen is there after this task.
        if (name === 'paid' && statuses > 1) setTimeout(celebrate);
        if (isReady) emit(name, detail);
        else queueMicrotask(() => emit(name, detail));
      },
      mark: showIcon,
      store: () => (isPage && findStore()) || undefined,
      shows: (/** @type {string} */ screen, /** @type {string} */ order) => {
        if (showOrder) showOrder(order);
        if (noteList && screen) noteList(screen === 'list');
      },
      notify_button: (/** @type {HTMLElement} */ place) => {
        if (!isNotifying && drawing.notifications.mayAsk()) place.append(drawing.notifications.createButton(drawing.words, () => (isNotifying = true)));
      },
      notifies: () => isNotifying,
      // In the next frame the screens are up to date.
      print: () => requestAnimationFrame(async () => (await paymentScript()).printAlone(element)),
      may_stream: async (/** @type {AbortSignal} */ ended) => (await paymentScript()).mayStream(ended),
    });
    // An event of the first screen may have removed the element: an aborted signal calls no listener.
    if (signal.aborted) return program.unmount(mounted);
    signal.addEventListener('abort', () => program.unmount(mounted));
    context.onRefresh(() => program.refresh(mounted));
    // The list has appeared already: it must not fade in again.
    if (early) container.querySelector('.screen')?.getAnimations().forEach((animation) => animation.finish());
    // The screens have taken by then what was there before them.
    setTimeout(() => {
      given = undefined;
      if (activeElement?.isConnected) /** @type {HTMLElement} */ (activeElement).focus();
    });
    focusAgain(element, menu);
    // The diagnostics of an earlier attempt no longer hold.
    if (!isRefused) root.querySelector('.fl-diagnostics')?.remove();
    isReady = true;
    emit('ready');
  } catch (error) {
    context.fail(error, { texts: /** @type {Partial<Labels> | undefined} */ (await loadingWords.catch(() => undefined)), locale });
  }
};

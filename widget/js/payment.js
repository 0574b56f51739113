/**
 * What the screens after the asset choice need of the page: the instructions, notifications, places for event streams, texts that a
 * translator has replaced, and the receipt on paper. Loaded before those screens.
 */
import { h } from './drawing.js';
import { createCopyButton, createInstructions, opensWallet } from './instructions.js';
/** @import { Words } from './types.d.ts' */

/** Whether no page of another origin is around this one: browsers refuse to let its frames notify. */
const isOwnWindow = () => {
  try {
    return top?.location.origin === location.origin;
  } catch {
    return false;
  }
};
/** Notifications of the system. Browsers of phones show those of installed pages alone. */
const notifications = {
  mayAsk: () => 'Notification' in window && Notification.permission !== 'denied' && isOwnWindow() && !matchMedia('(pointer: coarse)').matches,
  /** A button that asks for them; what came of it takes its place. @param {Words} words @param {() => void} allow */
  createButton: (words, allow) => {
    const button = h('button', { type: 'button', class: 'secondary', part: 'button secondary', 'data-testid': 'notify' }, String(words.notify));
    button.onclick = async () => {
      const isAllowed = (await Notification.requestPermission()) === 'granted';
      const answer = h('p', { class: 'quiet notified', tabindex: '-1', 'data-testid': 'notified' }, String(isAllowed ? words.notify_on : words.notify_refused));
      button.replaceWith(answer);
      answer.focus();
      if (isAllowed) allow();
    };
    return button;
  },
  /** Shows one while the page is hidden; a press on it shows the page. @param {string} title @param {string} body */
  show: (title, body) => {
    if (!document.hidden) return;
    const shown = new Notification(title, { body });
    shown.onclick = () => {
      focus();
      shown.close();
    };
  },
};

export const INSTRUCTIONS = { createCopyButton, createInstructions, notifications, opensWallet };

/**
 * Places for streams. Over HTTP/1.1 a browser has six connections to a host, which all frames and tabs of an origin share: a
 * stream holds one for as long as it is open. Checkouts without a place poll.
 */
const PLACES = 2;

/**
 * Resolves with `true` once a place is held, until `signal` ends it; with `false` where all are taken, or the browser has no
 * locks.
 *
 * @param {AbortSignal} signal
 */
export const mayStream = (signal) => new Promise((done) => {
  /** @param {number} place @returns {Promise<unknown>} */
  const take = async (place) => place < PLACES && !signal.aborted
    ? navigator.locks.request('florin:stream' + place, { ifAvailable: true }, (lock) => {
      if (!lock) return take(place + 1);
      done(true);
      return new Promise((end) => (signal.aborted ? end(0) : signal.addEventListener('abort', end)));
    })
    : done(false);
  take(0).catch(() => done(false));
});

/**
 * Lets texts change on a page that is translated. A translator puts `<font>` elements in the places of text nodes, which the
 * program holds: one that changes takes its place again, and is translated anew.
 *
 * @param {Node} root @param {AbortSignal} signal
 */
export const keepTexts = (root, signal) => {
  /** @type {WeakMap<Node, ChildNode>} The element in the place of each text. */
  const places = new WeakMap();
  const isFont = (/** @type {Node | null} */ node) => node?.nodeName === 'FONT';
  const observer = new MutationObserver((records) => {
    for (const { type, target, addedNodes, removedNodes, previousSibling, nextSibling } of records) {
      if (type === 'characterData') {
        if (!target.isConnected) places.get(target)?.replaceWith(target);
        continue;
      }
      const place = [addedNodes[0], previousSibling, nextSibling].find(isFont);
      for (const text of removedNodes) {
        if (!place || text.nodeType !== Node.TEXT_NODE) continue;
        places.set(text, /** @type {ChildNode} */ (place));
        observer.observe(text, { characterData: true });
      }
    }
  });
  observer.observe(root, { childList: true, subtree: true });
  signal.addEventListener('abort', () => observer.disconnect());
};

const PRINTED = 'data-florin-printed';
/** Hides all of a shop's page but the checkout and what it is in. */
const PAPER = `@media print{body :not([${PRINTED}]){display:none!important}[${PRINTED}]{position:static!important;overflow:visible!important;height:auto!important;max-height:none!important;border:0!important;box-shadow:none!important;background:#fff!important}}`;

/** Prints the element without the page around it. */
export const printAlone = (/** @type {HTMLElement} */ element) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PAPER);
  /** @type {Element[]} */
  const printed = [];
  /** @type {Node | null} */
  let at = element;
  while (at) {
    if (at instanceof Element) printed.push(at);
    at = at.parentNode || (at instanceof ShadowRoot ? at.host : null);
  }
  const mark = (/** @type {boolean} */ isPrinted) => printed.forEach((at) => at.toggleAttribute(PRINTED, isPrinted));
  const sheets = document.adoptedStyleSheets;
  mark(true);
  document.adoptedStyleSheets = [...sheets, sheet];
  addEventListener('afterprint', () => {
    mark(false);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  }, { once: true });
  print();
};

/**
 * Other tabs of this browser: two of them with one product would make two orders, and both could be paid. Each tab announces what
 * it shows; only pages of the same origin receive it.
 */

import { make } from '../dom.js';

/** @typedef {{ tab: string, order: string, source: string, isGone?: boolean }} Announcement `order`: one that can be paid; empty for none. */

const OWN = 'florinTabs';
/** @type {Set<string>} Those of this document: its frames and elements may show one order. */
const own = (/** @type {any} */ (window)[OWN] ||= new Set());

/** Whether a checkout is on the same page as this one, in this document or in a frame beside it. @param {string} tab */
const isBeside = (tab) => [window, ...Array.from({ length: parent.length }, (_, number) => parent[number])].some((one) => {
  try {
    return /** @type {any} */ (one)[OWN]?.has(tab);
  } catch {
    // A frame of another origin.
    return false;
  }
});

/**
 * Follows the tabs that show the same. Returns what takes the id of the order that can be paid here, or nothing.
 *
 * @param {string} source The store, and the product or donation; empty for a token, which opens one order in all tabs.
 * @param {AbortSignal} signal
 * @param {(isElsewhere: boolean) => void} report
 */
export const followOtherTabs = (source, signal, report) => {
  const tab = String(Math.random());
  own.add(tab);
  /** @type {Map<string, Announcement>} */
  const others = new Map();
  let order = '';
  /** The order here that was also elsewhere: the other one may be paid by now. */
  let doubled = '';
  /** @type {BroadcastChannel | undefined} */
  let channel;
  const isSame = (/** @type {Announcement} */ other) => other.order && (other.order === order || (source && other.source === source));
  const draw = () => {
    const isElsewhere = [...others.values()].some(isSame);
    if (isElsewhere) doubled = order;
    report(isElsewhere || (!!order && doubled === order));
  };
  const announce = (isGone = false) => channel?.postMessage({ tab, order, source, isGone });
  const begin = () => {
    channel = new BroadcastChannel('florin');
    channel.onmessage = ({ data }) => {
      if (isBeside(data.tab)) return;
      const isKnown = others.has(data.tab) || data.isGone;
      if (data.isGone) {
        others.delete(data.tab);
        doubled = '';
      } else others.set(data.tab, data);
      if (!isKnown) announce();
      draw();
    };
    announce();
  };
  // An open channel keeps a page that was left from coming back as it was.
  const end = () => {
    announce(true);
    channel?.close();
    channel = undefined;
  };
  addEventListener('pagehide', end, { signal });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    others.clear();
    begin();
  }, { signal });
  signal.addEventListener('abort', () => {
    end();
    own.delete(tab);
  });
  begin();
  return (/** @type {string} */ id) => {
    if (id === order) return;
    order = id;
    announce();
    draw();
  };
};

/**
 * Shows or hides that another tab has the order, above the screens and for screen readers.
 *
 * @param {HTMLElement} container @param {string} text @param {boolean} isElsewhere
 */
export const showOtherTab = (container, text, isElsewhere) => {
  const shown = container.querySelector('[data-testid=other-tab]');
  if (!isElsewhere) return shown?.remove();
  if (shown) return;
  const banner = make('div', { className: 'banner', part: 'banner' }, make('p', {}, text));
  banner.dataset.testid = 'other-tab';
  container.querySelector('.banners')?.append(banner);
  const region = container.querySelector('.unseen[role=status]');
  if (region) region.textContent = text;
};

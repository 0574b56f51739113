/** The container of a checkout on the page: first with a skeleton, then with the screens; its theme and its height. */
import { TOKENS } from '../attributes.js';
import { make } from '../dom.js';
/** @import { Context, Read, Store } from '../types.d.ts' */

/** When colours are checked inline: the checkout is on the screen by then. */
const CHECK_AFTER_MS = 2000;
/** A contrast below which text is hidden. */
const HIDDEN_CONTRAST = 2;
/** More than the width of a scroll bar in any zoom: one that comes and goes with the height changes no other width. */
const SCROLL_BAR_PX = 32;

/**
 * @param {Context} context @param {Read} read
 * @param {boolean} isPage Whether this is the proxy's page.
 * @param {(name: string, detail?: unknown) => void} emit Dispatches an event of the element.
 */
export const createContainer = ({ element, box, signal }, read, isPage, emit) => {
  const container = make('div', { className: 'theme' });
  container.dataset.theme = read('theme') || '';
  const bar = () => make('div', { className: 'bar' });
  const skeleton = make('div', { className: 'florin' }, make('aside', { className: 'summary' }, bar(), bar()), make('section', { className: 'main' }, bar(), bar(), bar(), bar()));
  skeleton.setAttribute('aria-busy', 'true');
  // The first text in a font takes a slow phone 50 ms: it is laid out, unseen, while the order is on its way.
  const sample = make('div', { className: 'unseen', ariaHidden: 'true' }, ...['p', 'b', 'h2', 'small'].map((tag) => make(/** @type {'p'} */ (tag), {}, 'Aa 0123456789 $,.·')));
  skeleton.append(sample);
  const isAlone = isPage && parent === window;
  // A window and a dialog have a height. Another frame gets that of the checkout, which must not follow the frame.
  const isGrowing = !isAlone && !(isPage && read('display') === 'modal');
  if (isPage) document.documentElement.classList.toggle('grows', isGrowing);
  /** The theme that is applied, as JSON. */
  let applied = '';
  /** The applied theme whose colours are checked. */
  let checked = '';
  let isFilled = false;
  /** The least height, and the width that it is for; 0 for none. */
  let least = 0;
  let leastWidth = 0;
  const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => {
    // Empty or hidden, it has no height to report.
    if (!width || !height) return;
    if (isGrowing) {
      if (leastWidth && Math.abs(width - leastWidth) > SCROLL_BAR_PX) {
        least = leastWidth = 0;
        requestAnimationFrame(() => {
          container.style.removeProperty('--florin-min-height');
          // Called again, with the height that the checkout has at this width.
          observer.unobserve(container);
          if (!signal.aborted) observer.observe(container);
        });
        return;
      }
      leastWidth ||= width;
      // It does not shrink while its width stays: what is below stays where it is. A fraction of a pixel may come of the
      // least height itself.
      if (height >= least + 1) container.style.setProperty('--florin-min-height', (least = height) + 'px');
    }
    emit('resize', { height: Math.ceil(height) });
  });
  signal.addEventListener('abort', () => observer.disconnect());

  /**
   * Applies a store's theme, unless it is applied already.
   *
   * @param {typeof import('../theme.js')} theme @param {Partial<Store>} store
   */
  const apply = (theme, store) => {
    const next = JSON.stringify([store.theme || '', Object.entries(store.theme_tokens || {}).sort()]);
    if (signal.aborted || next === applied) return;
    applied = next;
    theme.applyStoreTheme(container, read('theme'), store, isPage);
  };
  return {
    container,
    /**
     * Shows the skeleton, on the proxy's page in the theme that its response announces.
     *
     * @param {typeof import('../theme.js')} theme
     */
    showSkeleton: (theme) => {
      if (signal.aborted || isFilled) return;
      container.append(skeleton);
      box.replaceChildren(container);
      if (isPage) apply(theme, theme.announcedTheme());
    },
    /** Removes the skeleton: what comes now has the height of the checkout. */
    removeSkeleton: () => {
      if (isFilled) return;
      isFilled = true;
      skeleton.remove();
      box.replaceChildren(container);
      observer.observe(container);
    },
    /**
     * Applies the theme of the order's store. Its colours are checked once the screen is painted: the merchant's warnings
     * take long, and no customer waits for them.
     *
     * @param {typeof import('../theme.js')} theme @param {Store} store
     */
    applyTheme: (theme, store) => {
      apply(theme, store);
      if (checked === applied) return;
      checked = applied;
      const check = () => {
        // Any site can send a link: its colours are removed where they hide the text.
        if (!signal.aborted && theme.checkContrast(container) < HIDDEN_CONTRAST && isAlone) theme.applyTheme(element, '--florin-', TOKENS.map((name) => [name, null]));
      };
      requestAnimationFrame(() => {
        const timer = setTimeout(check, isAlone ? 0 : CHECK_AFTER_MS);
        signal.addEventListener('abort', () => clearTimeout(timer));
      });
    },
  };
};

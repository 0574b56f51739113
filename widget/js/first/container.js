/** The container of a checkout on the page: first with a skeleton, then with the screens; its theme and its height. */
import { make } from '../dom.js';
import { applyStoreTheme } from '../theme.js';
/** @import { Place, Read, Store } from '../types.d.ts' */

/** More than the width of a scroll bar in any zoom: one that comes and goes with the height changes no other width. */
const SCROLL_BAR_PX = 32;

/**
 * @param {Pick<Place, 'box' | 'signal'>} place @param {Read} read
 * @param {boolean} isPage Whether this is the proxy's page.
 * @param {(name: string, detail?: unknown) => void} emit Dispatches an event of the element.
 */
export const createContainer = ({ box, signal }, read, isPage, emit) => {
  const container = make('div', { className: 'theme' });
  container.dataset.theme = read('theme') || '';
  box.replaceChildren(container);
  const bar = (className = 'bar') => make('div', { className });
  const skeleton = make('div', { className: 'florin' }, make('aside', { className: 'summary' }, bar(), bar()), make('section', { className: 'main' }, make('div', { className: 'screen' }, bar('bar wide'), bar(), bar(), bar(), bar())));
  skeleton.setAttribute('aria-busy', 'true');
  const isAlone = isPage && parent === window;
  // A window and a dialog have a height. Another frame gets that of the checkout, which must not follow the frame.
  const isGrowing = !isAlone && !(isPage && read('display') === 'modal');
  if (isPage) document.documentElement.classList.toggle('grows', isGrowing);
  /** The theme that is applied, as JSON. */
  let applied = '';
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

  return {
    container,
    /** Applies a store's theme, unless it is applied already. @param {Partial<Store>} store */
    applyStore: (store) => {
      const next = JSON.stringify([store.theme || '', Object.entries(store.theme_tokens || {}).sort()]);
      if (signal.aborted || next === applied) return;
      applied = next;
      applyStoreTheme(container, read('theme'), store, isPage);
    },
    showSkeleton: () => container.append(skeleton),
    /** Removes the skeleton: what comes now has the height of the checkout. */
    removeSkeleton: () => {
      if (isFilled) return;
      isFilled = true;
      skeleton.remove();
      observer.observe(container);
    },
  };
};

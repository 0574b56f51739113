/** What is sold, with its shop and price: drawn once, for the list before the program and for the program's screens. */
import { clean } from '../clean.js';
import { createTexts, h, initial, isPage, ltr } from '../drawing.js';
/** @import { Offer, Words } from '../types.d.ts' */

/** Lines of an order that are open. */
const LINES_SHOWN = 3;

/**
 * Draws the summary.
 *
 * @param {unknown} sold An offer or an order, or a donation, which has no price yet.
 * @param {Words} words @param {string} locale BCP 47 @param {string} heading The element for the title.
 */
export const createAbout = (sold, words, locale, heading) => {
  /** @type {Offer} */
  const order = clean(/** @type {any} */ (sold));
  const { text, plural, money } = createTexts(words, locale, order.currency);
  /** A picture for eyes alone. @param {string} name @param {string} url @param {string} side */
  const picture = (name, url, side) => {
    const image = h('img', { class: name, src: url, alt: '', width: side, height: side, referrerpolicy: 'no-referrer' });
    image.onerror = () => (image.hidden = true);
    return image;
  };
  const lines = order.lines || [];
  // Several lines say what the order is: its title is for screen readers.
  const [single, second] = lines;
  const areLines = second || (single && (single.quantity > 1 || single.image_url));
  const items = lines.map(({ quantity, title, amount, image_url: url }) => {
    const count = String(quantity);
    const isTitle = !second && title === order.title;
    const written = quantity === 1 ? title : text(isTitle ? 'quantity' : 'line', { count, title });
    return h('li', {}, isPage(url) && picture('picture', String(url), '40'), h('bdi', {}, written), amount && ltr(money(amount)));
  });
  const rest = items.splice(LINES_SHOWN);
  const price = order.amount ? money(order.amount) : '';
  const { store } = order;
  return h('div', { class: 'about' },
    h('p', { class: 'store', part: 'store' },
      isPage(store.logo_url) ? picture('logo', String(store.logo_url), '28') : h('span', { class: 'initial', 'aria-hidden': 'true' }, initial(store.name)),
      h('bdi', {}, store.name),
      order.environment === 'test' && h('span', { class: 'test', title: text('test_hint') }, text('test'))),
    h(heading, { class: second ? 'unseen' : 'title' }, h('bdi', {}, order.title)),
    price && h('p', { class: 'price', part: 'price' }, ltr(price)),
    areLines && h('div', { class: 'lines', role: 'group', 'aria-label': text('items'), 'data-testid': 'lines' },
      h('ul', {}, ...items),
      rest[0] && h('details', {}, h('summary', {}, plural('items_more', rest.length, String(rest.length))), h('ul', {}, ...rest)),
      second && lines.every(({ amount }) => amount) && h('p', { class: 'total' }, h('span', {}, text('total')), ltr(price))));
};

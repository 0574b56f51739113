/**
 * The choice of assets before the program runs: the same elements as widget/src/app.rs and widget/src/screens/pick_asset.rs
 * build, which replace them. What the rows say is the proxy's. A choice is sent at once, and its payment shown in place of the list; any
 * other press is repeated on the screens that come. See ADR 0031.
 */
import { clean } from '../clean.js';
import { createTexts, h, initial, isPage, ltr, svg } from '../drawing.js';
/** @typedef {import("../drawing.js").Child} Child */
/** @import { AnnouncedWallet, Offer, Opening, Quote, Words } from '../types.d.ts' */

/** From so many assets on, the list has a search field. */
const MANY = 10;
/** A pointer that is down for longer drags or rests. */
const LONGEST_PRESS_MS = 1000;
/** A payment that takes less than this has no number. */
const SOON_SECONDS = 45;
/** From here on hours say enough. */
const HOURS_SECONDS = 5400;
/** @param {string} name @param {string} [glyph] As `Quote::glyph` has it. */
const disc = (name, glyph) => {
  if (!glyph) return h('span', { class: 'disc' }, initial(name));
  const [color, tilt, ...shape] = glyph.split(' ');
  const path = svg('path', { d: shape.join(' ') });
  const drawn = svg('svg', { class: 'disc', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, path);
  drawn.style.background = color;
  path.style.rotate = tilt + 'deg';
  return drawn;
};

/**
 * Draws the icon of an asset in a place.
 *
 * @param {Element} place @param {string} asset @param {string} [glyph] @param {string} [badge] The coin of its network.
 */
export const drawIcon = (place, asset, glyph, badge) => {
  place.append(disc(asset, glyph));
  if (badge) place.append(h('span', { class: 'badge' }, disc('', badge)));
  return place;
};
/** @param {string} asset @param {string} [glyph] @param {string} [badge] */
const icon = (asset, glyph, badge) => drawIcon(h('span', { class: 'coin', 'aria-hidden': 'true' }), asset, glyph, badge);

/**
 * What writes the second line of a row: of an asset that cannot be chosen the reason, else how long a payment takes and what
 * it costs to send.
 *
 * @param {Words} words @param {string} locale BCP 47 @param {string} currency
 */
export const createDetail = (words, locale, currency) => {
  const { text, money } = createTexts(words, locale, currency);
  const time = (/** @type {number} */ seconds) => {
    if (seconds < SOON_SECONDS) return text('takes_seconds');
    const [unit, length] = seconds > HOURS_SECONDS ? ['hour', 3600] : ['minute', 60];
    return text('takes_about', { time: new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(Math.ceil(seconds / length)) });
  };
  return (/** @type {string} */ detail, /** @type {number=} */ seconds, /** @type {string=} */ fee, /** @type {string=} */ reason, /** @type {string} */ amount = '', /** @type {string=} */ limit) =>
    [detail, ...(reason ? [text(reason, { amount: limit ? money(limit) : amount })] : [seconds && time(seconds), fee && text('fee_about', { price: money(fee) })])].filter(Boolean).join(' · ');
};

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
  const { text, plural, money } = createTexts(words, locale, order.currency);
  const write = createDetail(words, locale, order.currency);
  const detailOf = (/** @type {Quote} */ quote) => write(quote.detail, quote.takes_seconds, quote.fee_in_order_currency, quote.reason, quote.limit_shown, quote.limit_in_order_currency);
  const number = (/** @type {number} */ count) => new Intl.NumberFormat(locale).format(count);
  /** What the order costs, where the listed quotes agree. @param {Quote[]} listed */
  const cost = (listed) => {
    const amounts = new Set(listed.map((quote) => quote.amount_shown).filter(Boolean));
    return h('span', { class: 'cost' }, amounts.size === 1 && h('b', {}, ltr(String([...amounts][0]))));
  };

  /** @param {string} name @param {string} id @param {Quote[]} listed @param {Child[]} what @param {Child} mark @param {Quote} [quote] */
  const row = (name, id, listed, what, mark, quote) => {
    const isOff = !listed.some(({ available }) => available);
    const button = h('button', { type: 'button', class: name, part: 'option', 'data-testid': id, 'aria-disabled': isOff && 'true', 'data-off': isOff && '' }, mark, h('span', { class: 'what' }, ...what), cost(listed));
    button.onclick = () => {
      if (isSent) return;
      view.kept.pressed = id;
      // As while the program requests the address: no other row can be pressed, and this one shows it.
      if (isOff) return;
      isSent = true;
      options.querySelectorAll('button').forEach((other) => other.setAttribute('aria-disabled', 'true'));
      banners.replaceChildren();
      // The request leaves with the press; the program takes its answer.
      if (quote && opening.offers && !quote.confirms_network) view.choose(quote).catch(fail);
    };
    return h('li', {}, button);
  };
  /** Whether a row was pressed that can be: the first press counts. */
  let isSent = false;
  const banners = h('div', { class: 'banners' });
  const showFailure = () => banners.replaceChildren(h('div', { class: 'banner', part: 'banner', role: 'alert' }, h('p', {}, text('no_network'))));
  /** There is no connection: another press sends the same request again. */
  const fail = () => {
    showFailure();
    isSent = false;
    delete view.kept.pressed;
    options.querySelectorAll('button:not([data-off])').forEach((other) => other.removeAttribute('aria-disabled'));
  };
  const mark = (/** @type {string} */ key) => h('small', { class: 'best', 'data-testid': key }, text(key));
  /** @type {HTMLElement[]} */
  const rows = [];
  /** @type {HTMLElement[]} Those that cannot be chosen. */
  const off = [];
  for (const { name, icon: picture, kind } of view.wallets) {
    const payable = quotes.filter((quote) => quote.available && quote.wallet === kind);
    const assets = [...new Set(payable.map((quote) => quote.asset))].join(' · ');
    if (assets) rows.push(row('option has-more', 'wallet-row-' + name, payable, [h('b', {}, text('wallet_pay', { wallet: name })), h('small', {}, assets)], picture ? h('img', { class: 'wallet-icon', src: picture, alt: '' }) : disc(name)));
  }
  const coins = new Set();
  for (const quote of quotes) {
    const { asset, crypto_code: code, is_folded: isFolded } = quote;
    if (isFolded && !coins.has(asset)) {
      coins.add(asset);
      const coin = quotes.filter((other) => other.asset === asset);
      const isOff = !coin.some(({ available }) => available);
      const networks = plural('networks', coin.length, number(coin.length));
      (isOff ? off : rows).push(row('option has-more', 'networks-' + asset, coin, [h('b', {}, quote.asset_name), h('small', {}, isOff ? detailOf(quote) : networks)], icon(asset, quote.glyph)));
    }
    const isLast = quote.available && code === view.last;
    if (isFolded && !isLast) continue;
    const what = [h('b', {}, quote.name, isLast && mark('last_used'), ...(quote.marks || []).map(mark)), h('small', {}, detailOf(quote))];
    const listed = quote.available ? rows : off;
    listed.splice(isLast ? 0 : listed.length, 0, row('option', 'asset-' + code, [quote], what, icon(asset, quote.glyph, quote.badge), quote));
  }
  const list = (/** @type {HTMLElement[]} */ listed) => h('ul', { class: 'options', role: 'list' }, ...listed);
  const options = h('div', { class: 'rows' },
    list(rows),
    off.length > 0 && h('details', { 'data-testid': 'unavailable' }, h('summary', { class: 'quiet' }, plural('unavailable_more', off.length, number(off.length))), list(off)));
  const search = h('input', { class: 'search', part: 'input', type: 'search', 'aria-label': text('search'), placeholder: text('search'), autocomplete: 'off', spellcheck: 'false', maxlength: '60', dir: 'auto', 'data-testid': 'search' });

  const { store } = order;
  const price = money(order.amount);
  // The program fills its link in with what the order is about.
  const help = (isPage(store.support_url) || store.support_url?.startsWith('mailto:')) && h('a', { class: 'quiet help', 'data-testid': 'help' }, text('help', { store: store.name }));
  const tree = h('div', { class: 'florin', part: 'checkout', lang: locale, dir: text('direction') },
    h('aside', { class: 'summary', part: 'summary', 'aria-label': text('order') }, h('div', { class: 'live' }, h('div', { class: 'order' }, view.about, help)), view.menu),
    h('section', { class: 'main', part: 'main', 'aria-label': text('payment') },
      banners,
      h('div', { class: 'screen', 'data-testid': 'status-open' }, h('div', { class: 'pick' },
        h('h2', { tabindex: '-1', part: 'heading' }, text('choose')),
        h('div', { class: 'hint' }, h('p', {}, text('choose_price', { price: '\u2066' + price + '\u2069' }))),
        quotes.length >= MANY && h('div', { class: 'find' }, search),
        options))),
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
    /**
     * Removes the list, and returns what repeats on the screens in `place` what the customer has done on it.
     *
     * @param {HTMLElement} place
     */
    remove: (place) => {
      const focused = /** @type {HTMLElement | null} */ (/** @type {ShadowRoot} */ (place.getRootNode()).activeElement);
      const id = focused && tree.contains(focused) && focused.dataset.testid;
      const isMenuFocused = focused === view.menu;
      const { value } = /** @type {HTMLInputElement} */ (search);
      tree.remove();
      return () => {
        // The list has appeared already: the same one must not fade in again.
        for (const animation of place.querySelector('.screen')?.getAnimations() || []) animation.finish();
        /** @param {string} name */
        const find = (name) => /** @type {HTMLElement | null} */ (place.querySelector(`[data-testid="${CSS.escape(name)}"]`));
        const field = /** @type {HTMLInputElement | null} */ (find('search'));
        if (field && value) {
          field.value = value;
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }
        if (isMenuFocused) view.menu.focus();
        else if (id) find(id)?.focus();
      };
    },
  };
};

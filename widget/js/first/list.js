/**
 * Draws the list of assets: before the program runs, and again with other prices while it does. What the rows say is the proxy's.
 * host/list.js has what else the list does.
 */
import { createTexts, h, initial, ltr, svg } from '../drawing.js';
/** @typedef {import("../drawing.js").Child} Child */
/** @import { AnnouncedWallet, Offer, Quote, Words } from '../types.d.ts' */

/** From so many assets on, the list has a search field. */
const MANY = 10;
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
/** @param {string} asset @param {string} [glyph] @param {string} [badge] The coin of its network. */
const icon = (asset, glyph, badge) => h('span', { class: 'coin', 'aria-hidden': 'true' }, disc(asset, glyph), badge && h('span', { class: 'badge' }, disc('', badge)));

/**
 * @param {Offer} order @param {Quote[]} quotes Both without what a browser obeys.
 * @param {Words} words @param {string} locale BCP 47
 * @param {{ last: string, wallets: AnnouncedWallet[] }} view `last`: the asset that was chosen last.
 */
export const createList = (order, quotes, words, locale, { last, wallets }) => {
  const { text, plural, money } = createTexts(words, locale, order.currency);
  const number = (/** @type {number} */ count) => new Intl.NumberFormat(locale).format(count);
  const time = (/** @type {number} */ seconds) => {
    if (seconds < SOON_SECONDS) return text('takes_seconds');
    const [unit, length] = seconds > HOURS_SECONDS ? ['hour', 3600] : ['minute', 60];
    return text('takes_about', { time: new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(Math.ceil(seconds / length)) });
  };
  /** An amount, whose signs no language around it reorders. @param {string} amount */
  const isolated = (amount) => '\u2066' + amount + '\u2069';
  /** A time or a fee stays on one line. @param {string} words */
  const unbroken = (words) => words.replaceAll(' ', '\u00a0');
  /** Of an asset that cannot be chosen the reason, else how long a payment takes and what it costs to send. */
  const detailOf = (/** @type {Quote} */ { detail, takes_seconds: seconds, fee_in_order_currency: fee, reason, limit_shown: amount = '', limit_in_order_currency: limit }) =>
    [detail, ...(reason ? [text(reason, { amount: isolated(limit ? money(limit) : amount) })] : [seconds && unbroken(time(seconds)), fee && unbroken(text('fee_about', { price: isolated(money(fee)) }))])].filter(Boolean).join(' · ');
  /** What the order costs, where the listed quotes agree. @param {Quote[]} listed */
  const cost = (listed) => {
    const amounts = new Set(listed.map((quote) => quote.amount_shown).filter(Boolean));
    return h('span', { class: 'cost' }, amounts.size === 1 && h('b', {}, ltr(String([...amounts][0]))));
  };
  /** @param {string} name @param {string} id @param {Quote[]} listed @param {Child[]} what @param {Child} mark @param {boolean} [isHidden] */
  const row = (name, id, listed, what, mark, isHidden) => {
    const isOff = !listed.some(({ available }) => available);
    return h('li', { hidden: isHidden && '' }, h('button', { type: 'button', class: name, part: 'option', 'data-testid': id, 'aria-disabled': isOff && 'true', 'data-off': isOff && '' }, mark, h('span', { class: 'what' }, ...what), cost(listed)));
  };
  /** Both lines of a row. @param {string} name @param {string} detail @param {string} [mark] */
  const lines = (name, detail, mark) => [h('span', {}, h('b', {}, name), ' ', mark && h('small', { class: 'best', 'data-testid': mark }, text(mark))), h('small', { class: 'detail' }, detail)];
  /** @type {HTMLElement[]} */
  const rows = [];
  /** @type {HTMLElement[]} Those that cannot be chosen. */
  const off = [];
  for (const { name, icon: picture, kind } of wallets) {
    const payable = quotes.filter((quote) => quote.available && quote.wallet === kind);
    const assets = [...new Set(payable.map((quote) => quote.asset))].join(' · ');
    if (assets) rows.push(row('option has-more', 'wallet-row-' + name, payable, lines(text('wallet_pay', { wallet: name }), assets), picture ? h('img', { class: 'wallet-icon', src: picture, alt: '' }) : disc(name)));
  }
  const coins = new Set();
  for (const quote of quotes) {
    const { asset, crypto_code: code, is_folded: isFolded } = quote;
    if (isFolded && !coins.has(asset)) {
      coins.add(asset);
      const coin = quotes.filter((other) => other.asset === asset);
      const isOff = !coin.some(({ available }) => available);
      const networks = plural('networks', coin.length, number(coin.length));
      (isOff ? off : rows).push(row('option has-more', 'networks-' + asset, coin, lines(quote.asset_name, isOff ? detailOf(quote) : networks), icon(asset, quote.glyph)));
    }
    const isLast = quote.available && code === last;
    const what = lines(quote.name, detailOf(quote), isLast ? 'last_used' : quote.marks?.[0]);
    // The networks of a coin are its next step, whether or not they can be chosen.
    const listed = quote.available || isFolded ? rows : off;
    listed.splice(isLast ? 0 : listed.length, 0, row('option', 'asset-' + code, [quote], what, icon(asset, quote.glyph, quote.badge), isFolded && !isLast));
  }
  // The role is explicit: without its bullets Safari takes it for no list.
  const list = (/** @type {HTMLElement[]} */ listed) => h('ul', { class: 'options', role: 'list' }, ...listed);
  return h('div', { class: 'pick' },
    h('h2', { tabindex: '-1', part: 'heading' }, text('choose')),
    h('div', { class: 'hint' }, h('p', {}, text('choose_price', { price: isolated(money(order.amount)) }))),
    quotes.length >= MANY && h('div', { class: 'find' }, h('input', { class: 'search', part: 'input', type: 'search', 'aria-label': text('search'), placeholder: text('search'), autocomplete: 'off', spellcheck: 'false', maxlength: '60', dir: 'auto', 'data-testid': 'search' })),
    h('div', { class: 'rows' },
      list(rows),
      off.length > 0 && h('details', { 'data-testid': 'unavailable' }, h('summary', { class: 'quiet' }, plural('unavailable_more', off.length, number(off.length))), list(off))));
};

/**
 * The choice of assets before the program runs: the same elements as widget/src/app/summary.rs and
 * widget/src/screens/pick_asset.rs build, which replace them. A press is repeated on the screens that come. See ADR 0021.
 */
import { GLYPHS } from './glyphs.js';
/** @import { OpenOrder, Opening, OrderBody, Quote, Words } from '../types.d.ts' */

/** From so many assets on, those of one coin are one row. */
const LONG_LIST = 12;
/** From more assets on, the list has a search field. */
const MANY = 6;
/** Lines of an order that are open. */
const LINES_SHOWN = 3;
/** A pointer that is down for longer drags or rests. */
const LONGEST_PRESS_MS = 1000;
/** Digits after leading zeros in a list of amounts. */
const SIGNIFICANT_DIGITS = 6;
/**
 * The coin of each network, and what wallets and exchanges call the network: see crates/money/src/network.rs.
 *
 * @type {Map<string, string[]>}
 */
const NETWORKS = new Map([
  ['Tron', ['TRX', 'TRC20 / TRON']],
  ['Ethereum', ['ETH', 'ERC20 / Ethereum']],
  ['BNB Chain', ['BNB', 'BEP20 / BNB Smart Chain (BSC)']],
  ['Bitcoin', ['BTC', 'Bitcoin / BTC']],
  ['Litecoin', ['LTC', 'Litecoin / LTC']],
  ['Dogecoin', ['DOGE', 'Dogecoin / DOGE']],
  ['Bitcoin Cash', ['BCH', 'Bitcoin Cash / BCH']],
]);

/** What a browser obeys instead of showing: as in crates/checkout-api/src/from_json.rs. */
const CONTROL_CHARACTERS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/**
 * @template T
 * @param {T} value
 * @returns {T} The same without what a browser obeys.
 */
const clean = (value) => JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? part.replace(CONTROL_CHARACTERS, '') : part));

/** The symbol of a network's coin; the network's own name where it is not known. @param {string} network */
const coinOf = (network) => NETWORKS.get(network)?.[0] ?? network;

/** @typedef {Node | string | false | null | undefined} Child */

/**
 * @template {Element} E
 * @param {E} element @param {Record<string, string | false | undefined>} attributes Set unless `undefined` or `false`.
 * @param {Child[]} children
 */
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return element;
};
/** @param {string} tag @param {Record<string, string | false | undefined>} attributes @param {...Child} children */
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
/** @param {string} tag @param {Record<string, string>} attributes @param {...Child} children */
const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
/** @param {string} text */
const ltr = (text) => h('bdi', { dir: 'ltr' }, text);
const initial = (/** @type {string} */ text) => [...text][0];
/** @param {string | undefined} url */
const isPage = (url) => /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost|\[::1])[:/]/.test(url || '');

/** As `trimmed` of widget/src/format/amount.rs. @param {string} amount */
const trimmed = (amount) => {
  const [whole, fraction = ''] = amount.split('.');
  const kept = fraction.replace(/0+$/, '');
  return kept ? whole + '.' + kept + (kept.length === 1 && whole !== '0' ? '0' : '') : whole;
};

/** As `shortened` of widget/src/format/amount.rs: at most six significant digits, rounded up. @param {string} amount */
const shortened = (amount) => {
  const [whole, fraction = ''] = amount.split('.');
  const zeros = fraction.length - fraction.replace(/^0+/, '').length;
  const decimals = /^0*$/.test(whole) ? zeros + SIGNIFICANT_DIGITS : Math.max(0, SIGNIFICANT_DIGITS - whole.length);
  const kept = fraction.slice(0, decimals);
  if (/^0*$/.test(fraction.slice(decimals))) return trimmed(whole + '.' + kept);
  const digits = String(BigInt(whole + kept) + 1n).padStart(whole.length + kept.length, '0');
  const point = digits.length - kept.length;
  return trimmed(digits.slice(0, point) + '.' + digits.slice(point));
};

/** @param {string} code */
const disc = (code) =>
  GLYPHS.has(code)
    ? svg('svg', { class: 'disc ' + code.toLowerCase(), viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: /** @type {string} */ (GLYPHS.get(code)) }))
    : h('span', { class: 'disc' }, initial(code));

/**
 * The icon of an asset on a network. `several`: the asset exists on other networks as well.
 *
 * @param {Quote} quote @param {boolean} several
 */
const icon = ({ asset, network }, several) => {
  const coin = coinOf(network);
  const isRepeated = coin === asset || (coin === network && initial(coin) === initial(asset));
  return h('span', { class: 'coin', 'aria-hidden': 'true' }, disc(asset), several && network && !isRepeated && h('span', { class: 'badge' }, disc(coin)));
};

/** @param {string} locale BCP 47 @param {string} currency @param {number} decimals */
const moneyFormat = (locale, currency, decimals) => new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** Writes an amount in vain: the first one takes a slow phone 50 ms. @param {string} locale BCP 47 */
export const prepareAmounts = (locale) => {
  try {
    moneyFormat(locale, 'USD', 2).format(1);
  } catch {
    // This browser does not know the locale; amounts are written without it.
  }
};

/**
 * Returns `true` if the choice of assets is the first screen of this order, and something can be chosen.
 *
 * @param {OrderBody} body @param {unknown} quotes
 */
const isChoice = (body, quotes) => body.status === 'open' && body.flow !== 'hosted' && Array.isArray(quotes) && quotes.some(({ available }) => available);

/**
 * Builds the choice of assets; nothing, where the first screen is another.
 *
 * @param {Opening} opening With its prices.
 * @param {Words} texts @param {string} locale BCP 47
 * @param {{ isPage: boolean, last: string, menu: HTMLElement, kept: DOMStringMap }} view `last`: the asset that was chosen last.
 * `kept.pressed`: the test id of the row that was pressed, also before loading failed and was tried again.
 */
export const createEarlyChoice = ({ token, body, quotes: prices }, texts, locale, view) => {
  if (!token || !isChoice(body, prices)) return undefined;
  /** @type {[OpenOrder, Quote[], Words]} */
  const [order, quotes, words] = clean([/** @type {any} */ (body), /** @type {Quote[]} */ (prices), texts]);
  /** @param {unknown} template @param {Record<string, string>} [values] */
  const put = (template, values = {}) => String(template).replace(/\{(\w+)\}/g, (gap, name) => (Object.hasOwn(values, name) ? values[name] : gap));
  /** @param {string} key @param {Record<string, string>} [values] */
  const text = (key, values) => put(words[key] ?? key, values);
  /** @param {string} key @param {number} count @param {string} written */
  const plural = (key, count, written) => {
    const forms = /** @type {Record<string, string>} */ (words[key]);
    return put(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { count: written });
  };
  /** @param {string} amount */
  const money = (amount) => {
    const digits = (amount.split('.')[1] || '').length;
    try {
      return moneyFormat(locale, order.currency, digits).format(/** @type {any} */ (amount));
    } catch {
      return amount + '\u00a0' + order.currency;
    }
  };
  /** @param {Quote} quote */
  const isOnSeveral = ({ asset, network }) => quotes.filter((other) => other.asset === asset).length > 1 || coinOf(network) !== asset;
  /** @param {Quote} quote */
  const onNetwork = ({ asset, network }) => asset + ' · ' + network;

  /** Why an asset cannot be chosen. @param {Quote} quote */
  const why = (quote) => {
    const reason = String(quote.reason);
    const limits = new Map([['below_minimum', quote.min], ['above_maximum', quote.max]]);
    if (!limits.has(reason)) return text(reason);
    const amount = trimmed(limits.get(reason) || '') + '\u00a0' + quote.asset;
    return quote.limit_in_order_currency ? text(reason + '_price', { amount, price: money(quote.limit_in_order_currency) }) : text(reason, { amount });
  };
  /** @param {Quote} quote */
  const detail = (quote) => {
    const rest = isOnSeveral(quote) ? quote.asset_name : quote.network && quote.asset_name !== quote.network ? onNetwork(quote) : quote.asset;
    return quote.reason ? rest + ' · ' + why(quote) : rest;
  };
  /** What the order costs, where the listed quotes agree. @param {Quote[]} listed */
  const cost = (listed) => {
    const amounts = new Set(listed.filter((quote) => quote.amount_in_crypto).map((quote) => shortened(String(quote.amount_in_crypto)) + '\u00a0' + quote.asset));
    return h('span', { class: 'cost' }, amounts.size === 1 && h('b', {}, ltr([...amounts][0])));
  };

  /** @param {string} name @param {string} id @param {Quote[]} listed @param {Child[]} what @param {Child} mark */
  const row = (name, id, listed, what, mark) => {
    const isOff = !listed.some(({ available }) => available);
    const button = h('button', { type: 'button', class: name, part: 'option', 'data-testid': id, 'aria-disabled': isOff && 'true', 'data-off': isOff && '' }, mark, h('span', { class: 'what' }, ...what), cost(listed));
    button.onclick = () => {
      view.kept.pressed = id;
      // As while the program requests the address: no other row can be pressed, and this one shows it.
      if (!isOff) options.querySelectorAll('button').forEach((other) => other.setAttribute('aria-disabled', 'true'));
    };
    return h('li', {}, button);
  };
  /** @type {HTMLElement[]} */
  const rows = [];
  const coins = new Set();
  for (const quote of quotes) {
    const coin = quotes.filter(({ asset }) => asset === quote.asset);
    const isInCoin = quotes.length >= LONG_LIST && coin.length > 1;
    if (isInCoin && !coins.has(quote.asset)) {
      coins.add(quote.asset);
      const isOff = !coin.some(({ available }) => available);
      const networks = plural('networks', coin.length, new Intl.NumberFormat(locale).format(coin.length));
      rows.push(row('option has-more', 'networks-' + quote.asset, coin, [h('b', {}, quote.asset_name), h('small', {}, isOff ? detail(quote) : networks)], icon(quote, false)));
    }
    const isLast = quote.available && quote.crypto_code === view.last;
    if (isInCoin && !isLast) continue;
    const several = isOnSeveral(quote);
    const names = isInCoin && quote.available && NETWORKS.get(quote.network)?.[1];
    const what = [
      h('b', {}, several && quote.network ? onNetwork(quote) : quote.asset_name),
      h('small', {}, names || detail(quote)),
      isLast && h('small', { class: 'last', 'data-testid': 'last-used' }, text('last_used')),
    ];
    rows.splice(isLast ? 0 : rows.length, 0, row('option', 'asset-' + quote.crypto_code, [quote], what, icon(quote, several)));
  }
  const options = h('ul', { class: 'options', role: 'list' }, ...rows);
  const search = h('input', { class: 'search', part: 'input', type: 'search', 'aria-label': text('search'), placeholder: text('search'), autocomplete: 'off', spellcheck: 'false', maxlength: '60', dir: 'auto', 'data-testid': 'search' });

  /** A picture for eyes alone. @param {string} name @param {string} url @param {string} side */
  const picture = (name, url, side) => {
    const image = h('img', { class: name, src: url, alt: '', width: side, height: side, referrerpolicy: 'no-referrer' });
    image.onerror = () => (image.hidden = true);
    return image;
  };
  const lines = order.lines || [];
  const [single] = lines;
  const areLines = lines.length > 1 || (single && (single.quantity > 1 || single.image_url));
  const items = lines.map(({ quantity, title, amount, image_url: url }) => {
    const count = String(quantity);
    const isTitle = lines.length === 1 && title === order.title;
    const written = quantity === 1 ? title : text(isTitle ? 'quantity' : 'line', { count, title });
    return h('li', {}, isPage(url) && picture('picture', String(url), '40'), h('bdi', {}, written), amount && ltr(money(amount)));
  });
  const rest = items.splice(LINES_SHOWN);
  const price = money(order.amount);
  const { store } = order;
  const about = h('div', { class: 'about' },
    h('p', { class: 'store', part: 'store' },
      isPage(store.logo_url) ? picture('logo', String(store.logo_url), '28') : h('span', { class: 'initial', 'aria-hidden': 'true' }, initial(store.name)),
      h('bdi', {}, store.name),
      order.environment === 'test' && h('span', { class: 'test', title: text('test_hint') }, text('test'))),
    h(view.isPage ? 'h1' : 'p', { class: 'title' }, h('bdi', {}, order.title)),
    h('p', { class: 'price', part: 'price' }, ltr(price)),
    areLines && h('div', { class: 'lines', role: 'group', 'aria-label': text('items'), 'data-testid': 'lines' },
      h('ul', {}, ...items),
      rest.length > 0 && h('details', {}, h('summary', {}, plural('items_more', rest.length, String(rest.length))), h('ul', {}, ...rest)),
      lines.length > 1 && lines.every(({ amount }) => amount) && h('p', { class: 'total' }, h('span', {}, text('total')), ltr(price))));
  // The program fills its link in with what the order is about.
  const help = (isPage(store.support_url) || store.support_url?.startsWith('mailto:')) && h('a', { class: 'quiet help', 'data-testid': 'help' }, text('help', { store: store.name }));
  const tree = h('div', { class: 'florin', part: 'checkout', lang: locale, dir: text('direction') },
    h('aside', { class: 'summary', part: 'summary', 'aria-label': text('order') }, h('div', { class: 'live' }, h('div', { class: 'order' }, about, help)), view.menu),
    h('section', { class: 'main', part: 'main', 'aria-label': text('payment') },
      h('div', { class: 'banners' }),
      h('div', { class: 'screen', 'data-testid': 'status-open' }, h('div', { class: 'pick' },
        h('h2', { tabindex: '-1', part: 'heading' }, text('choose')),
        h('div', { class: 'hint' }, h('p', {}, text('choose_price', { price: '\u2066' + price + '\u2069' })), h('p', { class: 'fresh', 'aria-hidden': 'true', 'data-testid': 'prices-fresh' }, text('prices_fresh'))),
        quotes.length > MANY && h('div', { class: 'find' }, search),
        options))),
    h('p', { class: 'unseen', role: 'status' }));

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

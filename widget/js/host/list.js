/**
 * The list of assets while the program runs: fresh prices change texts in their places, so that reading, typing and tabbing go on.
 * In a long list those of one coin are one row, and its networks the next step: other rows of the same list.
 */
import { clean } from '../clean.js';
import { createTexts, h, ltr } from '../drawing.js';
/** @import { Begun, Quote, ShownList, ListCalls, Words } from '../types.d.ts' */

const FRESH_MS = 6000;
/** Changed prices are announced no more often. */
const ANNOUNCED_EVERY_MS = 60000;
/** Pause in typing after which the number of assets that are left is announced. */
const PAUSE_MS = 600;
const AWAITED_ROWS = 6;
/** How the test ids of rows begin: of an asset by its code, and of a coin and a wallet, which lead to a part of the list. */
const ASSET = 'asset-';
const COIN = 'networks-';
const WALLET = 'wallet-row-';

const wait = (/** @type {Element} */ button, /** @type {boolean} */ isWaiting) => isWaiting ? button.setAttribute('aria-disabled', 'true') : button.removeAttribute('aria-disabled');
/** @param {string} look @param {string} id @param {string} face @param {() => void} act */
const createButton = (look, id, face, act) => {
  const button = h('button', { type: 'button', class: look, part: 'button ' + look, 'data-testid': id }, face);
  button.onclick = act;
  return button;
};
/** Takes what the order costs from another row, and marks it for a moment. @param {Element} row @param {Element} from */
const takeCost = (row, from) => {
  const [shown, now] = [row, from].map((one) => /** @type {Element} */ (one.querySelector('.cost')));
  if (shown.textContent === now.textContent) return;
  const next = /** @type {Element} */ (now.cloneNode(true));
  next.querySelector('b')?.classList.add('moved');
  shown.replaceWith(next);
};

/**
 * Returns what puts the list into a place.
 *
 * @param {HTMLElement} element
 * @param {Begun['host']} host @param {Words} words
 * @param {(wallet: string) => void} useWallet Opens this wallet with the next payment.
 * @param {(name: string) => string} networkOf What wallets and exchanges call a network, and after a line break the shape of its addresses.
 */
export const createLists = (element, host, words, useWallet, networkOf) => {
  const { text } = createTexts(words, host.locale, undefined);
  let announcedAt = -ANNOUNCED_EVERY_MS;
  /**
   * @param {HTMLElement} place @param {ListCalls} calls
   * @param {boolean} mayLeave Whether a payment can be gone back to.
   * @param {{ list: HTMLElement, quotes: Quote[], pressed?: string }} [early] What the customer has before the program.
   * @returns {ShownList}
   */
  return (place, calls, mayLeave, early) => {
    let quotes = early?.quotes || [];
    /** Those that the rows were built of. */
    let listed = quotes;
    /** The quotes as they were given last; empty while they are awaited. */
    let given = '';
    const list = early?.list || host.list(words, []);
    /** The same list as it was drawn last: a browser may have translated the one that is shown. */
    let drawn = list;
    const [heading, hint] = ['h2', '.hint'].map((selector) => /** @type {HTMLElement} */ (list.querySelector(selector)));
    const hintText = /** @type {HTMLElement} */ (hint.firstChild);
    const price = hintText.textContent;
    let rows = /** @type {HTMLElement} */ (list.querySelector('.rows'));
    let search = /** @type {HTMLInputElement | null} */ (list.querySelector('.search'));
    /** The test id of the row that has led to this part of the list; empty in the list of all assets. */
    let within = '';
    let isBusy = false;
    let isUnpriced = false;
    let isFresh = false;
    /** @type {number | undefined} */
    let typing;
    /** The step that asks for the network of an asset. @type {HTMLElement | undefined} */
    let step;
    let confirming = '';

    const find = (/** @type {string} */ id, at = list) => /** @type {HTMLElement | null} */ (at.querySelector(`[data-testid="${CSS.escape(id)}"]`));
    const after = (/** @type {string} */ row, /** @type {string} */ start) => row.startsWith(start) ? row.slice(start.length) : '';
    const quoteOf = (/** @type {string} */ code, from = quotes) => from.find((quote) => quote.crypto_code === code);
    /** For eyes: screen readers get an announcement. */
    const createNote = () => h('p', { class: 'fresh', 'aria-hidden': 'true', 'data-testid': 'prices-fresh' }, text('prices_fresh'));
    const focus = (/** @type {HTMLElement | null | undefined} */ at) => setTimeout(() => at?.focus());
    /** Unless the customer is busy elsewhere, on the shop's page or on the page around a frame. */
    const focusHeading = () => {
      const { activeElement } = document;
      if (document.hasFocus() && (!activeElement || activeElement === document.body || activeElement === element)) focus((step || list).querySelector('h2'));
    };

    const typed = () => search?.value || '';
    /** Each typed word is in one of the names, so that `usdt tron` finds Tether on Tron. @param {Quote} quote */
    const isFound = ({ asset_name, asset, network, crypto_code }) => {
      const names = [asset_name, asset, network, crypto_code, networkOf(network)].join('\n').toLowerCase();
      return typed().toLowerCase().split(/\s+/).every((word) => names.includes(word));
    };
    const foundNone = h('p', {});
    const noMatch = () => text('no_match', { text: '\u2068' + typed() + '\u2069' });
    const announceFound = () => {
      if (!list.isConnected) return;
      const count = quotes.filter(isFound).length;
      calls.announce(count ? text('search') + ': ' + new Intl.NumberFormat(host.locale).format(count) : noMatch());
    };
    const onInput = () => {
      clearTimeout(typing);
      typing = setTimeout(announceFound, PAUSE_MS);
      foundNone.textContent = noMatch();
      draw();
      openUnavailable();
    };
    const followSearch = () => {
      if (!search) return;
      search.oninput = onInput;
      search.onkeydown = (event) => {
        if (event.key !== 'Escape' || !typed()) return;
        // In an empty field it is left to the page around.
        event.preventDefault();
        event.stopPropagation();
        /** @type {HTMLInputElement} */ (search).value = '';
        onInput();
      };
    };

    const retry = h('div', { class: 'box doubtful', part: 'box' }, h('p', {}, text('no_prices')), createButton('secondary', 'retry', text('retry'), () => calls.reload('')));
    /** Nothing can be chosen, and that may change: limits have their reasons in the rows. */
    const areMissing = () => given && !quotes.some(({ available }) => available) && (quotes.length ? quotes.some(({ reason }) => reason === 'not_priced') : !isUnpriced);
    const back = h('div', { class: 'actions' }, createButton('plain', 'back', text('back'), () => {
      calls.forget('');
      if (!within) return calls.leave('');
      const row = find(within);
      enter('');
      focus(row);
    }));

    /** Of a row of an asset, whether it is in the part of the list that is shown. @param {Quote} quote @param {Element} row */
    const isShown = (quote, row) => {
      const coin = after(within, COIN);
      if (coin) return quote.asset === coin;
      if (within) return quote.available && host.wallets.some(({ name, kind }) => name === after(within, WALLET) && kind === quote.wallet);
      return isFound(quote) && (!quote.is_folded || typed() || row.querySelector('[data-testid=last_used]'));
    };
    /** Shows a part of the list. @param {string} row */
    const enter = (row) => {
      within = row;
      const [coin, wallet] = [COIN, WALLET].map((start) => after(within, start));
      heading.textContent = coin ? text('choose_network', { asset: coin }) : wallet ? text('wallet_pay', { wallet }) : text('choose');
      hintText.textContent = coin ? text('choose_network_hint') : price;
      draw();
    };
    const draw = () => {
      for (const row of rows.querySelectorAll('button')) {
        const quote = quoteOf(after(String(row.dataset.testid), ASSET), listed);
        /** @type {HTMLElement} */ (row.parentElement).hidden = quote ? !isShown(quote, row) : !!(within || typed());
        wait(row, isBusy || row.dataset.off === '');
      }
      const unavailable = find('unavailable');
      if (unavailable) unavailable.hidden = !!within;
      if (search) {
        /** @type {HTMLElement} */ (search.parentElement).hidden = !!within;
        if (typed() && !quotes.some(isFound)) search.after(foundNone);
        else foundNone.remove();
      }
      if (!areMissing()) retry.remove();
      else if (!retry.isConnected) rows.before(retry);
      back.hidden = !mayLeave && !within;
      hint.toggleAttribute('data-fresh', isFresh);
      for (const note of place.querySelectorAll('.fresh')) note.toggleAttribute('data-shown', isFresh);
      list.hidden = !!step;
      if (step) drawStep(step);
    };
    const openUnavailable = () => find('unavailable')?.toggleAttribute('open', !!typed() || !quotes.some(({ available }) => available));

    /** @param {Quote} quote */
    const accept = ({ crypto_code: code, quote_id: id }) => {
      host.remember(code);
      useWallet(after(within, WALLET));
      calls.choose(code + ' ' + id);
    };
    /** Asks for the network of an asset. Prices go on changing in it: the one that it shows is the one that is taken. @param {Quote} quote */
    const confirm = ({ crypto_code: code, asset, asset_name: name, network }) => {
      const names = { asset, network };
      confirming = code;
      const [icon, cost] = ['.coin', '.cost'].map((part) => find(ASSET + code, drawn)?.querySelector(part)?.cloneNode(true));
      /** A sentence with an element in its gap. @param {string} whole @param {Element} what */
      const sentence = (whole, what) => {
        const [before, rest] = whole.split(/\{\w+\}/);
        return h('p', {}, before, what, rest);
      };
      const [called, example] = networkOf(network).split('\n');
      const leave = () => {
        calls.forget('');
        step?.remove();
        step = undefined;
        draw();
        // A network of a coin has no row in the list of coins, where `asset` may have led past it.
        focus(list.querySelector(`:not([hidden]) > :is([data-testid="${CSS.escape(ASSET + code)}"], [data-testid="${CSS.escape(COIN + asset)}"])`));
      };
      step = h('div', { class: 'step', 'data-testid': 'network' },
        h('h2', { tabindex: '-1', part: 'heading' }, text('network', names)),
        h('div', { class: 'option', part: 'option' }, icon, h('span', { class: 'what' }, h('b', {}, name), h('span', { class: 'detail' }, asset + ' · ' + network)), cost),
        h('p', { class: 'loss' }, text('network_hint', names)),
        called && sentence(text('network_called', names), ltr(called)),
        example && sentence(text('address_example', names), h('bdi', { dir: 'ltr', class: 'shape' }, example)),
        h('div', { class: 'ways' },
          h('p', {}),
          h('div', { class: 'actions' },
            createButton('primary', 'network-confirm', text('network_confirm', names), () => {
              const now = quoteOf(code);
              if (now?.available) accept(now);
            }),
            createButton('plain', 'network-back', text('back'), leave))),
        createNote());
      list.before(step);
      draw();
      focusHeading();
    };
    const drawStep = (/** @type {HTMLElement} */ at) => {
      const quote = quoteOf(confirming);
      const row = find(ASSET + confirming, drawn);
      const reason = /** @type {HTMLElement} */ (at.querySelector('.ways p'));
      reason.textContent = quote && row ? detailOf(row) : text('asset_gone');
      reason.hidden = !!quote?.available;
      if (row) takeCost(at, row);
      wait(/** @type {Element} */ (find('network-confirm', at)), isBusy);
    };

    const detailOf = (/** @type {Element} */ row) => String(row.querySelector('.detail')?.textContent);
    list.onclick = ({ target }) => {
      const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest('.rows button'));
      if (!row) return;
      const id = String(row.dataset.testid);
      if (row.dataset.off === '') return calls.announce(detailOf(row));
      if (isBusy) return;
      const code = after(id, ASSET);
      const quote = quoteOf(code);
      if (!code) {
        enter(id);
        focusHeading();
      } else if (quote?.confirms_network && !after(within, WALLET)) {
        calls.forget('');
        confirm(quote);
      } else if (quote) accept(quote);
    };

    /** Other assets are offered, or none any more. @param {HTMLElement} next */
    const rebuild = (next) => {
      const field = /** @type {HTMLInputElement | null} */ (next.querySelector('.search'));
      const before = rows;
      rows = quotes.length ? /** @type {HTMLElement} */ (next.querySelector('.rows')) : h('p', { hidden: '' });
      before.replaceWith(rows);
      listed = quotes;
      if (!field !== !search) {
        search?.parentElement?.remove();
        search = field;
        if (field) hint.after(/** @type {HTMLElement} */ (field.parentElement));
        followSearch();
      }
      // A coin may go with fresh prices while its networks are on the screen.
      if (within && !find(within)) enter('');
      openUnavailable();
    };
    /** Shows other prices in the rows of the same assets. @param {HTMLElement} next */
    const renew = (next) => {
      for (const row of rows.querySelectorAll('button')) {
        const [before, now] = [drawn, next].map((one) => find(String(row.dataset.testid), one));
        // A wallet whose assets have gone has no row any more.
        row.toggleAttribute('data-off', now?.dataset.off !== undefined || !now);
        if (!now) continue;
        if (!before || detailOf(before) !== detailOf(now)) /** @type {Element} */ (row.querySelector('.detail')).textContent = detailOf(now);
        takeCost(row, now);
      }
    };
    /** @param {Quote[]} before */
    const noteFresh = (before) => {
      const isOther = (/** @type {Quote} */ quote) => {
        const now = quoteOf(quote.crypto_code);
        return now && (now.amount_in_crypto !== quote.amount_in_crypto || now.amount_in_usd !== quote.amount_in_usd);
      };
      if (!before.some(isOther)) return;
      if (performance.now() - announcedAt >= ANNOUNCED_EVERY_MS) {
        announcedAt = performance.now();
        calls.announce(text('prices_fresh'));
      }
      isFresh = true;
      setTimeout(() => {
        isFresh = false;
        draw();
      }, FRESH_MS);
    };
    /** @param {string} json */
    const take = (json) => {
      const before = quotes;
      const wasAwaited = !given;
      given = json;
      quotes = json ? clean(JSON.parse(json)) : [];
      if (!json) {
        listed = quotes;
        return rows.replaceWith(rows = h('ul', { class: 'options', 'aria-busy': 'true' }, ...Array.from({ length: AWAITED_ROWS }, () => h('li', { class: 'bar' }))));
      }
      const next = host.list(words, quotes);
      const [shown, codes] = [listed, quotes].map((some) => some.map((quote) => quote.crypto_code).join());
      if (shown === codes && rows.matches('.rows')) renew(next);
      else rebuild(host.list(words, quotes));
      drawn = next;
      noteFresh(before);
      // The shop's page has picked an asset: opened at once, or its network confirmed. It is not kept as the last choice.
      const picked = wasAwaited && !mayLeave && quoteOf(host.asset);
      if (!picked || !picked.available) return;
      if (picked.confirms_network) confirm(picked);
      else calls.choose(picked.crypto_code + ' ' + picked.quote_id);
    };

    hint.append(createNote());
    list.append(back);
    followSearch();
    place.append(list);
    let isFirst = true;
    return {
      show: (json, isUnpricedNow, isBusyNow) => {
        [isUnpriced, isBusy] = [isUnpricedNow, isBusyNow];
        if (json !== given || !json) take(json);
        draw();
        const pressed = isFirst && early?.pressed;
        isFirst = false;
        // Repeats the press on the list before the program.
        if (pressed) find(pressed)?.click();
      },
    };
  };
};

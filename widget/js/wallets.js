/**
 * Payment by the wallets of this browser: their buttons, and how far a payment by one of them is. Loaded with the screens
 * after the asset choice, for an asset that they can pay.
 */
import { make } from './dom.js';
import { recall, remember } from './storage.js';
import { CHAINS } from './wallets/chains.js';
import { discover } from './wallets/discovery.js';
import { appsFor, unlessLeft } from './wallets/links.js';
import { WalletError, agrees, follow, pay } from './wallets/payment.js';
/** @import { Wallet, WalletPayment, Words } from './types.d.ts' */

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.wallets{display:grid;gap:var(--s2);margin-block-end:var(--s4)}
.wallets:not(:has(button:not([hidden]),.box)){display:none}
.wallet-list{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(220px,100%),1fr));gap:var(--s2)}
.wallet-list[hidden]{display:none}
.wallet-button{gap:var(--s2);min-height:48px}
.wallet-button img{width:24px;height:24px;border-radius:6px;flex:none}
.wallet-button[aria-disabled]{opacity:.6;cursor:default}
.wallet-status,.wallet-none{margin:0}
.wallet-links{display:grid;gap:var(--s2);margin-block-start:var(--s2)}
:is(.wallet-links,.wallet-app,.wallet-none)[hidden]{display:none}`);

/** Where the hash of a payment is kept until the proxy has it. */
const KEPT = 'florin:sent:';

/** What makes two payments one. @param {WalletPayment} payment */
const keyOf = ({ order, chainId, to, value, data }) => [order, chainId, to, value, data].join();

/**
 * Returns what shows the wallets of one checkout. One payment at a time, whatever screen shows it.
 *
 * @param {Words} words @param {ShadowRoot} root @param {AbortSignal} signal Ends with the checkout.
 */
export const create = (words, root, signal) => {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, STYLE];
  /** @type {Wallet[]} */
  const wallets = [];
  /** What draws each place, and whether it offers the wallets. @type {Map<() => void, boolean>} */
  const places = new Map();
  /** @type {WalletPayment | undefined} The payment that the page asks for. */
  let current;
  /** The payment that the state below is about. */
  let about = '';
  let isBusy = false;
  /** The end of the shown text's key, and the wallet that it names. */
  let text = '';
  let name = '';
  let hash = '';
  let hideApps = () => {};

  /** @param {string} key @param {Record<string, string>} [values] */
  const say = (key, values = {}) => String(words['wallet_' + key]).replace(/\{(\w+)\}/g, (_, gap) => values[gap]);
  const update = () => (hideApps(), [...places.keys()].forEach((draw) => draw()));
  // Wallets announce themselves at once: the first screen has their buttons when it is shown.
  discover((wallet) => {
    wallets.push(wallet);
    update();
  }, signal);

  /** @param {Wallet} wallet */
  const press = async ({ name: pressed, provider }) => {
    // One press is one payment: a second one waits until the wallet has answered the first.
    if (isBusy || !current) return;
    const payment = current;
    const key = keyOf(payment);
    /** Whether the page still shows this payment, and asks for it: not once the time is up. */
    const isCurrent = () => {
      update();
      return !signal.aborted && !!current && keyOf(current) === key && [...places.values()].includes(true);
    };
    [isBusy, text, name, hash, about] = [true, 'confirm', pressed, '', key];
    update();
    try {
      hash = await pay(provider, payment, isCurrent);
      text = 'sent';
      remember(KEPT + payment.order, key + ' ' + hash);
      payment.sent(hash);
    } catch (error) {
      text = error instanceof WalletError ? error.reason : 'unclear';
    }
    isBusy = false;
    update();
    if (!hash) return;
    const sent = hash;
    const ended = await follow(provider, payment.chainId, sent, () => !signal.aborted && hash === sent);
    if (!ended || hash !== sent) return;
    [text, hash] = [ended, ''];
    update();
  };

  /**
   * Shows the apps that a phone may have, after its own handler, and says so where none of them has opened.
   *
   * @param {HTMLElement} place @param {WalletPayment} payment
   */
  const showLinks = (place, payment) => {
    const instructions = place.closest('.instructions');
    const below = /** @type {HTMLElement | null | undefined} */ (instructions?.querySelector('.wallet-links'));
    if (!instructions || !below) return;
    const none = make('p', { className: 'wallet-none box', hidden: true });
    none.dataset.testid = 'wallet-none';
    const pressed = () => unlessLeft(() => {
      none.hidden = below.hidden = false;
      none.textContent = say('none');
      payment.announce(say('none'));
    });
    const isPhone = matchMedia('(pointer: coarse)').matches;
    const apps = (isPhone ? appsFor(payment) : []).map(({ name: app, link }) => {
      const shown = make('a', { className: 'secondary wallet-app', href: link, target: '_blank', rel: 'noopener noreferrer', onclick: pressed, textContent: say('pay', { wallet: app }) });
      shown.setAttribute('part', 'button secondary');
      shown.dataset.testid = 'wallet-app-' + app;
      return shown;
    });
    below.replaceChildren(...apps, none);
    instructions.querySelector('a.wallet')?.addEventListener('click', pressed);
    // In a wallet's own browser, that wallet is the way.
    hideApps = () => {
      apps.forEach((app) => (app.hidden = wallets.length > 0 && !!payment.chainId));
      below.hidden = none.hidden && apps.every((app) => app.hidden);
    };
    hideApps();
  };

  /**
   * Shows the wallets, or with `isProgress` only how far a payment by one of them is, in a place of the screens.
   *
   * @param {HTMLElement} place @param {WalletPayment} payment @param {boolean} isProgress
   */
  return (place, payment, isProgress) => {
    if (!isProgress) showLinks(place, payment);
    // A transaction that differs from what the page shows is offered to no wallet.
    if (!agrees(payment)) return;
    current = payment;
    const key = keyOf(payment);
    if (!isBusy && about !== key) [about, text, hash] = [key, '', ''];
    const [keptKey, keptHash] = (recall(KEPT + payment.order) || '').split(' ');
    if (payment.hint) {
      remember(KEPT + payment.order);
      if (!isBusy && !text) [text, hash] = ['sent', payment.hint];
    } else if (keptKey === key && !isBusy && !text) {
      // The page was loaded again before the proxy had it.
      [text, hash] = ['sent', keptHash];
      payment.sent(keptHash);
    }
    const coin = CHAINS[payment.chainId]?.coin || '';
    const list = make('div', { className: 'wallet-list' });
    const status = make('p', { className: 'wallet-status' });
    place.replaceChildren(...(isProgress ? [status] : [list, status]));
    /** @type {HTMLButtonElement[]} */
    const buttons = [];
    const draw = () => {
      if (!place.isConnected) return void places.delete(draw);
      for (const wallet of isProgress ? [] : wallets.slice(buttons.length)) {
        const label = say('pay', { wallet: wallet.name });
        const button = make('button', { type: 'button', onclick: () => press(wallet) });
        button.dataset.testid = 'wallet-' + wallet.name;
        if (wallet.icon) button.append(make('img', { src: wallet.icon, alt: '', width: 24, height: 24, onerror: (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).remove() }));
        button.append(make('span', { dir: 'auto', textContent: label }));
        buttons.push(button);
        list.append(button);
      }
      // Until the proxy has the hash, the screen of a payment that is under way is about to follow.
      const isSent = text === 'sent';
      list.hidden = !buttons.length || (isSent && !payment.hint);
      for (const button of buttons) {
        button.ariaDisabled = isBusy ? 'true' : null;
        // The one wallet is the way to pay here.
        const look = buttons.length === 1 ? 'primary' : 'secondary';
        button.className = look + ' wallet-button';
        button.setAttribute('part', 'button ' + look);
      }
      // A link that may have no handler is not.
      if (buttons.length) place.closest('.instructions')?.querySelector('a.wallet')?.classList.replace('primary', 'secondary');
      const key = isSent && !isProgress && payment.hint ? 'again' : text;
      const shown = key ? say(key, { wallet: name, asset: payment.asset, network: payment.network, coin }) : '';
      if (status.textContent !== shown) {
        status.textContent = shown;
        if (shown) payment.announce(shown);
      }
      status.dataset.testid = 'wallet-status';
      status.dataset.state = key;
      status.classList.toggle('box', !!shown);
    };
    places.set(draw, !isProgress);
    draw();
  };
};

/**
 * Payment by the wallets of this browser: their buttons, and how far a payment by one of them is. Loaded with the screens
 * after the asset choice, for an asset that they can pay.
 */
import { make } from './dom.js';
import { LAST_WALLET, recall, remember } from './storage.js';
import { transactionOf } from './wallets/calls.js';
import { CHAINS } from './wallets/chains.js';
import { discover } from './wallets/discovery.js';
import { follow } from './wallets/follow.js';
import { deleteExpired, exclusively, storePayment, storedPayment } from './wallets/stored_payment.js';
import { appsFor, unlessLeft } from './wallets/links.js';
import { agrees, isOnTron, pay } from './wallets/payment.js';
import { WalletError } from './wallets/provider.js';
/** @import { StoredPayment } from './wallets/stored_payment.js' */
/** @import { Wallet, WalletPayment, Words } from './types.d.ts' */

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.wallet-list>.box{grid-column:1/-1}
.wallet-button img{width:24px;height:24px;border-radius:6px;flex:none}
button.wallet-button[aria-disabled]{cursor:default}
@media (forced-colors:none){button.wallet-button[aria-disabled]{border-color:var(--border);background:var(--wash);color:var(--text-muted);opacity:1;filter:none}}
.wallet-status,.wallet-none{margin:0}
.wallet-status.box{grid-template-columns:auto minmax(0,1fr);gap:0}
.wallet-status::after{content:"";grid-area:1/1}
.wallet-status[data-state=confirm]::after{box-sizing:border-box;width:20px;height:20px;margin-block-start:2px;margin-inline-end:var(--s3);border:2px solid var(--border);border-block-start-color:var(--accent);border-radius:50%;animation:turn 1.4s linear infinite}
.wallet-status.box:not([data-state=confirm],[data-state=sent],[data-state=pending],[data-state=refused]){background:var(--warning-wash)}
.wallet-status:empty,p:has(+.wallets>.wallet-status.box),.screen:has(>.wallets>:is([data-state=failed],[data-state=elsewhere]))>:is(.steps,.later),.screen:has(>.wallets>.box) .again .wallet-status:is([data-state=failed],[data-state=replaced],[data-state=unseen],[data-state=elsewhere]),.instructions>.wallets:has(>[data-state=sent])~*,.rest:has(.wallets>[data-state=sent])~*{display:none}
:is(.wallet,.wallet-list,.wallet-app,.wallet-page,.wallet-none,.wallet-anyway)[hidden]{display:none}`);

/** So long without a response, the customer reads what else can be done. */
const UNANSWERED_MS = 60000;
/** So long without a response to the payment itself, other wallets can be pressed. */
const UNCLEAR_AFTER_MS = 5 * 60 * 1000;
/** What the page says of a payment that may be on its way, whatever asset it shows meanwhile. */
const UNDER_WAY = ['sent', 'unseen', 'unclear'];
/** In these, to pay again may be to pay twice: it is not the screen's main action. */
const IN_DOUBT = [...UNDER_WAY, 'again', 'elsewhere', 'replaced'];

/** The end of the key of the title that stands in place of the screen's. @type {Record<string, string>} */
const TITLES = { failed: 'failed_title', elsewhere: 'elsewhere_title' };

/** What makes two payments one. @param {WalletPayment} payment */
const keyOf = ({ order, chainId, to, value, data }) => [order, chainId, to, value, data].join();
/** What is known of a kept payment. @param {StoredPayment} kept */
const markOf = ({ at, calls, hash }) => [at, calls, hash].join();

/**
 * Returns what shows the wallets of one checkout. One payment at a time, whatever screen shows it.
 *
 * @param {Words} words @param {ShadowRoot} root @param {AbortSignal} signal Ends with the checkout.
 */
export const create = (words, root, signal) => {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, STYLE];
  // Its wallets are apps.
  const isPhone = matchMedia('(pointer: coarse)').matches;
  /** @type {Wallet[]} */
  let wallets = [];
  /** What draws each place, and whether it offers the wallets. @type {Map<() => void, boolean>} */
  const places = new Map();
  /** @type {WalletPayment | undefined} The payment that the page asks for. */
  let current;
  /** The payment that the state below is about: its order, its address, and what makes it one. */
  let about = { order: '', address: '', key: '' };
  let isBusy = false;
  /** Whether the wallet has not answered for long. */
  let isLate = false;
  /** The end of the shown text's key, and the wallet that it names. */
  let text = '';
  let name = '';
  /** The number of the press whose responses count. */
  let turn = 0;
  /** The kept payment that the page shows, by {@link markOf}. */
  let shown = '';
  /** The wallet that is asked for the kept transaction. */
  let followed = '';
  let announced = '';
  /** Whether there is no wallet of Ethereum's chains, and none of Tron. */
  const isNone = [false, false];
  let hideApps = () => {};

  /** @param {string} key @param {Record<string, string>} [values] */
  const say = (key, values = {}) => String(words['wallet_' + (key === 'none' && isPhone ? 'none_phone' : key)]).replace(/\{(\w+)\}/g, (_, gap) => values[gap]);
  /** Those of the payment's kind of chain. @param {WalletPayment} payment */
  const walletsFor = (payment) => wallets.filter((wallet) => wallet.isOnTron === isOnTron(payment));
  const update = () => (hideApps(), [...places.keys()].forEach((draw) => draw()));

  /** @param {Wallet} wallet @param {StoredPayment} kept */
  const watch = async ({ key, provider }, kept) => {
    if (followed === kept.key + kept.at) return;
    followed = kept.key + kept.at;
    let silent = 0;
    const isCurrent = () => {
      update();
      // Between two screens there is no place for a moment.
      silent = places.size ? 0 : silent + 1;
      return !signal.aborted && silent < 5 && followed === kept.key + kept.at;
    };
    const { chainId = '', order = '' } = current || {};
    /** @param {string} state */
    const ended = (state) => {
      if (!isCurrent() || isBusy) return;
      text = state;
      if (state !== 'unseen' && state !== 'sent') followed = '';
      // For a page that is loaded again: it is no reason to wait, and none to warn.
      if (state === 'failed') storePayment(order, { ...known, isOver: true });
      update();
    };
    let known = kept;
    if (kept.calls && !kept.hash) {
      const found = await transactionOf(provider, kept.calls, isCurrent, kept.at, () => ended('unseen'));
      if (!isCurrent()) return;
      if (!found) return ended('failed');
      known = { ...kept, wallet: key, hash: found };
      storePayment(order, known);
      [shown, text] = [markOf(known), 'sent'];
      current?.sent(found + ' ' + kept.address);
    }
    if (known.hash) await follow(provider, kept.key.split(',')[1] || chainId, known.hash, isCurrent, ended, known);
  };

  /**
   * Shows what another page of this browser, or this one before it was loaded again, has asked a wallet for. Returns `true`
   * if the page has not shown it yet.
   *
   * @param {WalletPayment} payment
   */
  const adopt = (payment) => {
    const kept = storedPayment(payment.order);
    if (!kept || isBusy) return false;
    if (kept.address === payment.address && kept.key !== keyOf(payment)) {
      // A part of it has arrived since.
      storePayment(payment.order);
      return false;
    }
    const wallet = wallets.find(({ key }) => key === kept.wallet);
    if (markOf(kept) !== shown) {
      [shown, name] = [markOf(kept), kept.name];
      about = { order: payment.order, address: kept.address, key: kept.key };
      if (kept.isOver) {
        text = 'failed';
        return false;
      }
      text = kept.hash || kept.calls ? 'sent' : 'unclear';
      if (kept.hash && kept.hash !== payment.hint) payment.sent(kept.hash + ' ' + kept.address);
      if (wallet) watch(wallet, kept);
      return true;
    }
    if (wallet && !kept.isOver && (kept.hash || kept.calls) && UNDER_WAY.includes(text)) watch(wallet, kept);
    return false;
  };

  deleteExpired();
  // Wallets announce themselves at once: the first screen has their buttons when it is shown.
  discover((wallet, replaced) => {
    wallets = [...wallets.filter((one) => one !== replaced), wallet];
    isNone[Number(wallet.isOnTron)] = false;
    if (current) adopt(current);
    update();
  }, (onTron) => {
    isNone[Number(onTron)] = true;
    update();
  }, signal);
  addEventListener('storage', () => {
    if (!current) return;
    // Declined in the other page.
    const isOver = text === 'unclear' && !isBusy && about.order === current.order && !storedPayment(current.order);
    if (isOver) text = '';
    if (adopt(current) || isOver) update();
  }, { signal });

  /** @param {Wallet} wallet @param {boolean} [isAnyway] */
  const press = async (wallet, isAnyway) => {
    // One press is one payment: a second one waits until the wallet has answered the first.
    if (isBusy || !current) return;
    const payment = current;
    if (adopt(payment)) return update();
    const { order, address } = payment;
    const key = keyOf(payment);
    remember(LAST_WALLET, wallet.name, 'localStorage');
    const mine = ++turn;
    const isMine = () => turn === mine;
    const at = Date.now();
    let isAsked = false;
    /** @type {StoredPayment | undefined} What an earlier press has asked for. */
    let before;
    /** Whether the page still shows this payment, and asks for it: not once the time is up. */
    const isCurrent = () => {
      update();
      return isMine() && !signal.aborted && !!current && keyOf(current) === key && [...places.values()].includes(true);
    };
    [isBusy, isLate, text, name, about, announced] = [true, false, 'confirm', wallet.name, { order, address, key }, ''];
    update();
    /** @param {string} state */
    const release = (state) => {
      if (!isMine() || !isBusy) return;
      [isBusy, isLate, text] = [false, false, state];
      update();
    };
    const timers = [
      setTimeout(() => {
        if (!isMine()) return;
        isLate = true;
        if (isAsked) return update();
        // Nothing was asked for: this wallet is asked for nothing any more, and another one can be.
        release('none');
        turn++;
      }, UNANSWERED_MS),
      setTimeout(() => release('unclear'), UNCLEAR_AFTER_MS),
    ];
    /** @type {StoredPayment} */
    const kept = { key, address, wallet: wallet.key, name: wallet.name, at };
    try {
      const sent = await pay(wallet.provider, payment, {
        isCurrent,
        isAnyway,
        asking: (send) => exclusively(order, async () => {
          const other = storedPayment(order);
          // Another page was pressed meanwhile.
          if (other && markOf(other) !== shown) throw new WalletError('');
          [isAsked, before, shown] = [true, other, markOf(kept)];
          // Before the request: this page may be gone when it is answered.
          storePayment(order, kept);
          return send();
        }),
      });
      const known = { ...kept, ...sent, at: Date.now() };
      storePayment(order, known);
      shown = markOf(known);
      if (isMine()) text = 'sent';
      // Whatever the page shows by now: the money is on its way.
      if (sent.hash) payment.sent(sent.hash + ' ' + address);
    } catch (error) {
      const reason = error instanceof WalletError ? error.reason : 'unclear';
      if (isAsked && reason !== 'unclear') {
        // To decline the second payment says nothing of the first.
        storePayment(order, before);
        shown = before ? markOf(before) : '';
      }
      if (isMine()) text = reason;
    }
    timers.forEach(clearTimeout);
    if (isMine()) [isBusy, isLate] = [false, false];
    if (current) adopt(current);
    update();
  };

  /**
   * Shows the apps that a phone may have, after its own handler; says so where none of them has opened. In a frame without wallets,
   * shows the way to the page on which they are, in place of a handler that no desktop has for their assets.
   *
   * @param {HTMLElement} place @param {WalletPayment} payment
   */
  const showLinks = (place, payment) => {
    const instructions = place.closest('.instructions');
    const line = instructions?.querySelector('.line');
    const handler = /** @type {HTMLElement | null | undefined} */ (instructions?.querySelector('a.wallet'));
    const none = make('p', { className: 'wallet-none box', hidden: true });
    none.dataset.testid = 'wallet-none';
    const pressed = () => unlessLeft(() => {
      none.hidden = false;
      none.textContent = say('none');
      payment.announce(say('none'));
    }, () => {
      none.hidden = true;
    }, signal);
    const apps = (isPhone ? appsFor(payment) : []).map(({ name: app, link }) => {
      const shown = make('a', { className: 'secondary wallet-app', href: link, target: '_blank', rel: 'noopener noreferrer', onclick: pressed, textContent: say('pay', { wallet: app }) });
      shown.setAttribute('part', 'button secondary');
      shown.dataset.testid = 'wallet-app-' + app;
      return shown;
    });
    // Brave has a wallet, and keeps it from frames. The address gives access to the order: it is nowhere before a press.
    const look = 'brave' in navigator ? 'secondary' : 'plain';
    const page = make('button', { type: 'button', className: look + ' wallet-page', onclick: () => open(payment.page, '_blank', 'noopener'), textContent: say('page') });
    page.setAttribute('part', 'button ' + look);
    page.dataset.testid = 'wallet-page';
    if (isPhone) place.querySelector('.wallet-list')?.append(...apps, none);
    else {
      line?.append(page);
      line?.after(none);
    }
    handler?.addEventListener('click', pressed);
    const draw = () => {
      const isHere = walletsFor(payment).length > 0 && !!payment.chainId;
      // In a wallet's own browser, that wallet is the way.
      apps.forEach((app) => (app.hidden = isHere));
      if (isHere) /** @type {HTMLElement | null | undefined} */ (instructions?.querySelector('.way'))?.click();
      page.hidden = !isNone[Number(isOnTron(payment))] || parent === window || !payment.chainId;
      if (handler && !isPhone) handler.hidden = !page.hidden;
    };
    hideApps = draw;
    draw();
  };

  /**
   * Shows the wallets, or with `isProgress` only how far a payment by one of them is, in a place of the screens. Opens the
   * preferred one.
   *
   * @param {HTMLElement} place @param {WalletPayment} payment @param {boolean} isProgress
   * @param {string} preferred Its name; empty for none.
   */
  return (place, payment, isProgress, preferred) => {
    if (!isProgress) showLinks(place, payment);
    // A transaction that differs from what the page shows is offered to no wallet.
    if (!agrees(payment)) return;
    current = payment;
    const { order, address } = payment;
    const key = keyOf(payment);
    // Another attempt of the order may be on its way still; of this one, a part has arrived.
    const isOther = about.order === order && about.address !== address && UNDER_WAY.includes(text);
    if (!isBusy && about.key !== key && !isOther) [about, text] = [{ order, address, key }, ''];
    adopt(payment);
    if (payment.hint && !isBusy && !text) text = 'sent';
    const coin = CHAINS[payment.chainId]?.coin || '';
    const list = make('div', { className: 'wallet-list' });
    const status = make('p', { className: 'wallet-status' });
    status.dataset.testid = 'wallet-status';
    const anyway = make('button', { type: 'button', className: 'secondary wallet-anyway', hidden: true, textContent: say('anyway'), onclick: () => {
      const wallet = walletsFor(payment).find((one) => one.name === name);
      if (wallet) press(wallet, true);
    } });
    anyway.setAttribute('part', 'button secondary');
    anyway.dataset.testid = 'wallet-anyway';
    place.prepend(...(isProgress ? [status] : [list, status, anyway]));
    /** @type {Map<Wallet, HTMLButtonElement>} */
    const buttons = new Map();
    /** @param {Wallet} wallet */
    const buttonOf = (wallet) => {
      const button = make('button', { type: 'button', onclick: () => press(wallet) });
      button.dataset.testid = 'wallet-' + wallet.name;
      if (wallet.icon) button.append(make('img', { src: wallet.icon, alt: '', width: 24, height: 24, onerror: (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).remove() }));
      button.append(make('span', { dir: 'auto', textContent: say('pay', { wallet: wallet.name }) }));
      buttons.set(wallet, button);
      if (wallet.name === recall(LAST_WALLET, 'localStorage')) list.prepend(button);
      else list.append(button);
    };
    /** What this place says: of another attempt, only that a payment may be on its way. */
    const state = () => {
      if (about.key === key) return text === 'sent' && !isProgress && payment.hint ? 'again' : text;
      if (isBusy) return 'pending';
      return text === 'sent' || text === 'unseen' ? 'again' : text === 'unclear' ? text : '';
    };
    const screen = place.closest('.screen');
    const title = screen?.querySelector('h2');
    const heading = title?.textContent || '';
    /** Whether this place has set the title of the screen around it. */
    let isTitled = isProgress;
    const draw = () => {
      if (!place.isConnected) return void places.delete(draw);
      if (!isProgress) {
        walletsFor(payment).filter((wallet) => !buttons.has(wallet)).forEach(buttonOf);
        for (const [wallet, button] of buttons) if (!wallets.includes(wallet)) buttons.delete(wallet), button.remove();
      }
      const shownState = state();
      // Until the proxy has the hash, the screen of a payment that is under way is about to follow.
      list.hidden = !buttons.size || (shownState === 'sent' && !payment.hint);
      for (const button of buttons.values()) {
        button.ariaDisabled = isBusy ? 'true' : null;
        // The one wallet is the way to pay here.
        const look = buttons.size === 1 && !IN_DOUBT.includes(shownState) ? 'primary' : 'secondary';
        button.className = look + ' wallet-button';
        button.setAttribute('part', 'button ' + look);
      }
      anyway.hidden = shownState !== 'gas' || payment.data === '0x';
      // A link that may have no handler is not.
      if (buttons.size) place.closest('.instructions')?.querySelector('a.wallet')?.classList.replace('primary', 'secondary');
      // Test networks have names that the order does not.
      const network = CHAINS[payment.chainId]?.name || payment.network;
      const values = { wallet: name, asset: payment.asset, network, coin };
      const sentence = shownState ? say(shownState, values) + (isLate && shownState === 'confirm' ? ' ' + say('none') : '') : '';
      if (status.textContent !== sentence) {
        status.textContent = sentence;
        // One place announces it: not the instructions that are folded below the progress, nor the next screen once more.
        if (sentence && sentence !== announced && !place.closest('details')) {
          announced = sentence;
          payment.announce(sentence);
        }
      }
      status.dataset.state = shownState;
      status.classList.toggle('box', !!sentence);
      isTitled ||= shownState === 'sent';
      if (!screen || !title || !isTitled) return;
      // The proxy learns nothing of most of it: its screen is that of a payment which is still looked for.
      const isSent = shownState === 'sent' || (isProgress && shownState === 'unseen');
      const wanted = String(isSent ? payment.sentTitle : (isProgress && TITLES[shownState] && say(TITLES[shownState])) || heading);
      if (title.textContent !== wanted) title.textContent = wanted;
      // The way to pay again is not folded away when nothing is under way.
      if (isProgress && (shownState === 'failed' || shownState === 'replaced')) screen.querySelector('details.again')?.setAttribute('open', '');
    };
    places.set(draw, !isProgress);
    draw();
    const chosen = walletsFor(payment).find((wallet) => wallet.name === preferred);
    if (chosen && !text) press(chosen);
  };
};

/** The wallets of this browser. Source: EIP-6963, and EIP-1193 for those that announce nothing. */
/** @import { Provider, Wallet } from '../types.d.ts' */

/** More are no help to choose from. */
const MOST = 6;
/** How long wallets have to announce themselves before `window.ethereum` is asked for. */
const ANNOUNCED_WITHIN_MS = 400;
/** An icon is a picture in the announcement itself: nothing is fetched for it. */
const ICON = /^data:image\/(?:svg\+xml|png|webp|jpeg|gif)[;,]/;
const MAX_ICON = 100000;

/** A wallet that announces nothing is known by what it sets. @type {[string, string][]} */
const FLAGS = [['isRabby', 'Rabby'], ['isCoinbaseWallet', 'Coinbase Wallet'], ['isTrust', 'Trust Wallet'], ['isPhantom', 'Phantom'], ['isMetaMask', 'MetaMask']];

/** A name without what a browser obeys instead of showing. @param {unknown} text */
const nameOf = (text) => String(text).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '').trim().slice(0, 32);

/** @param {any} provider @returns {provider is Provider} */
const isProvider = (provider) => typeof provider?.request === 'function';

/**
 * Calls `onFound` with each wallet, once, until `signal` ends it.
 *
 * @param {(wallet: Wallet) => void} onFound @param {AbortSignal} signal
 */
export const discover = (onFound, signal) => {
  /** @type {Map<string, Provider>} */
  const found = new Map();
  const add = (/** @type {string} */ key, /** @type {unknown} */ name, /** @type {unknown} */ icon, /** @type {unknown} */ provider) => {
    if (!isProvider(provider) || found.size === MOST || found.has(key) || !nameOf(name)) return;
    found.set(key, provider);
    const picture = String(icon);
    onFound({ key, name: nameOf(name), icon: ICON.test(picture) && picture.length < MAX_ICON ? picture : '', provider });
  };
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = /** @type {CustomEvent} */ (event).detail || {};
    add(nameOf(info?.rdns) || nameOf(info?.uuid), info?.name, info?.icon, provider);
  }, { signal });
  dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    const { ethereum } = /** @type {any} */ (window);
    if (signal.aborted || found.size || !isProvider(ethereum)) return;
    const flag = FLAGS.find(([flag]) => /** @type {any} */ (ethereum)[flag]);
    add('window.ethereum', flag ? flag[1] : 'Web3', '', ethereum);
  }, ANNOUNCED_WITHIN_MS);
};

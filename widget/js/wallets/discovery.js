/** The wallets of this browser. Source: EIP-6963, and EIP-1193 for those that announce nothing. */
/** @import { Provider, Wallet } from '../types.d.ts' */

/** More are no help to choose from. */
const MOST = 6;
/** How long wallets have to announce themselves before `window.ethereum` is asked for. */
const ANNOUNCED_WITHIN_MS = 400;
/** An icon is a picture in the announcement itself: nothing is fetched for it. */
const ICON = /^data:image\/(?:svg\+xml|png|webp|jpeg|gif)[;,]/;
const MAX_ICON = 100000;
/** The key of the wallet that announces nothing. */
const SILENT = 'window.ethereum';

/** A wallet that announces nothing is known by what it sets. @type {[string, string][]} */
const FLAGS = [['isRabby', 'Rabby'], ['isCoinbaseWallet', 'Coinbase Wallet'], ['isTrust', 'Trust Wallet'], ['isPhantom', 'Phantom'], ['isMetaMask', 'MetaMask']];

/** A name without what a browser obeys instead of showing. @param {unknown} text */
const nameOf = (text) => String(text).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '').trim().slice(0, 32);

/** @param {any} provider @returns {provider is Provider} */
const isProvider = (provider) => typeof provider?.request === 'function';

/**
 * Calls `onFound` with each wallet, once, until `signal` ends it; with `replaced` if it takes the place of the one that had
 * announced nothing until then. Calls `onNone` if there is none.
 *
 * @param {(wallet: Wallet, replaced?: Wallet) => void} onFound @param {() => void} onNone @param {AbortSignal} signal
 */
export const discover = (onFound, onNone, signal) => {
  /** @type {Map<string, Wallet>} */
  const found = new Map();
  const add = (/** @type {string} */ key, /** @type {unknown} */ text, /** @type {unknown} */ icon, /** @type {unknown} */ provider) => {
    const name = nameOf(text);
    if (!isProvider(provider) || found.has(key) || !name) return;
    const silent = found.get(SILENT);
    const replaced = silent && (silent.provider === provider || silent.name === name) ? silent : undefined;
    if (found.size === MOST && !replaced) return;
    if (replaced) found.delete(SILENT);
    const picture = String(icon);
    const wallet = { key, name, icon: ICON.test(picture) && picture.length < MAX_ICON ? picture : '', provider };
    found.set(key, wallet);
    onFound(wallet, replaced);
  };
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = /** @type {CustomEvent} */ (event).detail || {};
    add(nameOf(info?.rdns) || nameOf(info?.uuid), info?.name, info?.icon, provider);
  }, { signal });
  dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    if (signal.aborted || found.size) return;
    const { ethereum } = /** @type {any} */ (window);
    if (!isProvider(ethereum)) return onNone();
    const flag = FLAGS.find(([flag]) => /** @type {any} */ (ethereum)[flag]);
    add(SILENT, flag ? flag[1] : 'Web3', '', ethereum);
  }, ANNOUNCED_WITHIN_MS);
};

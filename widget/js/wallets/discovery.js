/** The wallets of this browser. Source: EIP-6963 and TIP-6963, and EIP-1193 and TIP-1193 for those that announce nothing. */
import { isTron, tronProvider } from './tron.js';
/** @import { Provider, Wallet } from '../types.d.ts' */

/** More are no help to choose from. */
const MOST = 6;
/** How long wallets have to announce themselves before `window.ethereum` and `window.tron` are asked for. */
const ANNOUNCED_WITHIN_MS = 400;
/** An icon is a picture in the announcement itself: nothing is fetched for it. */
const ICON = /^data:image\/(?:svg\+xml|png|webp|jpeg|gif)[;,]/;
const MAX_ICON = 100000;
/** The id of a wallet that announces nothing. */
const SILENT = 'window.ethereum';

/** A wallet that announces nothing is known by what it sets. @type {[string, string][]} */
const FLAGS = [['isTronLink', 'TronLink'], ['isRabby', 'Rabby'], ['isCoinbaseWallet', 'Coinbase Wallet'], ['isTrust', 'Trust Wallet'], ['isPhantom', 'Phantom'], ['isMetaMask', 'MetaMask']];

/** A name without what a browser obeys instead of showing. @param {unknown} text */
const nameOf = (text) => String(text).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '').trim().slice(0, 32);

/** @param {any} provider @returns {provider is Provider} */
const isProvider = (provider) => typeof provider?.request === 'function';

/**
 * Calls `onFound` with each wallet, once, until `signal` ends it; with `replaced` if it takes the place of the one that had
 * announced nothing until then. Calls `onNone` if there is none of Ethereum's chains, and if there is none of Tron.
 *
 * @param {(wallet: Wallet, replaced?: Wallet) => void} onFound @param {(isOnTron: boolean) => void} onNone
 * @param {AbortSignal} signal
 */
export const discover = (onFound, onNone, signal) => {
  discoverOf(false, 'eip6963', isProvider, (provider) => provider, onFound, onNone, signal);
  discoverOf(true, 'TIP6963', isTron, tronProvider, onFound, onNone, signal);
};

/**
 * The same for one of the two kinds: `isOne` knows a provider, `toAsk` makes one of EIP-1193 of it.
 *
 * @param {boolean} isOnTron @param {string} standard @param {(found: any) => boolean} isOne @param {(found: any) => Provider} toAsk
 * @param {(wallet: Wallet, replaced?: Wallet) => void} onFound @param {(isOnTron: boolean) => void} onNone @param {AbortSignal} signal
 */
const discoverOf = (isOnTron, standard, isOne, toAsk, onFound, onNone, signal) => {
  /** @type {Map<string, { wallet: Wallet, behind: unknown }>} */
  const found = new Map();
  const add = (/** @type {string} */ id, /** @type {unknown} */ text, /** @type {unknown} */ icon, /** @type {unknown} */ behind) => {
    const name = nameOf(text);
    // A wallet of both kinds announces itself twice.
    const key = isOnTron ? 'tron:' + id : id;
    if (!isOne(behind) || found.has(key) || !name) return;
    const silent = found.get(isOnTron ? 'tron:' + SILENT : SILENT);
    const replaced = silent && (silent.behind === behind || silent.wallet.name === name) ? silent.wallet : undefined;
    if (found.size === MOST && !replaced) return;
    if (replaced) found.delete(replaced.key);
    const picture = String(icon);
    const wallet = { key, name, isOnTron, icon: ICON.test(picture) && picture.length < MAX_ICON ? picture : '', provider: toAsk(behind) };
    found.set(key, { wallet, behind });
    onFound(wallet, replaced);
  };
  addEventListener(standard + ':announceProvider', (event) => {
    const { info, provider } = /** @type {CustomEvent} */ (event).detail || {};
    add(nameOf(info?.rdns) || nameOf(info?.uuid), info?.name, info?.icon, provider);
  }, { signal });
  dispatchEvent(new Event(standard + ':requestProvider'));
  setTimeout(() => {
    if (signal.aborted || found.size) return;
    const { ethereum, tron, tronLink } = /** @type {any} */ (window);
    const silent = isOnTron ? tron || tronLink : ethereum;
    if (!isOne(silent)) return onNone(isOnTron);
    const flag = FLAGS.find(([flag]) => silent[flag]);
    add(SILENT, flag ? flag[1] : 'Web3', '', silent);
  }, ANNOUNCED_WITHIN_MS);
};

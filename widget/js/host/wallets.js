/** The wallets of this browser in one checkout. Their script is loaded with the screens that show them. */
import { loadWallets } from './files.js';
/** @import { Context, WalletPayment, Words } from '../types.d.ts' */

/** The longest that the screens wait for them. */
const WALLETS_PATIENCE_MS = 2000;

/**
 * Returns `true` if a wallet announces itself, or this is a phone, whose wallets are apps, or a frame, in which wallets may not
 * be. Source: EIP-6963, EIP-1193; of Tron TIP-6963, TIP-1193.
 */
const mayHaveWallets = () => {
  if (['ethereum', 'tron', 'tronLink'].some((name) => name in window) || parent !== window || matchMedia('(pointer: coarse)').matches) return true;
  let isFound = false;
  const find = () => (isFound = true);
  for (const standard of ['eip6963', 'TIP6963']) {
    addEventListener(standard + ':announceProvider', find);
    dispatchEvent(new Event(standard + ':requestProvider'));
    removeEventListener(standard + ':announceProvider', find);
  }
  return isFound;
};

/** @param {Context} context @param {() => Promise<Words>} loadWords */
export const createWallets = ({ element, load, signal }, loadWords) => {
  /** @type {Promise<ReturnType<typeof import('../wallets.js').create>> | undefined} */
  let loading;
  const loaded = () => (loading ||= Promise.all([loadWallets(load), loadWords()]).then(([module, words]) => module.create(words, /** @type {ShadowRoot} */ (element.shadowRoot), signal)));
  /** The wallet that the customer has chosen in the list of assets; empty for none. */
  let preferred = '';
  // Without them, the code and the address are there; the next screen tries again.
  const forget = () => (loading = undefined);
  return {
    /** Loads them where there may be some, so that nothing moves when their buttons appear. */
    prepare: async () => {
      if (!mayHaveWallets()) return;
      await Promise.race([loaded().catch(forget), new Promise((done) => setTimeout(done, WALLETS_PATIENCE_MS))]);
    },
    /** Opens this wallet with the next payment. @param {string} name Empty for none. */
    prefer: (name) => void (preferred = name),
    /** @param {HTMLElement} place @param {WalletPayment} payment @param {boolean} isProgress */
    show: (place, payment, isProgress) => {
      const name = isProgress ? '' : preferred;
      if (name) preferred = '';
      void loaded().then((show) => show(place, payment, isProgress, name), forget);
    },
  };
};

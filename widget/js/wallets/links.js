/** Wallets on phones: links that open an app with the payment in it. */
import { universal_links } from './universal_links.json';
/** @import { WalletPayment } from '../types.d.ts' */

/** The time after which a press has opened no wallet. */
const OPENED_WITHIN_MS = 1500;

/**
 * The apps that can pay this, each with its link, written from what the page shows.
 *
 * @param {WalletPayment} payment @returns {{ name: string, link: string }[]}
 */
export const appsFor = ({ code, uri, address, amount, isTest }) =>
  [...universal_links].flatMap(({ name, link, assets, test_networks }) => {
    const asset = /** @type {Record<string, string | undefined>} */ (assets)[code];
    // A link that names no test network would spend real coins there.
    if (asset === undefined || (isTest && !test_networks) || uri === address) return [];
    /** @type {Record<string, string>} */
    const gaps = { eip681: uri.replace(/^ethereum:/, ''), asset, address, amount };
    return [{ name, link: link.replace(/\{(\w+)\}/g, (_, gap) => gaps[gap]) }];
  });

/**
 * Calls `onStay` if the page is still in front a while after a press on a link, and `onLeave` once it no longer is.
 *
 * @param {() => void} onStay @param {() => void} onLeave @param {AbortSignal} signal
 */
export const unlessLeft = (onStay, onLeave, signal) => {
  const timer = setTimeout(onStay, OPENED_WITHIN_MS);
  const leave = () => {
    if (document.visibilityState !== 'hidden') return;
    document.removeEventListener('visibilitychange', leave);
    clearTimeout(timer);
    onLeave();
  };
  document.addEventListener('visibilitychange', leave, { signal });
};

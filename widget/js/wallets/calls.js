/** Wallets with smart accounts, which send a payment in a call of theirs. Source: EIP-5792. */
import { LOOK_SELDOM_MS, UNSEEN_AFTER_MS } from './follow.js';
import { ask, pause, read } from './provider.js';
/** @import { Provider, WalletPayment } from '../types.d.ts' */

/** How often a call is looked up. */
const CALL_EVERY_MS = 3000;
/** Statuses of `wallet_getCallsStatus`: below, it is under way; from here on, it has failed. */
const CONFIRMED = 200;
const FAILED = 400;
const CALL_HASH = /^0x[0-9a-f]{64}$/i;

/**
 * Returns `true` if the account is a smart account on this chain already. One that could become one is asked for nothing
 * but a usual transaction: a payment changes no account.
 *
 * @param {Provider} provider @param {string} from @param {string} chainId
 */
export const hasCalls = async (provider, from, chainId) => {
  const capabilities = await read(provider, 'wallet_getCapabilities', from, [chainId]);
  return capabilities?.[chainId]?.atomic?.status === 'supported';
};

/**
 * Asks for the payment, the only call; brings the call's id.
 *
 * @param {Provider} provider @param {string} from @param {WalletPayment} payment @returns {Promise<unknown>}
 */
export const sendCalls = async (provider, from, { chainId, to, value, data }) => {
  const sent = await ask(provider, 'wallet_sendCalls', [{ version: '2.0.0', from, chainId, atomicRequired: false, calls: [{ to, value, data }] }]);
  return typeof sent === 'string' ? sent : sent?.id;
};

/**
 * Waits for the transaction of a call; brings its hash, or nothing if it has failed. Calls `onUnseen` once if there is none for long.
 *
 * @param {Provider} provider @param {string} id @param {() => boolean} isCurrent @param {number} at When the wallet was asked.
 * @param {() => void} onUnseen
 */
export const transactionOf = async (provider, id, isCurrent, at, onUnseen) => {
  let isUnseen = false;
  while (isCurrent()) {
    const { status = 0, receipts } = (await read(provider, 'wallet_getCallsStatus', id)) || {};
    const hash = receipts?.at?.(-1)?.transactionHash;
    if (status >= FAILED) break;
    if (status >= CONFIRMED && CALL_HASH.test(hash)) return String(hash).toLowerCase();
    if (!isUnseen && Date.now() - at >= UNSEEN_AFTER_MS) {
      isUnseen = true;
      onUnseen();
    }
    await pause(isUnseen ? LOOK_SELDOM_MS : CALL_EVERY_MS);
  }
};

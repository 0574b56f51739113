/** A transaction after it was sent, by the wallet's node: in a block, failed, replaced, or not to be seen. */
import { chainOf, number, pause, read } from './provider.js';
/** @import { Provider } from '../types.d.ts' */

/** How often a transaction is looked up. */
const LOOK_EVERY_MS = 3000;
/** The time without a sign of it after which the customer is warned; it is looked up more seldom from then on. */
const UNSEEN_AFTER_MS = 5 * 60 * 1000;
const LOOK_SELDOM_MS = 15000;
/** So many times in a row another transaction has its number: one response may come from a node that is behind. */
const REPLACED_TIMES = 3;
/** So many requests in a row without any response: the wallet passes none of them on. */
const SILENT_TIMES = 20;

/**
 * Follows a transaction until it is in a block. Calls `onState` with `failed`, `replaced` (another transaction with its
 * number is in a block), or `elsewhere` (it is on another chain), which end it, and with `unseen`, which does not: what no node
 * shows may still be sent, by a private way or by the owners of a shared account.
 *
 * @param {Provider} provider @param {string} chainId @param {string} hash @param {() => boolean} isCurrent
 * @param {(state: string) => void} onState
 */
export const follow = async (provider, chainId, hash, isCurrent, onState) => {
  const wanted = BigInt(chainId);
  let seen = Date.now();
  let [replaced, silent] = [0, 0];
  /** @type {{ from: string, nonce: bigint } | undefined} */
  let known;
  let isUnseen = false;
  while (silent < SILENT_TIMES) {
    await pause(isUnseen ? LOOK_SELDOM_MS : LOOK_EVERY_MS);
    if (!isCurrent()) return;
    const chain = await chainOf(provider);
    silent = chain === undefined ? silent + 1 : 0;
    const transaction = await read(provider, 'eth_getTransactionByHash', hash);
    const on = transaction ? (number(transaction.chainId) ?? chain) : undefined;
    if (on !== undefined && on !== wanted) return onState('elsewhere');
    // Another chain knows nothing of it.
    if (chain !== wanted) continue;
    const nonce = number(transaction?.nonce);
    if (nonce !== undefined) known = { from: transaction.from, nonce };
    const receipt = await read(provider, 'eth_getTransactionReceipt', hash);
    if (receipt) return number(receipt.status) === 0n ? onState('failed') : undefined;
    if (transaction) {
      if (isUnseen) onState('sent');
      [seen, replaced, isUnseen] = [Date.now(), 0, false];
      continue;
    }
    const mined = known && number(await read(provider, 'eth_getTransactionCount', known.from, 'latest'));
    replaced = known && mined !== undefined && mined > known.nonce ? replaced + 1 : 0;
    if (replaced === REPLACED_TIMES) return onState('replaced');
    if (!isUnseen && Date.now() - seen >= UNSEEN_AFTER_MS) {
      isUnseen = true;
      onState('unseen');
    }
  }
};

/** A transaction after it was sent, by the wallet's node: in a block, failed, replaced, or not to be seen. */
import { chainOf, number, pause, read } from './provider.js';
/** @import { Provider } from '../types.d.ts' */

/** How often a transaction is looked up. */
const LOOK_EVERY_MS = 3000;
/** The time without a sign of it after which the customer is warned; it is looked up more seldom from then on. */
export const UNSEEN_AFTER_MS = 5 * 60 * 1000;
export const LOOK_SELDOM_MS = 15000;
/** So many looks in a row must show that it is replaced or expired: one response may come from a node that is behind. */
const AGREEING_LOOKS = 3;
/**
 * So long after a transaction has expired by the chain's clock, and after it was signed by this machine's, it is in no block of any
 * branch. Source: java-tron, `DposSlot` and `Manager.updateLatestSolidifiedBlock`: a block every 3 s, final after 19 of the 27 producers.
 */
const EXPIRED_AFTER_MS = 2 * 60 * 1000;
/** So many requests in a row without any response: the wallet passes none of them on. */
const SILENT_TIMES = 20;

/**
 * Follows a transaction until it is in a block. Calls `onState` with `failed` (also where it has expired), `replaced` (another
 * transaction with its number is in a block), or `elsewhere` (it is on another chain), which end it, and with `unseen`, which does not: what no node
 * shows may still be sent, by a private way or by the owners of a shared account.
 *
 * @param {Provider} provider @param {string} chainId @param {string} hash @param {() => boolean} isCurrent
 * @param {(state: string) => void} onState @param {{ at: number, until?: number }} [signed] When it was signed, by this machine's clock,
 * and until when a block may take it, by the chain's: milliseconds.
 */
export const follow = async (provider, chainId, hash, isCurrent, onState, { at, until } = { at: 0 }) => {
  const wanted = BigInt(chainId);
  let seen = Date.now();
  let [replaced, expired, silent] = [0, 0, 0];
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
    if (replaced === AGREEING_LOOKS) return onState('replaced');
    // Not where the node has not answered.
    if (until && transaction === null && receipt === null && Date.now() - at > EXPIRED_AFTER_MS) {
      const head = number((await read(provider, 'eth_getBlockByNumber', 'latest', false))?.timestamp);
      expired = head !== undefined && Number(head) * 1000 > until + EXPIRED_AFTER_MS ? expired + 1 : 0;
      if (expired === AGREEING_LOOKS) return onState('failed');
    }
    if (!isUnseen && Date.now() - seen >= UNSEEN_AFTER_MS) {
      isUnseen = true;
      onState('unseen');
    }
  }
};

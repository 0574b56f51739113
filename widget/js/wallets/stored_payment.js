/** The payments that wallets were asked for, stored for every page of this browser: a reload or a second tab is no second payment. */
import { WalletError, pause } from './provider.js';

/**
 * A payment that a wallet was asked for; without hash and call, its response is unknown. `at`: when, by this machine's clock. `until`:
 * the time by the chain's clock from which no block takes it, where there is one; both in milliseconds. `isOver`: it has failed.
 *
 * @typedef {{ key: string, address: string, wallet: string, name: string, at: number, hash?: string, until?: number, calls?: string, isOver?: boolean }} StoredPayment
 */

const KEY = 'florin:sent:';
/** No payment of an order takes longer. */
const STORED_FOR_MS = 24 * 60 * 60 * 1000;
/** A wallet that answers later than this holds up no other page. */
const LOCKED_FOR_MS = 5 * 60 * 1000;

/** Where storage is forbidden, as in frames of another site. @type {Map<string, string>} */
const kept = new Map();

/** Stores a payment of an order; without one, removes it. @param {string} order @param {StoredPayment} [payment] */
export const storePayment = (order, payment) => {
  const text = payment && JSON.stringify(payment);
  kept.delete(KEY + order);
  try {
    if (text) localStorage.setItem(KEY + order, text);
    else localStorage.removeItem(KEY + order);
  } catch {
    if (text) kept.set(KEY + order, text);
  }
};

/** The stored payment of an order. @param {string} order @returns {StoredPayment | undefined} */
export const storedPayment = (order) => {
  let text = kept.get(KEY + order);
  try {
    text ??= localStorage.getItem(KEY + order) ?? undefined;
    return text && JSON.parse(text);
  } catch {}
};

/** Removes what is older than a payment can be. */
export const deleteExpired = () => {
  try {
    for (const name of Object.keys(localStorage)) {
      const order = name.slice(KEY.length);
      if (name.startsWith(KEY) && !(Date.now() - Number(storedPayment(order)?.at) < STORED_FOR_MS)) storePayment(order);
    }
  } catch {}
};

/**
 * Does `work` while no other page of this browser asks for a payment of the same order.
 *
 * @template T
 * @param {string} order @param {() => Promise<T>} work @returns {Promise<T>}
 */
export const exclusively = (order, work) => new Promise((done, fail) => {
  const run = () => {
    const working = work();
    working.then(done, fail);
    return Promise.race([working.then(() => {}, () => {}), pause(LOCKED_FOR_MS)]);
  };
  // Without a secure origin there are no locks, and none in a sandbox.
  if (!navigator.locks) return void run();
  navigator.locks.request(KEY + order, { ifAvailable: true }, (lock) => (lock ? run() : fail(new WalletError('pending')))).catch(run);
});

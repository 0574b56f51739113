/** Requests to a wallet. Source: EIP-1193. */
/** @import { Provider } from '../types.d.ts' */

/** Why a wallet has not sent the payment, by the end of its text's key: `wallet_refused`, … */
export class WalletError extends Error {
  /** @param {string} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/** The longest wait for what is read without the customer. */
const READ_WITHIN_MS = 5000;

/** @param {number} ms @returns {Promise<undefined>} */
export const pause = (ms) => new Promise((done) => setTimeout(done, ms, undefined));

/** The number of a quantity; nothing for a text that is none. @param {unknown} id */
export const number = (id) => {
  try {
    return BigInt(/** @type {string} */ (id));
  } catch {}
};

/** @param {Provider} provider @param {string} method @param {unknown[]} [params] @returns {Promise<any>} */
export const ask = async (provider, method, params) => provider.request({ method, ...(params && { params }) });

/**
 * Reads by the wallet's node; nothing where that fails or takes too long.
 *
 * @param {Provider} provider @param {string} method @param {unknown[]} params @returns {Promise<any>}
 */
export const read = (provider, method, ...params) => Promise.race([ask(provider, method, params).catch(() => undefined), pause(READ_WITHIN_MS)]);

/** The number of the wallet's chain; nothing where it cannot be read. @param {Provider} provider */
export const chainOf = async (provider) => number(await read(provider, 'eth_chainId'));

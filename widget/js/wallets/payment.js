/**
 * One payment by a wallet of this browser: connect, switch the chain, check, send.
 *
 * The transaction comes from the proxy, which wrote it from the checked invoice. Nothing here computes an amount.
 */
import { toAdd } from './chains.js';
/** @import { Provider, WalletPayment } from '../types.d.ts' */

/** Why a wallet has not sent the payment, by the end of its text's key: `wallet_refused`, … */
export class WalletError extends Error {
  /** @param {string} reason */
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/** `transfer(address,uint256)` of EIP-20. */
const TRANSFER = '0xa9059cbb';
/** `balanceOf(address)` of EIP-20. */
const BALANCE_OF = '0x70a08231';
const HASH = /^0x[0-9a-f]{64}$/i;

/** @param {string} address */
const word = (address) => address.slice(2).toLowerCase().padStart(64, '0');

/** The number of a quantity; nothing for a text that is none. @param {unknown} id */
const number = (id) => {
  try {
    return BigInt(/** @type {string} */ (id));
  } catch {}
};

/**
 * Returns `true` if the transaction pays what the page shows: the QR code's text, which names chain, token, address and
 * amount, is written again from the transaction and must be the same.
 *
 * @param {WalletPayment} payment
 */
export const agrees = ({ chainId, to, value, data, address, uri }) => {
  const chain = number(chainId);
  const coins = number(value);
  if (data === '0x') return to === address && uri === 'ethereum:' + to + '@' + chain + '?value=' + coins;
  const units = data.slice(74);
  return value === '0x0' && /^[\da-f]{64}$/.test(units) && data === TRANSFER + word(address) + units
    && uri === 'ethereum:' + to + '@' + chain + '/transfer?address=' + address + '&uint256=' + BigInt('0x' + units);
};

/** The codes of an error and of those in it: MetaMask wraps a node's. @param {any} error @returns {unknown[]} */
const codes = (error) => [error?.code, error?.data?.originalError?.code, error?.cause?.code];

/**
 * What an error means, by the end of its text's key. Source: EIP-1193, "Provider Errors"; EIP-3326 (4902); MetaMask's
 * -32002 for a request that already waits for an answer.
 *
 * @param {any} error @param {string} otherwise
 */
const reasonOf = (error, otherwise) => {
  if (error instanceof WalletError) return error.reason;
  const known = codes(error);
  const text = String(error?.message || '') + String(error?.data?.message || '');
  if (known.includes(4001) || known.includes('ACTION_REJECTED')) return 'refused';
  if (known.includes(-32002)) return 'pending';
  if (known.includes(4100)) return 'account';
  if (known.includes(4200) || known.includes(-32601)) return 'unable';
  if (/insufficient funds/i.test(text)) return 'gas';
  if (/locked/i.test(text)) return 'locked';
  return otherwise;
};

/** @param {Provider} provider @param {string} method @param {unknown[]} [params] @returns {Promise<any>} */
const ask = (provider, method, params) => provider.request({ method, ...(params && { params }) });

/** @param {Provider} provider @param {string} chainId */
const isOn = async (provider, chainId) => number(await ask(provider, 'eth_chainId')) === BigInt(chainId);

/** @param {Provider} provider @param {string} chainId */
const switchChain = async (provider, chainId) => {
  if (await isOn(provider, chainId)) return;
  const wanted = [{ chainId }];
  try {
    await ask(provider, 'wallet_switchEthereumChain', wanted);
  } catch (error) {
    const chain = toAdd(chainId);
    if (!codes(error).includes(4902) || !chain) throw new WalletError(reasonOf(error, 'network'));
    await ask(provider, 'wallet_addEthereumChain', [chain]).catch((error) => {
      throw new WalletError(reasonOf(error, 'network'));
    });
    // Adding a chain need not switch to it.
    if (!(await isOn(provider, chainId))) {
      await ask(provider, 'wallet_switchEthereumChain', wanted).catch((error) => {
        throw new WalletError(reasonOf(error, 'network'));
      });
    }
  }
};

/**
 * Throws where the account cannot pay, so that the page can say what is missing. What cannot be read is left to the
 * wallet.
 *
 * @param {Provider} provider @param {{ from: string, to: string, value: string, data: string }} transaction
 */
const checkFunds = async (provider, transaction) => {
  const { from, to, value, data } = transaction;
  const read = (/** @type {string} */ method, /** @type {unknown[]} */ ...params) => ask(provider, method, params).then(number, () => undefined);
  const [balance, price, tokens] = await Promise.all([
    read('eth_getBalance', from, 'latest'),
    read('eth_gasPrice'),
    data !== '0x' ? read('eth_call', { to, data: BALANCE_OF + word(from) }, 'latest') : undefined,
  ]);
  const coins = BigInt(value);
  if (balance !== undefined && balance < coins) throw new WalletError('funds');
  if (tokens !== undefined && tokens < BigInt('0x' + data.slice(74))) throw new WalletError('funds');
  if (balance === undefined || price === undefined) return;
  const gas = await read('eth_estimateGas', transaction);
  if (gas !== undefined && balance < coins + gas * price) throw new WalletError('gas');
};

/**
 * Asks a wallet to send the payment; brings the transaction's hash. Nothing was sent by a {@link WalletError} of any reason
 * but `unclear`.
 *
 * @param {Provider} provider @param {WalletPayment} payment
 * @param {() => boolean} isCurrent Whether the page still asks for this payment.
 */
export const pay = async (provider, payment, isCurrent) => {
  const { chainId, to, value, data } = payment;
  if (!agrees(payment)) throw new WalletError('unable');
  const accounts = await ask(provider, 'eth_requestAccounts').catch((error) => {
    throw new WalletError(reasonOf(error, 'locked'));
  });
  const from = accounts?.[0];
  if (typeof from !== 'string' || !/^0x[\da-f]{40}$/i.test(from)) throw new WalletError('locked');
  try {
    await switchChain(provider, chainId);
    await checkFunds(provider, { from, to, value, data });
    // The customer may have changed chain or account in the wallet since.
    const [isOnChain, now] = await Promise.all([isOn(provider, chainId), ask(provider, 'eth_accounts')]);
    if (!isOnChain) throw new WalletError('network');
    if (String(now?.[0]).toLowerCase() !== from.toLowerCase()) throw new WalletError('account');
  } catch (error) {
    throw new WalletError(reasonOf(error, 'unable'));
  }
  if (!isCurrent()) throw new WalletError('');
  let hash;
  try {
    hash = await ask(provider, 'eth_sendTransaction', [{ chainId, from, to, value, data }]);
  } catch (error) {
    throw new WalletError(reasonOf(error, 'unclear'));
  }
  if (!HASH.test(hash)) throw new WalletError('unclear');
  return String(hash).toLowerCase();
};

/** How often a transaction is looked up. */
const FOLLOW_EVERY_MS = 3000;
/** So many times in a row unknown to the wallet's node: it was replaced or dropped. */
const UNKNOWN_TIMES = 10;

/**
 * Follows a transaction by the wallet's node until it is in a block; brings `failed`, `dropped`, or nothing.
 *
 * @param {Provider} provider @param {string} chainId @param {string} hash @param {() => boolean} isCurrent
 */
export const follow = async (provider, chainId, hash, isCurrent) => {
  let unknown = 0;
  while (unknown < UNKNOWN_TIMES) {
    await new Promise((done) => setTimeout(done, FOLLOW_EVERY_MS));
    if (!isCurrent()) return '';
    try {
      // Another chain knows nothing of it.
      if (!(await isOn(provider, chainId))) continue;
      const receipt = await ask(provider, 'eth_getTransactionReceipt', [hash]);
      if (receipt) return number(receipt.status) === 0n ? 'failed' : '';
      unknown = (await ask(provider, 'eth_getTransactionByHash', [hash])) ? 0 : unknown + 1;
    } catch {
      // Not every wallet passes these on.
    }
  }
  return 'dropped';
};

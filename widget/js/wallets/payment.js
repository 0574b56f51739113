/**
 * One payment by a wallet of this browser: connect, switch the chain, check, send.
 *
 * The transaction comes from the proxy, which wrote it from the checked invoice. Nothing here computes an amount.
 */
import { hasCalls, sendCalls } from './calls.js';
import { toAdd } from './chains.js';
import { WalletError, ask, chainOf, number, pause, read } from './provider.js';
import { accountOf } from './tron_transaction.js';
/** @import { StoredPayment } from './stored_payment.js' */
/** @import { Provider, WalletPayment } from '../types.d.ts' */

/** `transfer(address,uint256)` of EIP-20. */
const TRANSFER = '0xa9059cbb';
/** `balanceOf(address)` of EIP-20. */
const BALANCE_OF = '0x70a08231';
/** An account, and a transaction's hash: on Ethereum's chains, and on Tron. */
const FORMS = [
  { account: /^0x[\da-f]{40}$/i, hash: /^0x[0-9a-f]{64}$/i },
  { account: /^T[1-9A-HJ-NP-Za-km-z]{33}$/, hash: /^[0-9a-f]{64}$/i },
];
/** Both assets of Tron have so many decimals. */
const TRON_DECIMALS = 6;
/** Its main network. */
const TRON = '0x2b6653dc';

/** Whether a transaction is one of Tron. @param {WalletPayment} payment */
export const isOnTron = ({ to }) => to.startsWith('T');

/** @param {string} address */
const word = (address) => (address.startsWith('T') ? accountOf(address) : address).slice(2).toLowerCase().padStart(64, '0');

/** An amount of an asset of Tron in its smallest unit; -1 where it has none such. @param {string} amount */
const unitsOf = (amount) => {
  const [whole, part = ''] = amount.split('.');
  return (part.length <= TRON_DECIMALS && number(whole + part.padEnd(TRON_DECIMALS, '0'))) || -1n;
};

/** An amount as the code of Tron has it: in whole coins, always with a point. @param {bigint} units */
const inCoins = (units) => String(units).padStart(TRON_DECIMALS + 1, '0').replace(/(\d{6})$/, '.$1').replace(/(\.\d+?)0+$/, '$1');

/**
 * Returns `true` if the transaction pays what the page shows: the QR code's text, which names chain, token, address and
 * amount, is written again from the transaction and must be the same.
 *
 * @param {WalletPayment} payment
 */
export const agrees = (payment) => {
  const { chainId, to, value, data, address, amount, uri } = payment;
  const chain = number(chainId);
  const coins = number(value);
  const isTron = isOnTron(payment);
  if (data === '0x') {
    if (to !== address || coins === undefined) return false;
    // No text names TRX on a test network: its code is the address alone.
    if (uri === address) return isTron && chainId !== TRON && coins === unitsOf(amount);
    return uri === (isTron ? 'tron:' + to + '?amount=' + inCoins(coins) : 'ethereum:' + to + '@' + chain + '?value=' + coins);
  }
  const units = data.slice(74);
  if (value !== '0x0' || !/^[\da-f]{64}$/.test(units) || data !== TRANSFER + word(address) + units) return false;
  if (isTron) return uri === 'tron:' + address + '?token=' + to + '&amount=' + inCoins(BigInt('0x' + units));
  return uri === 'ethereum:' + to + '@' + chain + '/transfer?address=' + address + '&uint256=' + BigInt('0x' + units);
};

/** The codes of an error and of those in it: MetaMask wraps a node's. @param {any} error @returns {unknown[]} */
const codes = (error) => [error?.code, error?.data?.originalError?.code, error?.cause?.code];

/** Some wallets throw a text alone. @param {any} error */
const textOf = (error) => String(error?.message || error || '') + String(error?.data?.message || '');

/**
 * What an error means, by the end of its text's key. Source: EIP-1193, "Provider Errors"; EIP-3326 (4902); MetaMask's
 * -32002 for a request that already waits for a response.
 *
 * @param {any} error @param {string} otherwise
 */
const reasonOf = (error, otherwise) => {
  if (error instanceof WalletError) return error.reason;
  const known = codes(error);
  const text = textOf(error);
  // Some wallets decline without a code.
  if (known.includes(4001) || known.includes('ACTION_REJECTED') || /user (rejected|denied|declined|cancell?ed)|(rejected|denied|declined|cancell?ed) by (the )?user/i.test(text)) return 'refused';
  if (known.includes(-32002)) return 'pending';
  if (known.includes(4100)) return 'account';
  if (known.includes(4200) || known.includes(-32601)) return 'unable';
  if (/insufficient funds|balance is not sufficient/i.test(text)) return 'gas';
  return otherwise;
};

/** How long a wallet may take until it names the chain that it has switched to, and how often it is asked. */
const SWITCHED_WITHIN_MS = 2000;
const SWITCHED_EVERY_MS = 200;

/** @param {Provider} provider @param {string} chainId */
const isSwitched = async (provider, chainId) => {
  for (const start = Date.now(); Date.now() - start < SWITCHED_WITHIN_MS; await pause(SWITCHED_EVERY_MS)) {
    if ((await chainOf(provider)) === BigInt(chainId)) return true;
  }
};

/** EIP-3326 has 4902; others wrap it, and leave its text. @param {any} error */
const isUnknownChain = (error) => codes(error).includes(4902) || (codes(error).includes(-32603) && /unrecognized chain|wallet_addEthereumChain/i.test(textOf(error)));

/** @param {Provider} provider @param {string} chainId */
const switchChain = async (provider, chainId) => {
  const chain = await chainOf(provider);
  if (chain === undefined) throw new WalletError('unable');
  if (chain === BigInt(chainId)) return;
  const change = () => ask(provider, 'wallet_switchEthereumChain', [{ chainId }]);
  try {
    await change();
  } catch (error) {
    const unknown = toAdd(chainId);
    if (!isUnknownChain(error) || !unknown) throw new WalletError(reasonOf(error, 'network'));
    try {
      await ask(provider, 'wallet_addEthereumChain', [unknown]);
      // Adding a chain need not switch to it.
      if ((await chainOf(provider)) !== BigInt(chainId)) await change();
    } catch (error) {
      throw new WalletError(reasonOf(error, 'network'));
    }
  }
  if (!(await isSwitched(provider, chainId))) throw new WalletError('network');
};

/**
 * Throws where the account cannot pay, so that the page can say what is missing. What cannot be read is left to the
 * wallet. `isAnyway`: something other than the account's coins may pay a token's fee.
 *
 * @param {Provider} provider @param {{ from: string, to: string, value: string, data: string }} transaction
 * @param {boolean} isAnyway
 */
const checkFunds = async (provider, transaction, isAnyway) => {
  const { from, to, value, data } = transaction;
  const [balance, price, tokens] = (await Promise.all([
    read(provider, 'eth_getBalance', from, 'latest'),
    read(provider, 'eth_gasPrice'),
    data !== '0x' && read(provider, 'eth_call', { to, data: BALANCE_OF + word(from) }, 'latest'),
  ])).map((text) => (text ? number(text) : undefined));
  const coins = BigInt(value);
  if (balance !== undefined && balance < coins) throw new WalletError('funds');
  if (tokens !== undefined && tokens < BigInt('0x' + data.slice(74))) throw new WalletError('funds');
  if (isAnyway || balance === undefined || price === undefined) return;
  const gas = number(await read(provider, 'eth_estimateGas', transaction));
  if (gas !== undefined && balance < coins + gas * price) throw new WalletError('gas');
};

/**
 * Asks a wallet to send the payment; brings the transaction's hash, or the id of a smart account's call. Nothing was sent
 * by a {@link WalletError} of any reason but `unclear`.
 *
 * @param {Provider} provider @param {WalletPayment} payment
 * @param {{ isCurrent: () => boolean, isAnyway?: boolean, asking?: <T>(send: () => Promise<T>) => Promise<T> }} options
 * `isCurrent`: whether the page still asks for this payment. `asking` sends the request.
 * @returns {Promise<{ hash?: string, until?: number, calls?: string }>} `until` on Tron alone: see {@link StoredPayment}.
 */
export const pay = async (provider, payment, { isCurrent, isAnyway = false, asking = (send) => send() }) => {
  const { chainId, to, value, data } = payment;
  if (!agrees(payment)) throw new WalletError('unable');
  const accounts = await ask(provider, 'eth_requestAccounts').catch((error) => {
    // Before it shares an account, none can have changed.
    const reason = reasonOf(error, 'locked');
    throw new WalletError(reason === 'account' ? 'locked' : reason);
  });
  const from = accounts?.[0];
  const form = FORMS[Number(isOnTron(payment))];
  if (typeof from !== 'string' || !form.account.test(from)) throw new WalletError('locked');
  const isToken = data !== '0x';
  let isSmart = false;
  try {
    await switchChain(provider, chainId);
    isSmart = isToken && (await hasCalls(provider, from, chainId));
    await checkFunds(provider, { from, to, value, data }, isToken && (isAnyway || isSmart));
    // The customer may have changed chain or account in the wallet since.
    const [chain, now] = await Promise.all([chainOf(provider), read(provider, 'eth_accounts')]);
    if (chain !== BigInt(chainId)) throw new WalletError('network');
    if (String(now?.[0]).toLowerCase() !== from.toLowerCase()) throw new WalletError('account');
  } catch (error) {
    throw new WalletError(reasonOf(error, 'unable'));
  }
  /** @type {unknown} */
  let sent;
  try {
    sent = await asking(async () => {
      if (!isCurrent()) throw new WalletError('');
      return isSmart ? sendCalls(provider, from, payment) : ask(provider, 'eth_sendTransaction', [{ chainId, from, to, value, data }]);
    });
  } catch (error) {
    const reason = reasonOf(error, 'unclear');
    // Refused for its parameters, of which the chain is one that the customer can change.
    const isElsewhere = reason === 'unclear' && codes(error).includes(-32602) && ![BigInt(chainId), undefined].includes(await chainOf(provider));
    throw new WalletError(isElsewhere ? 'network' : reason);
  }
  if (isSmart && typeof sent === 'string' && sent) return { calls: sent };
  const { hash, until } = isOnTron(payment) ? Object(sent) : { hash: sent };
  if (isSmart || !form.hash.test(String(hash))) throw new WalletError('unclear');
  return { hash: String(hash).toLowerCase(), ...(until && { until }) };
};

/**
 * Wallets of Tron behind the same requests as those of Ethereum's chains. Source: TIP-1193 for what both have in common;
 * tronweb.network for `tronWeb`, by which such a wallet builds, signs and sends a transaction.
 */
import { WalletError, pause } from './provider.js';
import { FEE_LIMIT, expirationOf, isPayment } from './tron_transaction.js';
/** @import { Provider } from '../types.d.ts' */

/** How long a wallet may take after its owner agreed until it has `tronWeb`. */
const READY_WITHIN_MS = 3000;
const READY_EVERY_MS = 100;
const TRANSFER_CALL = 'transfer(address,uint256)';
/**
 * The response of a node that was given the transaction before, by this wallet or another way: it may be in a block. It may have been
 * refused then as well, which its expiration shows. Source: java-tron, `Wallet.broadcastTransaction`, which notes an id before its
 * checks, and `Manager.validateDup`.
 */
const KNOWN = 'DUP_TRANSACTION_ERROR';

/**
 * The codes with which a node refuses a transaction before it keeps or passes it on. After any other one it may still be mined. Source:
 * java-tron, `Wallet.broadcastTransaction`.
 */
const REFUSED = /^(SIGERROR|(CONTRACT_VALIDATE|CONTRACT_EXE|TAPOS|TOO_BIG_TRANSACTION|TRANSACTION_EXPIRATION)_ERROR)$/;

/** An error with the code of EIP-1193 for what a wallet cannot do: nothing was asked for. */
const unable = () => Object.assign(Error(), { code: 4200 });

/** A quantity. @param {unknown} count */
const quantity = (count) => '0x' + BigInt(/** @type {number} */ (count) || 0).toString(16);

/** The quantity of a word that a contract has returned. @param {any} response */
const wordOf = (response) => '0x' + response.constant_result[0];

/** The number of the chain: the end of its first block's id. Source: TIP-474. @param {any} tronWeb */
const tronChainOf = async (tronWeb) => '0x' + (await tronWeb.trx.getBlockByNumber(0)).blockID.slice(-8).replace(/^0+(?=.)/, '');

/** Whether `wallet` is a provider that can be asked. @param {any} wallet */
export const isTron = (wallet) => typeof wallet?.request === 'function' && 'tronWeb' in wallet;

/** A wallet of Tron as a provider of EIP-1193. @param {any} wallet @returns {Provider} */
export const tronProvider = (wallet) => {
  /** Another one after each change of chain; none while locked. */
  const web = () => wallet.tronWeb || undefined;
  const account = () => web()?.defaultAddress?.base58 || undefined;
  const accounts = () => (account() ? [account()] : []);

  const connect = async () => {
    // One from before TIP-1193 returns a code instead.
    const isOld = wallet === /** @type {any} */ (window).tronLink;
    const response = await wallet.request({ method: isOld ? 'tron_requestAccounts' : 'eth_requestAccounts' });
    if (response?.code === 4000) throw new WalletError('pending');
    if (response?.code === 4001) throw new WalletError('refused');
    for (const start = Date.now(); response && !account() && Date.now() - start < READY_WITHIN_MS; ) await pause(READY_EVERY_MS);
    return accounts();
  };

  /** What a call of the token costs, in units of energy; its account's own are free. @param {any} transaction */
  const energyOf = async ({ from, to, data }) => {
    const { trx, transactionBuilder } = web();
    const [estimate, resources] = await Promise.all([
      transactionBuilder.triggerConstantContract(to, TRANSFER_CALL, { rawParameter: data.slice(10) }, [], from),
      trx.getAccountResources(from),
    ]);
    const free = (resources.EnergyLimit || 0) - (resources.EnergyUsed || 0);
    return quantity(Math.max(0, estimate.energy_used - Math.max(0, free)));
  };

  /** @param {any} payment */
  const send = async (payment) => {
    const { chainId, from, to, value, data } = payment;
    const tronWeb = web();
    const { trx, transactionBuilder: builder } = tronWeb;
    const built = data === '0x'
      ? await builder.sendTrx(to, Number(value), from)
      : (await builder.triggerSmartContract(to, TRANSFER_CALL, { callValue: 0, feeLimit: FEE_LIMIT, rawParameter: data.slice(10) }, [], from)).transaction;
    // A builder is the wallet's, and its node's: what it returns is compared before anything is signed. A copy, which it cannot
    // change after the comparison.
    const transaction = JSON.parse(JSON.stringify(built ?? null));
    if (!(await isPayment(transaction, payment).catch(() => false)) || (await tronChainOf(tronWeb)) !== chainId) throw unable();
    const { txID, raw_data_hex: hex } = transaction;
    const signed = await trx.sign(transaction);
    if (signed?.txID !== txID || signed.raw_data_hex !== hex || !signed.signature?.length) throw Error('another transaction was signed');
    const { result, code } = await trx.sendRawTransaction(signed);
    if (result || code === KNOWN) return { hash: txID, until: expirationOf(hex) };
    throw new WalletError(code === 'BANDWITH_ERROR' ? 'gas' : REFUSED.test(code) ? 'failed' : 'unclear');
  };

  /** Nothing only where the node has no such transaction: tronWeb throws for that too. @param {string} id */
  const transactionOf = async (id) => {
    try {
      return (await web().trx.getTransaction(id)).txID === id ? {} : null;
    } catch (error) {
      if (/transaction not found/i.test(/** @type {any} */ (error)?.message || error)) return null;
      throw error;
    }
  };

  /** @type {Record<string, (...params: any[]) => unknown>} */
  const methods = {
    eth_requestAccounts: connect,
    eth_accounts: accounts,
    eth_chainId: () => tronChainOf(web()),
    eth_getBalance: async (from) => quantity(await web().trx.getUnconfirmedBalance(from)),
    eth_gasPrice: async () => quantity((await web().trx.getChainParameters()).find((/** @type {{ key: string }} */ { key }) => key === 'getEnergyFee')?.value),
    eth_call: async ({ to, data }) => wordOf(await web().transactionBuilder.triggerConstantContract(to, 'balanceOf(address)', { rawParameter: data.slice(10) }, [], account())),
    // The coin's own transfer takes bandwidth, of which each account has some for nothing.
    eth_estimateGas: (transaction) => (transaction.data === '0x' ? '0x0' : energyOf(transaction)),
    eth_sendTransaction: send,
    eth_getBlockByNumber: async () => ({ timestamp: quantity(Math.floor((await web().trx.getCurrentBlock()).block_header.raw_data.timestamp / 1000)) }),
    eth_getTransactionByHash: transactionOf,
    eth_getTransactionReceipt: async (id) => {
      const { blockNumber, result } = await web().trx.getUnconfirmedTransactionInfo(id);
      return blockNumber ? { status: result === 'FAILED' ? '0x0' : '0x1' } : null;
    },
    wallet_switchEthereumChain: (chain) => wallet.request({ method: 'wallet_switchEthereumChain', params: [chain] }),
  };
  return {
    request: async ({ method, params }) => {
      const run = methods[method];
      if (!run || (method !== 'eth_requestAccounts' && !web())) throw unable();
      return run(.../** @type {unknown[]} */ (params || []));
    },
  };
};

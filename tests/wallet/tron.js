/**
 * A wallet of Tron for tests: tronWeb builds each transaction and signs it with a test key. A node of Tron is not among
 * the tests' programs; this answers what tronWeb asks one for, and passes on to `relay` what is to be sent.
 */
import { TronWeb, utils } from 'tronweb';

/** The end of the first block's id of Nile, Tron's test network. */
const NILE = '0xcd8690dc';
/** A key for tests alone. */
const KEY = '8f2a559490d1a1ed7a5f5e0b4a2f8c6e1d3b5a7c9e0f1a2b3c4d5e6f70819203';

/**
 * What a test may change: `balance` in sun, `tokens` in their smallest unit, `energy` of the account, `built` changes what
 * the builder returns, `whileAsked` runs while the chain is asked for, `sent` what the node answers to a transaction, `chainTime` the
 * time of its last block; `errors` and `before` by method. `asked` is every request, with `sign` and `broadcast`.
 */
export const tronWallet = (relay) => {
  const wallet = {
    asked: [],
    errors: {},
    before: {},
    chain: NILE,
    balance: 100_000_000,
    tokens: 1_000_000_000,
    energy: 0,
    isLocked: false,
    chainTime: () => Date.now(),
    built: (transaction) => transaction,
    sent: (transaction) => relay('broadcast', transaction),
  };
  const tronWeb = new TronWeb({ fullHost: 'http://tron.invalid', privateKey: KEY });
  wallet.account = tronWeb.defaultAddress.base58;
  wallet.tronWeb = tronWeb;
  const { trx, transactionBuilder: builder } = tronWeb;
  const note = async (method, params) => {
    wallet.asked.push({ method, params });
    await wallet.before[method];
    if (wallet.errors[method]) throw wallet.errors[method];
  };
  /** The paths of a node's HTTP interface that are asked for. */
  const paths = {
    getblockbynum: () => (wallet.whileAsked?.(), { blockID: wallet.chain.slice(2).padStart(64, '0') }),
    getnowblock: () => ({ block_header: { raw_data: { timestamp: wallet.chainTime() } } }),
    getblock: () => ({ blockID: '00000000036c2f1e'.padEnd(64, 'a'), block_header: { raw_data: { number: 57421598, timestamp: Date.now() } } }),
    getaccount: () => ({ balance: wallet.balance }),
    getaccountresource: () => ({ EnergyLimit: wallet.energy }),
    getchainparameters: () => ({ chainParameter: [{ key: 'getEnergyFee', value: 100 }] }),
    triggerconstantcontract: () => ({ result: { result: true }, energy_used: 64285, constant_result: [wallet.tokens.toString(16).padStart(64, '0')] }),
    // A node builds it as tronWeb does on its own.
    triggersmartcontract: ({ contract_address: to, function_selector: call, parameter, fee_limit: feeLimit, owner_address: from }) =>
      builder.triggerSmartContract(to, call, { rawParameter: parameter, feeLimit, txLocal: true }, [], from),
    broadcasttransaction: async (transaction) => {
      await note('broadcast', [transaction]);
      return wallet.sent(transaction);
    },
    gettransactionbyid: ({ value }) => relay('transaction', value),
    gettransactioninfobyid: ({ value }) => relay('receipt', value),
  };
  tronWeb.fullNode.request = async (path, body) => structuredClone(await paths[path.replace(/^wallet\//, '')](body));
  const { sendTrx, triggerSmartContract } = builder;
  builder.sendTrx = async (...given) => wallet.built(await sendTrx.apply(builder, given));
  builder.triggerSmartContract = async (...given) => {
    const built = await triggerSmartContract.apply(builder, given);
    // Not those of the node itself.
    return given[2].txLocal ? built : { ...built, transaction: wallet.built(built.transaction) };
  };
  const sign = trx.sign.bind(trx);
  trx.sign = async (transaction) => {
    await note('sign', [transaction]);
    const signed = await sign(transaction);
    // The signature itself names the account.
    if (trx.ecRecover(signed) !== wallet.account) throw new Error('the signature is not that of the account');
    return wallet.signed ? wallet.signed(signed) : signed;
  };
  const request = async ({ method, params = [] }) => {
    await note(method, params);
    switch (method) {
      case 'eth_requestAccounts':
        return wallet.isLocked ? [] : [wallet.account];
      case 'tron_requestAccounts':
        return wallet.isLocked ? '' : { code: 200, message: '' };
      case 'wallet_switchEthereumChain':
        wallet.chain = params[0].chainId;
        return null;
      default:
        throw Object.assign(new Error('unsupported'), { code: 4200 });
    }
  };
  wallet.provider = {
    request,
    get tronWeb() {
      return wallet.isLocked ? false : tronWeb;
    },
  };
  return wallet;
};

/** A builder's transaction with another content, its bytes and id written by tronWeb: what differs can be seen alone. */
export const rebuilt = (transaction, change) => {
  const changed = structuredClone(transaction);
  change(changed.raw_data);
  const { txJsonToPb, txPbToTxID, txPbToRawDataHex } = utils.transaction;
  const pb = txJsonToPb(changed);
  changed.txID = txPbToTxID(pb).replace(/^0x/, '');
  changed.raw_data_hex = txPbToRawDataHex(pb).toLowerCase();
  return changed;
};

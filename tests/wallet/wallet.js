/**
 * A wallet for tests: a provider of EIP-1193 that announces itself by EIP-6963 and really signs, with the first test key
 * of the node. Its customer agrees to everything; `window.testWallet` has what a test wants otherwise.
 */
import { privateKeyToAccount } from 'viem/accounts';
import { node } from './node.js';

/** The first account of every such node; its key is public. */
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');

/**
 * What a test may change: errors and answers by method, what a response waits for, an account, and the chains that it knows.
 * `isSmart`: its account sends calls. `asked` is every request.
 */
const wallet = (window.testWallet = {
  asked: [],
  errors: {},
  before: {},
  answers: {},
  chains: ['0x1', '0xaa36a7'],
  chain: '0x1',
  isSmart: false,
  account: account.address,
});

const sign = async ({ from, to, value, data, chainId }) => {
  if (from !== account.address) throw Object.assign(new Error('unknown account'), { code: 4100 });
  if (chainId !== wallet.chain) throw Object.assign(new Error('another chain'), { code: -32602 });
  const [nonce, gasPrice, gas] = await Promise.all([
    node('eth_getTransactionCount', [from, 'pending']),
    node('eth_gasPrice'),
    node('eth_estimateGas', [{ from, to, value, data }]),
  ]);
  const transaction = { chainId: Number(chainId), nonce: Number(nonce), gas: BigInt(gas), gasPrice: 2n * BigInt(gasPrice), to, value: BigInt(value), data };
  return node('eth_sendRawTransaction', [await account.signTransaction(transaction)]);
};

const request = async ({ method, params = [] }) => {
  wallet.asked.push({ method, params });
  await wallet.before[method];
  if (wallet.errors[method]) throw wallet.errors[method];
  if (method in wallet.answers) return wallet.answers[method];
  switch (method) {
    case 'eth_requestAccounts':
    case 'eth_accounts':
      return [wallet.account];
    case 'eth_chainId':
      return wallet.chain;
    case 'wallet_addEthereumChain':
      wallet.chains.push(params[0].chainId);
      return null;
    case 'wallet_switchEthereumChain':
      if (!wallet.chains.includes(params[0].chainId)) throw Object.assign(new Error('Unrecognized chain'), { code: 4902 });
      wallet.chain = params[0].chainId;
      return null;
    case 'eth_sendTransaction':
      return sign(params[0]);
    case 'wallet_getCapabilities':
      return wallet.isSmart ? { [wallet.chain]: { atomic: { status: 'supported' } } } : {};
    case 'wallet_sendCalls': {
      const [{ from, chainId, calls }] = params;
      if (!wallet.isSmart || calls.length !== 1) throw Object.assign(new Error('one call'), { code: -32602 });
      const hash = await sign({ from, chainId, ...calls[0] });
      return { id: 'call:' + hash };
    }
    case 'wallet_getCallsStatus': {
      const receipt = await node('eth_getTransactionReceipt', [params[0].replace('call:', '')]);
      if (!receipt) return { status: 100 };
      return { status: receipt.status === '0x1' ? 200 : 500, receipts: [receipt] };
    }
    default:
      return node(method, params);
  }
};

const icon = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22%3E%3Crect width=%2224%22 height=%2224%22 rx=%226%22 fill=%22%23e2761b%22/%3E%3Cpath d=%22M6 9h12v7H6z%22 fill=%22%23fff%22/%3E%3C/svg%3E';
const detail = Object.freeze({ info: Object.freeze({ uuid: 'b8a1a6b5-7b6c-4f43-9d5c-6a0f5c1d2e3f', name: 'Test Wallet', icon, rdns: 'test.florin.wallet' }), provider: { request } });
const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
addEventListener('eip6963:requestProvider', announce);
announce();

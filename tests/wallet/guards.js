/** The guards of a payment by a wallet, against a wallet that answers as each case says. Prints what differs. */
import { pay } from '../../widget/js/wallets/payment.js';

const TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const OTHER = '0x' + '11'.repeat(20);
const TOKEN = '0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0';
const HASH = '0x' + 'ab'.repeat(32);
const ether = { chainId: '0xaa36a7', to: TO, value: '0x10', data: '0x', address: TO, uri: `ethereum:${TO}@11155111?value=16` };
const data = (to, units) => '0xa9059cbb' + to.slice(2).toLowerCase().padStart(64, '0') + units.toString(16).padStart(64, '0');
const tether = { chainId: '0xaa36a7', to: TOKEN, value: '0x0', data: data(TO, 16), address: TO, uri: `ethereum:${TOKEN}@11155111/transfer?address=${TO}&uint256=16` };

const failed = (code, message = '') => () => {
  throw Object.assign(new Error(message), { code });
};
const USUAL = {
  eth_requestAccounts: () => [ACCOUNT],
  eth_accounts: () => [ACCOUNT],
  eth_chainId: () => '0xaa36a7',
  eth_getBalance: () => '0xffffffffffff',
  eth_gasPrice: () => '0x1',
  eth_call: () => '0xff',
  eth_estimateGas: () => '0x5208',
  eth_sendTransaction: () => HASH,
};

/** The name of a case, what the wallet answers otherwise, the payment, the outcome, and whether the wallet was asked to send. */
const cases = [
  ['ether is sent', {}, ether, 'sent', true],
  ['a token is sent', {}, tether, 'sent', true],
  ['another amount than the code has', {}, { ...ether, value: '0x11' }, 'unable'],
  ['another receiver', {}, { ...ether, to: OTHER }, 'unable'],
  ['another chain than the code has', {}, { ...ether, chainId: '0x1' }, 'unable'],
  ['call data beside the coin', {}, { ...ether, data: data(TO, 1) }, 'unable'],
  ['a token to another receiver', {}, { ...tether, data: data(OTHER, 16) }, 'unable'],
  ['another amount of the token', {}, { ...tether, data: data(TO, 17) }, 'unable'],
  ['another contract', {}, { ...tether, to: OTHER }, 'unable'],
  ['coins beside the token', {}, { ...tether, value: '0x1' }, 'unable'],
  ['an approval', {}, { ...tether, data: '0x095ea7b3' + tether.data.slice(10) }, 'unable'],
  ['more call data', {}, { ...tether, data: tether.data + '00' }, 'unable'],
  ['a chain that only seems to be switched', { eth_chainId: () => '0x1', wallet_switchEthereumChain: () => null }, ether, 'network'],
  ['another account at the last moment', { eth_accounts: () => [OTHER] }, ether, 'account'],
  ['no account', { eth_requestAccounts: () => [] }, ether, 'locked'],
  ['too few coins', { eth_getBalance: () => '0x1' }, ether, 'funds'],
  ['too few tokens', { eth_call: () => '0x1' }, tether, 'funds'],
  ['too few coins for the fee', { eth_getBalance: () => '0x11' }, ether, 'gas'],
  ['declined', { eth_requestAccounts: failed(4001) }, ether, 'refused'],
  ['a request that waits', { eth_requestAccounts: failed(-32002) }, ether, 'pending'],
  ['a payment that was declined', { eth_sendTransaction: failed(4001) }, ether, 'refused', true],
  ['an unknown error of the wallet', { eth_sendTransaction: failed(-32603) }, ether, 'unclear', true],
  ['an answer that is no hash', { eth_sendTransaction: () => 'zz' }, ether, 'unclear', true],
  ['a payment that the page no longer asks for', {}, { ...ether, isOver: true }, ''],
];

for (const [name, answers, payment, wanted, isSent = false] of cases) {
  const asked = [];
  const provider = {
    request: async (request) => {
      asked.push(request);
      return { ...USUAL, ...answers }[request.method]();
    },
  };
  const outcome = await pay(provider, payment, () => !payment.isOver).then(() => 'sent', (error) => error.reason);
  const sent = asked.filter(({ method }) => method === 'eth_sendTransaction');
  if (outcome !== wanted || sent.length !== Number(isSent)) console.log(`${name}: ${outcome}, asked to send ${sent.length} times`);
  const { chainId, to, value } = payment;
  const exact = JSON.stringify([{ chainId, from: ACCOUNT, to, value, data: payment.data }]);
  if (isSent && JSON.stringify(sent[0].params) !== exact) console.log(`${name}: ${JSON.stringify(sent[0].params)}`);
}

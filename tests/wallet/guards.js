/** The guards of a payment by a wallet, against a wallet that answers as each case says. Prints what differs. */
import { transactionOf } from '../../widget/js/wallets/calls.js';
import { discover } from '../../widget/js/wallets/discovery.js';
import { follow } from '../../widget/js/wallets/follow.js';
import { pay } from '../../widget/js/wallets/payment.js';
import { never, now, settled } from './clock.js';

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
  ['a chain that a wallet names a second after it has switched', { eth_chainId: () => (now - started > 1000 ? '0xaa36a7' : '0x1'), wallet_switchEthereumChain: () => null }, ether, 'sent', true],
  ['an unknown chain in an error of another kind', { eth_chainId: () => (added ? '0xaa36a7' : '0x1'), wallet_switchEthereumChain: failed(-32603, 'Unrecognized chain ID "0xaa36a7".'), wallet_addEthereumChain: () => ((added = true), null) }, ether, 'sent', true],
  ['a chain that cannot be read', { eth_chainId: never }, ether, 'unable'],
  ['balances that are never read', { eth_getBalance: never, eth_gasPrice: never, eth_call: never }, tether, 'sent', true],
  ['no permission to connect', { eth_requestAccounts: failed(4100) }, ether, 'locked'],
  ['declined without a code', { eth_sendTransaction: failed(undefined, 'User rejected the request.') }, ether, 'refused', true],
  ['denied with another code', { eth_sendTransaction: failed(-32603, 'MetaMask Tx Signature: User denied transaction signature.') }, ether, 'refused', true],
  ['an error that is no refusal', { eth_sendTransaction: failed(-32603, 'transaction blocked') }, ether, 'unclear', true],
  ['no account', { eth_requestAccounts: () => [] }, ether, 'locked'],
  ['too few coins', { eth_getBalance: () => '0x1' }, ether, 'funds'],
  ['too few tokens', { eth_call: () => '0x1' }, tether, 'funds'],
  ['too few coins for the fee', { eth_getBalance: () => '0x11' }, ether, 'gas'],
  ['too few coins for the fee of a token', { eth_getBalance: () => '0x1' }, tether, 'gas'],
  ['the same, tried anyway', { eth_getBalance: () => '0x1' }, { ...tether, isAnyway: true }, 'sent', true],
  ['too few coins for the fee of coins, tried anyway', { eth_getBalance: () => '0x11' }, { ...ether, isAnyway: true }, 'gas'],
  ['declined', { eth_requestAccounts: failed(4001) }, ether, 'refused'],
  ['a request that waits', { eth_requestAccounts: failed(-32002) }, ether, 'pending'],
  ['a payment that was declined', { eth_sendTransaction: failed(4001) }, ether, 'refused', true],
  ['an unknown error of the wallet', { eth_sendTransaction: failed(-32603) }, ether, 'unclear', true],
  ['another chain at the last moment', { eth_chainId: () => (added ? '0x1' : '0xaa36a7'), eth_sendTransaction: () => ((added = true), failed(-32602, 'chainId')()) }, ether, 'network', true],
  ['parameters that are refused on the right chain', { eth_sendTransaction: failed(-32602) }, ether, 'unclear', true],
  ['an answer that is no hash', { eth_sendTransaction: () => 'zz' }, ether, 'unclear', true],
  ['a payment that the page no longer asks for', {}, { ...ether, isOver: true }, ''],
];

/** Reset before each case. */
let started = 0;
let added = false;

/** A provider that answers so, and the requests that it has got. */
const wallet = (answers) => {
  const asked = [];
  const request = async (request) => {
    asked.push(request);
    const answer = answers[request.method];
    if (!answer) throw Object.assign(new Error('unknown'), { code: -32601 });
    return answer(...(request.params || []));
  };
  return { asked, request };
};

for (const [name, answers, payment, wanted, isSent = false] of cases) {
  [started, added] = [now, false];
  const provider = wallet({ ...USUAL, ...answers });
  const paying = pay(provider, payment, { isCurrent: () => !payment.isOver, isAnyway: payment.isAnyway });
  const outcome = await settled(paying.then(() => 'sent', (error) => error.reason));
  const sent = provider.asked.filter(({ method }) => method === 'eth_sendTransaction');
  if (outcome !== wanted || sent.length !== Number(isSent)) console.log(`${name}: ${outcome}, asked to send ${sent.length} times`);
  const { chainId, to, value } = payment;
  const exact = JSON.stringify([{ chainId, from: ACCOUNT, to, value, data: payment.data }]);
  if (isSent && JSON.stringify(sent[0].params) !== exact) console.log(`${name}: ${JSON.stringify(sent[0].params)}`);
}

/** Whether the difference of a case is printed. */
const expect = (name, found, wanted) => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) console.log(`${name}: ${JSON.stringify(found)}`);
};

// A smart account gets the one transfer as a call, and no other request.
const smart = { ...USUAL, wallet_getCapabilities: () => ({ '0xaa36a7': { atomic: { status: 'supported' } } }), wallet_sendCalls: () => ({ id: '0x77' }) };
for (const [name, answers, payment, wanted, method] of [
  ['a smart account', smart, tether, { calls: '0x77' }, 'wallet_sendCalls'],
  ['a smart account without coins', { ...smart, eth_getBalance: () => '0x0' }, tether, { calls: '0x77' }, 'wallet_sendCalls'],
  ['a smart account and coins', smart, ether, { hash: HASH }, 'eth_sendTransaction'],
  ['an account that could become one', { ...smart, wallet_getCapabilities: () => ({ '0xaa36a7': { atomic: { status: 'ready' } } }) }, tether, { hash: HASH }, 'eth_sendTransaction'],
  ['capabilities that never come', { ...smart, wallet_getCapabilities: never }, tether, { hash: HASH }, 'eth_sendTransaction'],
]) {
  const provider = wallet(answers);
  expect(name, await settled(pay(provider, payment, { isCurrent: () => true })), wanted);
  const sent = provider.asked.filter(({ method }) => /send/.test(method));
  expect(name + ', its requests', sent.map(({ method }) => method), [method]);
  const { to, value, data } = payment;
  if (method === 'wallet_sendCalls') expect(name + ', its calls', sent[0].params[0].calls, [{ to, value, data }]);
}
for (const [name, statuses, wanted] of [
  ['a call in a block', [{ status: 100 }, { status: 200, receipts: [{ transactionHash: HASH }] }], HASH],
  ['a call that failed', [{ status: 100 }, { status: 500 }], undefined],
  ['a call whose status is not read at once', [undefined, { status: 200, receipts: [{ transactionHash: HASH }] }], HASH],
]) {
  const provider = wallet({ wallet_getCallsStatus: () => statuses.shift() });
  expect(name, await settled(transactionOf(provider, '0x77', () => true, now, () => expect(name, 'unseen', wanted))), wanted);
}
{
  const start = now;
  const provider = wallet({ wallet_getCallsStatus: () => (now - start < 600000 ? { status: 100 } : { status: 200, receipts: [{ transactionHash: HASH }] }) });
  const minutes = [];
  const hash = await settled(transactionOf(provider, '0x77', () => true, start, () => minutes.push(Math.round((now - start) / 60000))));
  expect('a call that no block has for ten minutes', [hash, minutes], [HASH, [5]]);
  expect('it is looked up more seldom then', provider.asked.length < 125, true);
}

/** What a node shows of a transaction, from so many milliseconds on. */
const TRANSACTION = { from: ACCOUNT, nonce: '0x5', chainId: '0xaa36a7' };
const followed = async (answers, minutes = 60) => {
  const start = now;
  const states = [];
  const note = (state) => states.push([state, Math.round((now - start) / 60000)]);
  const usual = { eth_chainId: () => '0xaa36a7', eth_getTransactionByHash: () => null, eth_getTransactionReceipt: () => null, eth_getTransactionCount: () => '0x5' };
  const provider = wallet({ ...usual, ...answers(() => now - start) });
  await settled(follow(provider, '0xaa36a7', HASH, () => now - start < minutes * 60000, note));
  return { states, minutes: Math.round((now - start) / 60000) };
};
const after = (ms, answer, before = null) => (time) => (time() > ms ? answer : before);
for (const [name, answers, states] of [
  ['a transaction in a block', (time) => ({ eth_getTransactionByHash: () => TRANSACTION, eth_getTransactionReceipt: () => after(60000, { status: '0x1' })(time) }), []],
  ['a failed transaction', () => ({ eth_getTransactionReceipt: () => ({ status: '0x0' }) }), [['failed', 0]]],
  ['a transaction that no node shows', () => ({}), [['unseen', 5]]],
  ['one that no node shows while the account sends others', () => ({ eth_getTransactionCount: () => '0x9' }), [['unseen', 5]]],
  ['one that is shown after ten minutes', (time) => ({ eth_getTransactionByHash: () => after(600000, TRANSACTION)(time) }), [['unseen', 5], ['sent', 10]]],
  ['one that vanishes while its number is free', (time) => ({ eth_getTransactionByHash: () => after(60000, null, TRANSACTION)(time) }), [['unseen', 6]]],
  ['one whose number another has', (time) => ({ eth_getTransactionByHash: () => after(60000, null, TRANSACTION)(time), eth_getTransactionCount: () => '0x6' }), [['replaced', 1]]],
  ['one that a late node does not show once', (time) => ({ eth_getTransactionByHash: () => (time() > 60000 && time() < 64000 ? null : TRANSACTION), eth_getTransactionCount: () => '0x6' }), []],
  ['one on another chain', () => ({ eth_chainId: () => '0x1', eth_getTransactionByHash: () => ({ ...TRANSACTION, chainId: '0x1' }) }), [['elsewhere', 0]]],
  ['a wallet that shows another chain', () => ({ eth_chainId: () => '0x1' }), []],
]) {
  expect(name, (await followed(answers)).states, states);
}
for (const answer of [never, failed(-32601)]) {
  const { states, minutes } = await followed(() => ({ eth_chainId: answer, eth_getTransactionByHash: answer }));
  expect('a wallet that answers nothing', [states, minutes < 10], [[], true]);
}

/** What is found while wallets announce themselves at these times; `ethereum` announces nothing. */
const found = async (ethereum, announced) => {
  const page = new EventTarget();
  Object.assign(globalThis, { window: { ethereum }, addEventListener: page.addEventListener.bind(page), dispatchEvent: page.dispatchEvent.bind(page) });
  const names = [];
  for (const [time, name, provider] of announced) setTimeout(() => page.dispatchEvent(Object.assign(new Event('eip6963:announceProvider'), { detail: { info: { rdns: name, name }, provider } })), time);
  const add = ({ name }, replaced) => names.splice(replaced ? names.indexOf(replaced.name) : names.length, replaced ? 1 : 0, name);
  discover(add, (isOnTron) => isOnTron || names.push('none'), new AbortController().signal);
  await settled(new Promise((done) => setTimeout(done, 2000)));
  return names;
};
const one = { request: never, isMetaMask: true };
const other = { request: never };
expect('nothing', await found(undefined, []), ['none']);
expect('one that announces nothing', await found(one, []), ['MetaMask']);
expect('one that announces itself late', await found(other, [[700, 'Late', other]]), ['Late']);
expect('the same by another provider', await found(one, [[700, 'MetaMask', { request: never }]]), ['MetaMask']);
expect('another one, late', await found(one, [[700, 'Late', other]]), ['MetaMask', 'Late']);

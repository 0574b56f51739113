/** The guards of a payment by a wallet of Tron, which builds and signs by tronWeb. Prints what differs. */
import { createHash, webcrypto } from 'node:crypto';
import { discover } from '../../widget/js/wallets/discovery.js';
import { follow } from '../../widget/js/wallets/follow.js';
import { agrees, pay } from '../../widget/js/wallets/payment.js';
import { tronProvider } from '../../widget/js/wallets/tron.js';
import { now, settled } from './clock.js';
import { rebuilt, tronWallet } from './tron.js';

globalThis.window = globalThis;
const expect = (name, found, wanted) => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) console.log(`${name}: ${JSON.stringify(found)}`);
};

const TO = 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL';
const OTHER = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';
const TOKEN = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
/** The accounts of these, as Tron's own encoder writes them. */
const [TO_HEX, OTHER_HEX, TOKEN_HEX] = ['418840e6c55b9ada326d211d818c34a994aeced808', '415cd0fb0ab3ce40f3051414c604b27756e69e43db', '41eca9bc828a3005b9a3b909f2cc5c2a54794de05f'];
const data = (account, units) => '0xa9059cbb' + account.slice(2).padStart(64, '0') + units.toString(16).padStart(64, '0');
const [NILE, MAIN] = ['0xcd8690dc', '0x2b6653dc'];
const coin = { chainId: MAIN, to: TO, value: '0xbebc20', data: '0x', address: TO, uri: `tron:${TO}?amount=12.5` };
const testCoin = { chainId: NILE, to: TO, value: '0xbebc20', data: '0x', address: TO, amount: '12.5', uri: TO };
const token = { chainId: NILE, to: TOKEN, value: '0x0', data: data(TO_HEX, 19_900_000), address: TO, uri: `tron:${TO}?token=${TOKEN}&amount=19.9` };

for (const [units, text] of [[1, '0.000001'], [1_000_000, '1.0'], [10_000_000, '10.0'], [12_345_678, '12.345678'], [100_500_000, '100.5']]) {
  expect(`${text} as a coin`, agrees({ ...coin, value: '0x' + units.toString(16), uri: `tron:${TO}?amount=${text}` }), true);
  expect(`${text} as a token`, agrees({ ...token, data: data(TO_HEX, units), uri: `tron:${TO}?token=${TOKEN}&amount=${text}` }), true);
}
for (const [name, payment] of [
  ['another receiver', { ...coin, to: OTHER }],
  ['another amount', { ...coin, value: '0xbebc21' }],
  ['no amount', { ...coin, value: '' }],
  ['a token to another receiver', { ...token, data: data(OTHER_HEX, 19_900_000) }],
  ['another contract', { ...token, to: OTHER }],
  ['another amount of the token', { ...token, data: data(TO_HEX, 19_900_001) }],
  ['coins beside the token', { ...token, value: '0x1' }],
  ['an approval', { ...token, data: '0x095ea7b3' + token.data.slice(10) }],
  ['TRX on the main network with the address alone', { ...testCoin, chainId: MAIN }],
  ['another amount of TRX on a test network', { ...testCoin, value: '0xbebc21' }],
  ['an amount finer than TRX has', { ...testCoin, amount: '12.5000001' }],
  ['no amount of TRX', { ...testCoin, value: '0x0', amount: '' }],
  ['another receiver of TRX on a test network', { ...testCoin, to: OTHER }],
]) expect(name, agrees(payment), false);
for (const amount of ['12.5', '12.500000']) expect('TRX on a test network', agrees({ ...testCoin, amount }), true);

const first = (raw) => raw.contract[0].parameter.value;
const changed = (change) => ({ built: (transaction) => rebuilt(transaction, change) });
/** What is shown differs from what is signed; and the other way round, with the id of the bytes. */
const shown = (change) => ({ built: (one) => {
  const copy = structuredClone(one);
  change(copy.raw_data);
  return copy;
} });
const signed = (bytesOf) => ({ built: (one) => {
  const hex = bytesOf(one.raw_data_hex, one);
  return { ...one, raw_data_hex: hex, txID: createHash('sha256').update(hex, 'hex').digest('hex') };
} });
const signedWith = (change) => signed((_, one) => rebuilt(one, change).raw_data_hex);
/** The field of the one contract, as it stands in the bytes of a token's transfer. */
const contractOf = (hex) => /5aae01(?:..){174}/.exec(hex)[0];
const coded = (code, message = '') => Object.assign(new Error(message), { code });

/** The name of a case, what the wallet does otherwise, the payment, the outcome, and how often it is asked to sign and to send. */
const cases = [
  ['coins', { chain: MAIN }, coin, 'sent', 1, 1],
  ['a token', {}, token, 'sent', 1, 1],
  ['coins on a test network', {}, testCoin, 'sent', 1, 1],
  ['a page without digests', { isInsecure: true }, token, 'unable', 0, 0],
  ['a wallet on another network', { chain: MAIN }, token, 'sent', 1, 1],
  ['one that stays there', { chain: MAIN, errors: { wallet_switchEthereumChain: coded(4902) } }, token, 'network', 0, 0],
  ['one whose owner stays there', { chain: MAIN, errors: { wallet_switchEthereumChain: coded(4001) } }, token, 'refused', 0, 0],
  ['a locked wallet', { isLocked: true }, token, 'locked', 0, 0],
  ['one that is not shared', { errors: { eth_requestAccounts: coded(4001) } }, token, 'refused', 0, 0],
  ['a request that waits', { errors: { eth_requestAccounts: coded(-32002) } }, token, 'pending', 0, 0],
  ['too few coins', { chain: MAIN, balance: 12_499_999 }, coin, 'funds', 0, 0],
  ['too few tokens', { tokens: 19_899_999 }, token, 'funds', 0, 0],
  ['too few coins for the fee', { balance: 6_428_499 }, token, 'gas', 0, 0],
  ['just enough of them', { balance: 6_428_500 }, token, 'sent', 1, 1],
  ['energy instead', { balance: 0, energy: 64285 }, token, 'sent', 1, 1],
  ['too few coins, tried anyway', { balance: 0 }, { ...token, isAnyway: true }, 'sent', 1, 1],
  ['declined', { errors: { sign: 'Confirmation declined by user' } }, token, 'refused', 1, 0],
  ['an unknown error', { errors: { sign: new Error('?') } }, token, 'unclear', 1, 0],
  ['another transaction is signed', { signed: (signed) => ({ ...signed, txID: '0'.repeat(64) }) }, token, 'unclear', 1, 0],
  ['other bytes are signed', { signed: (signed) => ({ ...signed, raw_data_hex: signed.raw_data_hex + '00' }) }, token, 'unclear', 1, 0],
  ['nothing is signed', { signed: (signed) => ({ ...signed, signature: [] }) }, token, 'unclear', 1, 0],
  ['the node refuses it', { sent: () => ({ code: 'TRANSACTION_EXPIRATION_ERROR' }) }, token, 'failed', 1, 1],
  ...['SIGERROR', 'CONTRACT_VALIDATE_ERROR', 'CONTRACT_EXE_ERROR', 'TAPOS_ERROR', 'TOO_BIG_TRANSACTION_ERROR']
    .map((code) => [`the node answers ${code}`, { sent: () => ({ code }) }, token, 'failed', 1, 1]),
  ...['OTHER_ERROR', 'NOT_ENOUGH_EFFECTIVE_CONNECTION', 'SERVER_BUSY', 'NO_CONNECTION']
    .map((code) => [`the node answers ${code}, and may have kept it`, { sent: () => ({ code }) }, token, 'unclear', 1, 1]),
  ['the node has it already', { sent: () => ({ code: 'DUP_TRANSACTION_ERROR' }) }, token, 'sent', 1, 1],
  ['no bandwidth', { sent: () => ({ code: 'BANDWITH_ERROR' }) }, token, 'gas', 1, 1],
  ['no answer of the node', { errors: { broadcast: new Error('timeout') } }, token, 'unclear', 1, 1],
  ['a page that has gone on', {}, { ...token, isOver: true }, '', 0, 0],
  ['built to another receiver', { chain: MAIN, ...changed((raw) => (first(raw).to_address = OTHER_HEX)) }, coin, 'unable', 0, 0],
  ['built with another amount', { chain: MAIN, ...changed((raw) => (first(raw).amount = 12_500_001)) }, coin, 'unable', 0, 0],
  ['built for another owner', changed((raw) => (first(raw).owner_address = OTHER_HEX)), token, 'unable', 0, 0],
  ['built for another contract', changed((raw) => (first(raw).contract_address = OTHER_HEX)), token, 'unable', 0, 0],
  ['built with another call', changed((raw) => (first(raw).data = first(raw).data.replace('a9059cbb', '095ea7b3'))), token, 'unable', 0, 0],
  ['built with coins', changed((raw) => (first(raw).call_value = 1)), token, 'unable', 0, 0],
  ['built with a token of another kind', changed((raw) => Object.assign(first(raw), { call_token_value: 1, token_id: 1000001 })), token, 'unable', 0, 0],
  ['built with a memo', changed((raw) => (raw.data = '6162')), token, 'unable', 0, 0],
  ['built with a large fee', changed((raw) => (raw.fee_limit = 100_000_001)), token, 'unable', 0, 0],
  ['built for a shared permission', changed((raw) => (raw.contract[0].Permission_id = 2)), token, 'unable', 0, 0],
  ['shown otherwise than signed', { built: (one) => ({ ...one, raw_data_hex: rebuilt(one, (raw) => (first(raw).contract_address = OTHER_HEX)).raw_data_hex }) }, token, 'unable', 0, 0],
  ['signed otherwise than shown', { built: (one) => ({ ...rebuilt(one, (raw) => (first(raw).contract_address = OTHER_HEX)), raw_data: one.raw_data }) }, token, 'unable', 0, 0],
  ['shown with another contract', { built: (one) => ({ ...one, raw_data: rebuilt(one, (raw) => (first(raw).contract_address = OTHER_HEX)).raw_data }) }, token, 'unable', 0, 0],
  ['shown with two contracts', { built: (one) => ({ ...one, raw_data: { ...one.raw_data, contract: [...one.raw_data.contract, ...one.raw_data.contract] } }) }, token, 'unable', 0, 0],
  ['shown as another kind', shown((raw) => (raw.contract[0].type = 'TransferContract')), token, 'unable', 0, 0],
  ['shown for a shared permission', shown((raw) => (raw.contract[0].Permission_id = 2)), token, 'unable', 0, 0],
  ['shown with a memo', shown((raw) => (raw.data = '6162')), token, 'unable', 0, 0],
  ['shown with coins', shown((raw) => (first(raw).call_value = 1)), token, 'unable', 0, 0],
  ['shown with more', shown((raw) => (first(raw).token_id = 1000001)), token, 'unable', 0, 0],
  ['shown with a large fee', shown((raw) => (raw.fee_limit = 100_000_001)), token, 'unable', 0, 0],
  ['signed with a large fee', signedWith((raw) => (raw.fee_limit = 100_000_001)), token, 'unable', 0, 0],
  ['signed with a memo', signedWith((raw) => (raw.data = '6162')), token, 'unable', 0, 0],
  ['signed with the contract twice', signed((hex) => hex + contractOf(hex)), token, 'unable', 0, 0],
  ['signed with another contract behind', signed((hex) => hex + contractOf(hex).replace('a9059cbb', '095ea7b3')), token, 'unable', 0, 0],
  ['signed with a field that none knows', signed((hex) => hex + '980101'), token, 'unable', 0, 0],
  ['signed with half a field', signed((hex) => hex + '5a05ab'), token, 'unable', 0, 0],
  ['a wallet that changes its network while it builds', { elsewhere: true }, token, 'unable', 0, 0],
  ['one that is changed after it was compared', { isChangedLater: true }, token, 'sent', 1, 1],
  ['nothing is built', { built: () => undefined }, token, 'unable', 0, 0],
  ['with an id of another transaction', { built: (one) => ({ ...one, txID: '0'.repeat(64) }) }, token, 'unable', 0, 0],
];
for (const [name, { errors = {}, ...otherwise }, { isOver, isAnyway, ...payment }, wanted, signed, broadcast] of cases) {
  const wallet = tronWallet(() => ({ result: true }));
  Object.assign(wallet, otherwise, { errors });
  Object.defineProperty(globalThis, 'crypto', { value: otherwise.isInsecure ? undefined : webcrypto, configurable: true });
  if (otherwise.elsewhere) wallet.built = (transaction) => ((wallet.chain = MAIN), transaction);
  if (otherwise.isChangedLater) {
    let kept;
    wallet.built = (transaction) => (kept = transaction);
    wallet.whileAsked = () => kept && Object.assign(kept, rebuilt(kept, (raw) => (first(raw).contract_address = OTHER_HEX)));
  }
  const outcome = await settled(pay(tronProvider(wallet.provider), payment, { isCurrent: () => !isOver, isAnyway }).then(({ hash, until }) => {
    const [sent] = wallet.asked.filter(({ method }) => method === 'broadcast');
    const { to_address: to, contract_address: contract } = first(sent.params[0].raw_data);
    const isRight = payment.data === '0x' ? to === TO_HEX : contract === TOKEN_HEX;
    const isWhole = hash === sent.params[0].txID && until === sent.params[0].raw_data.expiration;
    return isRight && isWhole && /^[\da-f]{64}$/.test(hash) ? 'sent' : hash;
  }, (error) => error.reason ?? String(error)));
  const count = (wanted) => wallet.asked.filter(({ method }) => method === wanted).length;
  expect(name, [outcome, count('sign'), count('broadcast')], [wanted, signed, broadcast]);
}

// One that changes its account after it was shared.
{
  const wallet = tronWallet(() => ({ result: true }));
  const web = { ...wallet.tronWeb, trx: wallet.tronWeb.trx, transactionBuilder: wallet.tronWeb.transactionBuilder };
  let reads = 0;
  const provider = { request: wallet.provider.request, get tronWeb() {
    return { ...web, defaultAddress: { base58: ++reads > 4 ? OTHER : wallet.account } };
  } };
  const outcome = await settled(pay(tronProvider(provider), token, { isCurrent: () => true }).then(() => 'sent', (error) => error.reason));
  expect('another account at the last moment', outcome, 'account');
}

// Wallets from before TIP-1193 answer with a code.
for (const [answer, wanted] of [[{ code: 200 }, 'sent'], [{ code: 4000 }, 'pending'], [{ code: 4001 }, 'refused'], ['', 'locked']]) {
  const wallet = tronWallet(() => ({ result: true }));
  if (answer === '') wallet.isLocked = true;
  const provider = { get tronWeb() { return wallet.provider.tronWeb; }, request: ({ method }) => (method === 'tron_requestAccounts' ? answer : wallet.provider.request({ method })) };
  window.tronLink = provider;
  const outcome = await settled(pay(tronProvider(provider), token, { isCurrent: () => true }).then(() => 'sent', (error) => error.reason));
  expect(`the old code ${answer?.code}`, outcome, wanted);
  delete window.tronLink;
}

/** What a page reads of a transaction while the node answers so. */
const ID = 'ab'.repeat(32);
for (const [name, answers, wanted] of [
  ['a transaction in a block', { transaction: { txID: ID }, receipt: { id: ID, blockNumber: 5 } }, []],
  ['a failed one', { transaction: { txID: ID }, receipt: { id: ID, blockNumber: 5, result: 'FAILED' } }, ['failed']],
  ['one that no node shows', { transaction: {}, receipt: {} }, ['unseen']],
]) {
  const wallet = tronWallet((method) => answers[method]);
  const states = [];
  const start = now;
  await settled(follow(tronProvider(wallet.provider), NILE, ID, () => now - start < 3600000, (state) => states.push(state)));
  expect(name, states, wanted);
}

/**
 * The states of a transaction that no block has, by the minutes after it was signed, which was until `until` by the chain's clock; that
 * is behind this machine's by `behind`.
 */
const UNTIL = 2_000_000_000_000;
for (const [name, { behind = 0, at = 0, answers = {}, chainTime = (time) => UNTIL - 60_000 + time - behind }, wanted] of [
  ['an expired transaction', {}, [['failed', 3]]],
  ['one whose chain has stopped', { chainTime: () => UNTIL }, [['unseen', 5]]],
  ['one whose chain is late', { behind: 240_000 }, [['unseen', 5], ['failed', 8]]],
  ['one signed a moment ago by this clock', { at: 1_200_000 }, [['unseen', 5], ['failed', 23]]],
  ['one whose chain does not name its time', { chainTime: () => NaN }, [['unseen', 5]]],
  ['one that a node does not look up', { answers: { transaction: new Error('503') } }, [['unseen', 5]]],
  ['one in a block', { answers: { transaction: { txID: ID }, receipt: { id: ID, blockNumber: 5 } } }, []],
]) {
  const start = now;
  const wallet = tronWallet((method) => {
    const answer = { transaction: {}, receipt: {}, ...answers }[method];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  wallet.chainTime = () => chainTime(now - start);
  const states = [];
  const note = (state) => states.push([state, Math.round((now - start) / 60000)]);
  await settled(follow(tronProvider(wallet.provider), NILE, ID, () => now - start < 3600000, note, { at: start + at, until: UNTIL }));
  expect(name, states, wanted);
}

/** The wallets of a page; `TIP6963` and `eip6963` announce one each. */
const found = async (set, announced) => {
  const page = new EventTarget();
  Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page), dispatchEvent: page.dispatchEvent.bind(page) }, set);
  const names = [];
  for (const [standard, name, provider] of announced) setTimeout(() => page.dispatchEvent(Object.assign(new Event(standard + ':announceProvider'), { detail: { info: { rdns: name, name }, provider } })), 100);
  const keys = new Set();
  discover(({ key, name, isOnTron }) => {
    if (keys.has(key)) names.push('the same key');
    keys.add(key);
    names.push([name, isOnTron]);
  }, (isOnTron) => names.push(['none', isOnTron]), new AbortController().signal);
  await settled(new Promise((done) => setTimeout(done, 2000)));
  for (const name in set) delete globalThis[name];
  return names;
};
const ethereum = { request: () => {} };
const tron = { request: () => {}, tronWeb: false, isTronLink: true };
expect('nothing', await found({}, []), [['none', false], ['none', true]]);
expect('one wallet of both kinds', await found({}, [['eip6963', 'Both', ethereum], ['TIP6963', 'Both', tron]]), [['Both', false], ['Both', true]]);
expect('one that announces nothing', await found({ tron }, []), [['none', false], ['TronLink', true]]);
expect('one from before TIP-1193', await found({ tronLink: tron }, []), [['none', false], ['TronLink', true]]);
expect('one of the wrong kind', await found({}, [['TIP6963', 'Other', ethereum]]), [['none', false], ['none', true]]);

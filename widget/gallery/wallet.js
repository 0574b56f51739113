/**
 * What the wallets of a state answer: its account on the test network has enough of everything, sends what it is asked for, and no block
 * has it. A state's `answers` replace these by the request's method: a value; an error of EIP-1193 (`{ "code": 4001 }`); nothing
 * (`{ "never": true }`); or one after the other (`{ "in_turn": [...] }`, the last again and again).
 */

const ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const USUAL = {
  eth_requestAccounts: [ACCOUNT],
  eth_accounts: [ACCOUNT],
  eth_chainId: '0xaa36a7',
  eth_getBalance: '0xde0b6b3a7640000',
  eth_gasPrice: '0x3b9aca00',
  eth_estimateGas: '0xfde8',
  eth_call: '0x2540be400',
  eth_sendTransaction: '0xa138dfef9cbec147528f3be6a0361b02ffcabb57bd13e9b4032ad11d8c12aa1c',
  eth_getTransactionByHash: null,
  eth_getTransactionReceipt: null,
  eth_getTransactionCount: '0x5',
};
/** How often a page looks a transaction up; here it does so at once. */
const LOOK_EVERY_MS = 3000;
const realTimeout = window.setTimeout;
const realNow = Date.now;

/** Forgets the payments of the state before, whose order is the same. */
const forget = () => {
  for (const name of Object.keys(localStorage)) if (name.startsWith('florin:sent:')) localStorage.removeItem(name);
};

/** The answers of one state. With `minutes_later`, that time has passed once a transaction is looked up. */
export const answersOf = ({ answers, minutes_later: minutes = 0 }) => {
  forget();
  window.setTimeout = answers ? (run, ms, ...given) => realTimeout(run, ms === LOOK_EVERY_MS ? 20 : ms, ...given) : realTimeout;
  Date.now = realNow;
  const known = structuredClone({ ...USUAL, ...answers });
  return async ({ method }) => {
    if (method === 'eth_getTransactionByHash') Date.now = () => realNow() + minutes * 60000;
    let answer = known[method];
    if (answer?.in_turn) answer = answer.in_turn.length > 1 ? answer.in_turn.shift() : answer.in_turn[0];
    if (answer?.never) return new Promise(() => {});
    if (answer === undefined || answer?.code) throw Object.assign(new Error('refused'), { code: -32601 }, answer);
    return answer;
  };
};

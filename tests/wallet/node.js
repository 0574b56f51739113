/**
 * Requests of a wallet in the page to its node. In a frame, whose policy lets nothing out, the page around it carries them,
 * as the background of an extension does.
 */

/** Set by the harness: the address of the node. */
const NODE = globalThis.florinTestNode;

const post = async (method, params) => {
  const response = await fetch(NODE, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  const { result, error } = await response.json();
  return { result, error };
};

if (window === top) {
  addEventListener('message', async ({ data, source }) => {
    if (data?.testWallet !== 'ask') return;
    source.postMessage({ testWallet: 'answer', id: data.id, ...(await post(data.method, data.params)) }, '*');
  });
}
let requests = 0;
const carried = (method, params) => new Promise((done) => {
  const id = ++requests;
  addEventListener('message', function receive({ data }) {
    if (data?.testWallet !== 'answer' || data.id !== id) return;
    removeEventListener('message', receive);
    done(data);
  });
  top.postMessage({ testWallet: 'ask', id, method, params }, '*');
});

/** Asks the node. */
export const node = async (method, params = []) => {
  const { result, error } = await (window === top ? post : carried)(method, params);
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
};

/** The proxy and what is around it, as the test of this library starts them: `tests/api/libraries.rs`. */

export const { FLORIN_URL, FLORIN_SECRET_KEY, FLORIN_WEBHOOK_SECRET, FLORIN_TOKEN_KEY, FLORIN_WORLD_URL } = process.env;

const ask = async (path, body) => {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(FLORIN_WORLD_URL + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
};

/** The customer of an opened order pays: `exact`, `half`, or `late`. */
export const pay = ({ order, client_token }, how) => ask('/pay', { id: order.id, client_token, how });

/** The deliveries of an order's events: the header of each and its `body`. */
export const deliveries = (order) => ask(`/deliveries/${order}`);

/** The next requests to `FAULTY_URL` fail: `lost` after the proxy has answered, `hangs`, or with a status and `Retry-After`. */
export const fail = (...faults) => ask('/faults', faults);

/** The requests that have reached `FAULTY_URL` since the last call. */
export const requests = () => ask('/requests');

/** An address of the proxy at which requests fail. */
export const FAULTY_URL = `${FLORIN_WORLD_URL}/proxy`;

let count = 0;
export const lamp = (members) => ({ amount: '42.00', currency: 'USD', reference: `node-${(count += 1)}`, title: 'A lamp', ...members });

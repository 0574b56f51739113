/** The door: what the attributes say is bought, and the order that the proxy opens for it. */
const REQUEST_TIMEOUT_MS = 20000;
/** Each opens one order: exactly one is named. */
const DOORS = ['product', 'donation', 'order-token', 'client-token'];

/** The door that the attributes name: the members of POST /v1/checkout. */
const doorOf = (read) => {
  if (read('order-token')) return { order_token: read('order-token') };
  const door = {};
  for (const name of ['store', 'product', 'quantity', 'donation', 'amount']) {
    const value = read(name);
    if (value) door[name] = name === 'quantity' ? +value : value;
  }
  return door;
};

const ask = async (path, method, headers, body) => {
  const answer = await fetch(BASE + 'v1/checkout' + path, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
  return [answer, await answer.json()];
};

const refuse = (message) => {
  console.error('florin: ' + message);
  return { body: { error: { code: 'not_found', message } } };
};

/** An order whose asset is yet to be chosen has its prices asked for while the program is still on its way. */
const ahead = (token, body) => {
  const prices = async () => {
    const [answer, quotes] = await ask('/quotes', 'GET', { authorization: 'Bearer ' + token });
    return answer.ok && quotes;
  };
  return { token, body, quotes: body.status === 'open' && body.flow !== 'hosted' && prices().catch(() => {}) };
};

/**
 * Opens the order: the one whose token is known, else a new one. Answers `{token, body, quotes}`; without a token,
 * `body` is a refusal, or with `asks` the donation whose amount the customer has yet to name.
 */
const opener = (stage, read) => {
  const door = doorOf(read);
  const given = read('client-token');
  const store = read('store');
  /** A page that names its store shows no other's order, which would wear this one's words. */
  const known = (token, body) => (!store || !body.store || body.store.id === store ? ahead(token, body) : refuse('This order is not of the store ' + store + '.'));
  const key = 'florin:' + JSON.stringify(door);
  const named = DOORS.filter(read);
  return async (again, amount) => {
    if (named.length !== 1 || ((door.product || door.donation) && !door.store)) {
      return refuse('Name exactly one of ' + DOORS.join(', ') + ', the first two with a store; named: ' + (named.join(', ') || 'none') + '.');
    }
    if (again) remember(key);
    const token = given || recall(key);
    if (token) {
      const [answer, body] = await ask('', 'GET', { authorization: 'Bearer ' + token });
      if (answer.ok) return known(token, body);
      if (given || answer.status !== 404) return { body };
      remember(key);
    }
    if (door.donation && !door.amount && !amount) {
      const [answer, body] = await ask('/donation?' + new URLSearchParams(door), 'GET');
      return { asks: answer.ok, body };
    }
    const sent = JSON.stringify(amount ? { ...door, amount } : door);
    // Kept before it is sent: an answer that is lost, or a page that is loaded again, makes no second order.
    const slot = 'idempotency:' + sent;
    const proof = recall(slot) || crypto.getRandomValues(new Uint8Array(16)).join('');
    remember(slot, proof);
    const [answer, body] = await ask('', 'POST', { 'content-type': 'application/json', 'idempotency-key': proof }, sent);
    if (answer.ok) remember(key, body.client_token);
    // Done, or refused for good: what is asked next is another request.
    if (answer.status < 409 || answer.status === 422) remember(slot);
    return answer.ok ? known(body.client_token, body.order) : { body };
  };
};

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createOrderToken, Florin, verifyReceiptToken } from 'florin-server';

import { FLORIN_SECRET_KEY, FLORIN_TOKEN_KEY, FLORIN_URL, FLORIN_WEBHOOK_SECRET, lamp, pay } from './world.js';

const florin = new Florin({ url: `${FLORIN_URL}/`, secretKey: FLORIN_SECRET_KEY });
const key = { publicUrl: `${FLORIN_URL}/`, store: 'demo', kid: 'k1', secret: FLORIN_TOKEN_KEY };

test('an order is opened, read, listed and cancelled, and its amount stays a text', async () => {
  const wanted = lamp({ metadata: { seats: ['A1'] } });
  const { order, client_token, checkout_url } = await florin.createOrder(wanted);
  assert.deepEqual([order.amount, order.status, order.metadata], ['42.00', 'open', { seats: ['A1'] }]);
  assert.equal(checkout_url, `${FLORIN_URL}/pay?store=demo#client_token=${client_token}`);
  assert.equal((await florin.createOrder(wanted)).order.id, order.id);
  assert.deepEqual(await florin.getOrder(order.id), order);
  assert.deepEqual((await florin.listOrders({ reference: wanted.reference, status: undefined })).orders, [order]);
  assert.equal((await florin.cancelOrder(order.id)).status, 'cancelled');
});

test('orders are listed in pages', async () => {
  const opened = [await florin.createOrder(lamp()), await florin.createOrder(lamp())];
  const first = await florin.listOrders({ limit: 1 });
  const second = await florin.listOrders({ limit: 1, after: first.next });
  assert.deepEqual([second.orders[0].id, first.orders[0].id], opened.map(({ order }) => order.id));
});

test('a refusal has a code, the field and the id of the request', async () => {
  const refused = (call, expected) => assert.rejects(call, { name: 'FlorinError', requestId: /^req_/, ...expected });
  await refused(florin.getOrder(`ord_${'0'.repeat(32)}`), { code: 'not_found', status: 404, field: undefined });
  await refused(florin.createOrder(lamp({ amount: 42.5 })), { code: 'invalid_request', status: 400, field: 'amount' });
  const { order } = await florin.createOrder(lamp());
  await refused(florin.getOrder(`${order.id}/receipt`), { code: 'not_found', status: 404 });
  const stranger = new Florin({ url: FLORIN_URL, secretKey: 'another-secret-key' });
  await refused(stranger.listOrders(), { code: 'unauthorized', status: 401 });
});

test('an order token opens the order that it names', async () => {
  const { title, ...claims } = lamp();
  const open = async (order, options) => {
    const body = JSON.stringify({ order_token: createOrderToken(order, key, options) });
    return fetch(`${FLORIN_URL}/v1/checkout`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  };
  const opened = await open({ ...claims, title: 'Zoë’s lamp', exp: 0 }, { expiresInSeconds: 60 });
  assert.equal(opened.status, 201);
  const { order } = await opened.json();
  assert.deepEqual([order.amount, order.title], ['42.00', 'Zoë’s lamp']);
  assert.equal((await florin.getOrder(order.id)).reference, claims.reference);
  const wrong = { ...key, secret: 'another-key-of-more-than-thirty-two-bytes' };
  assert.notEqual(createOrderToken(claims, wrong), createOrderToken(claims, key));
  assert.throws(() => createOrderToken({ ...claims, amount: 42 }, key), TypeError);
  for (const expiresInSeconds of [0, 86_401, NaN]) {
    assert.throws(() => createOrderToken(claims, key, { expiresInSeconds }), RangeError);
  }
});

test('a receipt is verified by the proxy and without it', async () => {
  const opened = await florin.createOrder(lamp());
  const { id } = opened.order;
  const path = `/v1/orders/${id}/receipt`;
  await assert.rejects(florin.request('GET', path), { code: 'not_paid' });
  await pay(opened, 'exact');
  const { token, code, receipt } = await florin.request('GET', path);
  for (const presented of [token, code]) {
    const { valid, order } = await florin.verifyReceipt(presented);
    assert.deepEqual([valid, order.id, order.status], [true, id, 'paid']);
  }
  assert.deepEqual(await florin.verifyReceipt('a forged one'), { valid: false });
  assert.deepEqual(verifyReceiptToken(token, FLORIN_WEBHOOK_SECRET), receipt);
  const [header, payload, signature] = token.split('.');
  const altered = Buffer.from(JSON.stringify({ ...receipt, amount: '1.00' })).toString('base64url');
  const ofOrder = createOrderToken({ ...lamp(), title: undefined }, key);
  for (const forged of ['', '..', header, `${header}.${altered}.${signature}`, `${token}.`, `${header}.${payload}.`, ofOrder]) {
    assert.throws(() => verifyReceiptToken(forged, FLORIN_WEBHOOK_SECRET), { code: 'invalid_receipt' }, forged);
  }
  assert.throws(() => verifyReceiptToken(token, 'whsec_b3RoZXI='), { code: 'invalid_receipt' });
  assert.throws(() => verifyReceiptToken(token, 'whsec_'), TypeError);
});

test('a token that the same key signed for something else is no receipt', async () => {
  const { createHmac } = await import('node:crypto');
  const hmac = (secret, text) => createHmac('sha256', secret).update(text).digest();
  const secret = hmac(Buffer.from(FLORIN_WEBHOOK_SECRET.slice('whsec_'.length), 'base64'), 'florin-receipt-v1');
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const header of [{ alg: 'HS256', typ: 'JWT' }, { alg: 'none', typ: 'florin-receipt+jwt' }]) {
    const signed = `${part(header)}.${part({ order_id: 'ord_1' })}`;
    const token = `${signed}.${hmac(secret, signed).toString('base64url')}`;
    assert.throws(() => verifyReceiptToken(token, FLORIN_WEBHOOK_SECRET), { code: 'invalid_receipt' });
  }
});

test('a link opens the pages for the staff', async () => {
  const { url } = await florin.createStaffLink({ person: 'Zoë', role: 'write' });
  assert.ok(url.startsWith(`${FLORIN_URL}/staff/open/`), url);
  assert.equal((await fetch(url)).status, 200);
  assert.notEqual((await florin.createStaffLink()).url, url);
});

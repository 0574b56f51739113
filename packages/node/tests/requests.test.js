import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { Florin } from 'florin-server';

import { FAULTY_URL, fail, FLORIN_SECRET_KEY, FLORIN_URL, lamp, requests } from './world.js';

const florin = new Florin({ url: FAULTY_URL, secretKey: FLORIN_SECRET_KEY });

test('a call is repeated with its key, not before Retry-After', async () => {
  await fail('503 1', 'lost', '429 1', '502');
  const begun = performance.now();
  const { order } = await florin.createOrder(lamp());
  assert.ok(performance.now() - begun >= 2000);
  const sent = await requests();
  assert.equal(sent.length, 5);
  assert.match(sent[0].idempotency_key, /^[!-~]{16,}$/);
  for (const request of sent) assert.deepEqual(request, sent[0]);
  assert.equal((await florin.getOrder(order.id)).amount, '42.00');
});

test('each call has a key, unless the shop gives one', async () => {
  await requests();
  const { order } = await florin.createOrder(lamp());
  await florin.cancelOrder(order.id);
  await florin.createOrder(lamp(), { idempotencyKey: 'cart-1' });
  const keys = (await requests()).map((request) => request.idempotency_key);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], 'cart-1');
});

test('a refusal is not repeated, and a redirect is not followed', async () => {
  await requests();
  await assert.rejects(florin.createOrder(lamp({ amount: 'much' })), { code: 'invalid_request', field: 'amount' });
  assert.equal((await requests()).length, 1);
  await fail('302');
  await assert.rejects(florin.listOrders(), { code: 'invalid_response', status: 302 });
  assert.equal((await requests()).length, 1);
});

test('a call ends at its time-out, and before a pause that would exceed it', async () => {
  await fail('hangs', 'hangs', 'hangs', 'hangs');
  const begun = performance.now();
  await assert.rejects(florin.listOrders({}, { timeoutMs: 900 }), { code: 'timeout', status: undefined });
  assert.ok(performance.now() - begun < 2000);
  assert.ok((await requests()).length >= 2, 'a hanging request is repeated');
  await fail('503 60');
  await assert.rejects(florin.listOrders(), { code: 'invalid_response', status: 503, retryAfter: 60 });
  const closed = new Florin({ url: 'http://127.0.0.1:1', secretKey: 'sk', timeoutMs: 100 });
  await assert.rejects(closed.listOrders(), { code: 'connection_failed' });
});

test('no secret is printed', async () => {
  await fail('503 60');
  const errors = await Promise.all([
    florin.listOrders().catch((error) => error),
    new Florin({ url: 'http://127.0.0.1:1', secretKey: FLORIN_SECRET_KEY, timeoutMs: 100 }).listOrders().catch((error) => error),
    new Florin({ url: FLORIN_URL, secretKey: `${FLORIN_SECRET_KEY}x` }).listOrders().catch((error) => error),
  ]);
  for (const value of [florin, ...errors]) {
    const printed = inspect(value, { depth: 9, showHidden: true }) + JSON.stringify(value) + String(value.stack);
    assert.ok(!printed.includes(FLORIN_SECRET_KEY), printed);
  }
});

test('a client needs an address and a key', () => {
  assert.throws(() => new Florin({ url: 'pay.shop.example', secretKey: 'sk' }), TypeError);
  assert.throws(() => new Florin({ url: 'file:///etc/passwd', secretKey: 'sk' }), TypeError);
  assert.throws(() => new Florin({ url: FLORIN_URL, secretKey: '' }), TypeError);
});

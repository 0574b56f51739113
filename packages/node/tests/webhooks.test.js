import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Florin, verifyWebhook } from 'florin-server';

import { deliveries, FLORIN_SECRET_KEY, FLORIN_URL, FLORIN_WEBHOOK_SECRET, lamp, pay } from './world.js';

const florin = new Florin({ url: FLORIN_URL, secretKey: FLORIN_SECRET_KEY });

/** Opens an order that is paid so; returns its events as they were delivered. */
const eventsOf = async (how) => {
  const opened = await florin.createOrder(lamp());
  await pay(opened, how);
  const delivered = await deliveries(opened.order.id);
  return delivered.map(({ headers, body }) => verifyWebhook(body, headers, FLORIN_WEBHOOK_SECRET));
};
const types = (events) => events.map(({ type }) => type);

test('a paid order is delivered, signed, and as the list of events has it', async () => {
  const events = await eventsOf('exact');
  const paid = events.at(-1);
  assert.equal(paid.type, 'order.paid');
  const { id, amount, attempt } = paid.data.order;
  assert.deepEqual([amount, attempt.received_in_crypto], ['42.00', attempt.amount_in_crypto]);
  const listed = [];
  for await (const event of florin.events()) if (event.data.order.id === id) listed.push(event);
  assert.deepEqual(listed, events);
});

test('the cursor of an event leads to the next one', async () => {
  await florin.createOrder(lamp());
  const all = [];
  for await (const event of florin.events()) all.push(event.id);
  const pages = [];
  let after;
  for (;;) {
    const { events, next } = await florin.listEvents({ after, limit: 1 });
    if (events.length === 0) break;
    pages.push(events[0].id);
    assert.equal(next, events[0].id);
    after = next;
  }
  assert.deepEqual(pages, all);
  const rest = [];
  for await (const event of florin.events({ after: all.at(-4), limit: 2 })) rest.push(event.id);
  assert.deepEqual(rest, all.slice(-3));
});

test('an underpaid order is not paid', async () => {
  const events = await eventsOf('half');
  assert.ok(!types(events).includes('order.paid'));
  const { type, data } = events.at(-1);
  assert.equal(type, 'order.underpaid');
  const { received_in_crypto, amount_in_crypto } = data.order.attempt;
  assert.ok(Number(received_in_crypto) > 0 && Number(received_in_crypto) < Number(amount_in_crypto));
});

test('a late payment is reported before the order is paid', async () => {
  const reported = types(await eventsOf('late'));
  assert.ok(reported.indexOf('order.failed') > 0, reported);
  assert.equal(reported.indexOf('order.late_payment'), reported.indexOf('order.failed') + 1);
  assert.equal(reported.at(-1), 'order.paid');
});

test('an event that is delivered twice has one id', async () => {
  const [{ id, data }] = await eventsOf('exact');
  await florin.request('POST', `/v1/events/${id}/redeliver`);
  let twice;
  do {
    const delivered = await deliveries(data.order.id);
    twice = delivered.map(({ headers, body }) => verifyWebhook(body, headers, FLORIN_WEBHOOK_SECRET)).filter((event) => event.id === id);
  } while (twice.length < 2);
  assert.deepEqual(twice[0], twice[1]);
});

test('a delivery that was altered, is old, or is signed by another secret is refused', async () => {
  const { order } = await florin.createOrder(lamp());
  const [{ headers, body }] = await deliveries(order.id);
  const secret = FLORIN_WEBHOOK_SECRET;
  const refused = (...delivery) => assert.throws(() => verifyWebhook(...delivery), { name: 'FlorinError', code: 'invalid_webhook' });
  assert.equal(verifyWebhook(Buffer.from(body), new Headers(headers), secret).type, 'order.created');
  assert.equal(verifyWebhook(new TextEncoder().encode(body), { ...headers, accept: ['a', 'b'] }, secret).type, 'order.created');
  refused(body.replace('42.00', '42.01'), headers, secret);
  refused(body, headers, 'whsec_b3RoZXI=');
  const earlier = Number(headers['webhook-timestamp']) - 301;
  refused(body, { ...headers, 'webhook-timestamp': String(earlier) }, secret);
  refused(body, { ...headers, 'webhook-id': 'evt_other' }, secret);
  refused(body, { ...headers, 'webhook-signature': 'v1' }, secret);
  refused(body, {}, secret);
  assert.throws(() => verifyWebhook(JSON.parse(body), headers, secret), TypeError);
});

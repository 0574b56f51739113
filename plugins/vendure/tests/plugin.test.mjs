/** Sales in a real Vendure, by a real proxy and the sandbox. `cargo xtask test --long` runs them in a world. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRequire } from 'node:module';
import { ask, checkOut, deliver, deliveries, pay, read, startShop } from './shop.mjs';

const { isSameAmount, toDecimal } = createRequire(import.meta.url)('../dist/money.js');

let shop;
before(async () => {
  shop = await startShop();
});
after(() => shop.server.destroy());

const settle = (id) =>
  ask(shop.adminClient, 'mutation ($id: ID!) { settlePayment(id: $id) { __typename ... on SettlePaymentError { paymentErrorMessage } } }', { id });
const cancel = (id) =>
  ask(shop.adminClient, 'mutation ($id: ID!) { cancelPayment(id: $id) { __typename ... on CancelPaymentError { paymentErrorMessage } } }', { id });

const deliverAll = async (payment) => {
  for (const delivery of await deliveries(payment)) assert.equal(await deliver(shop, delivery), 204, delivery.body);
};

test('an order is placed unpaid, and a paid one is settled once, whatever is delivered how often', async () => {
  const { code, state, payments, totalWithTax, currencyCode } = await checkOut(shop);
  assert.equal(state, 'PaymentAuthorized');
  const [payment] = payments;
  assert.equal(payment.state, 'Authorized');
  assert.match(payment.metadata.public.scriptUrl, /\/florin\.js$/);
  assert.match(payment.metadata.public.checkoutUrl, /^http/);

  const early = await settle((await read(shop, code)).payment.id);
  assert.equal(early.settlePayment.__typename, 'SettlePaymentError');
  assert.match(early.settlePayment.paymentErrorMessage, /not as paid/);
  assert.equal((await read(shop, code)).payment.state, 'Authorized');

  await pay(payment, 'exact');
  const all = await deliveries(payment);
  const paid = all.find(({ body }) => JSON.parse(body).type === 'order.paid');
  const { amount, currency } = JSON.parse(paid.body).data.order;
  assert.equal(amount, toDecimal(totalWithTax, currencyCode, 2));
  assert.equal(currency, currencyCode);

  // Not signed, and signed over other bytes.
  const unsigned = { ...paid, headers: { ...paid.headers, 'webhook-signature': 'v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' } };
  assert.equal(await deliver(shop, unsigned), 400);
  assert.equal(await deliver(shop, { ...paid, body: paid.body.replace(payment.transactionId, 'ord_other') }), 400);
  assert.equal((await read(shop, code)).state, 'PaymentAuthorized');

  const together = await Promise.all([paid, paid, paid].map((delivery) => deliver(shop, delivery)));
  assert.deepEqual(together, [204, 204, 204]);
  await deliverAll(payment);
  const order = await read(shop, code);
  assert.equal(order.state, 'PaymentSettled');
  assert.equal(order.settledTimes, 1);
  assert.deepEqual(order.notes, []);
});

test('half of the price settles nothing, and the staff reads it once', async () => {
  const { code, payments } = await checkOut(shop);
  const [payment] = payments;
  await pay(payment, 'half');
  await deliverAll(payment);
  await deliverAll(payment);
  const order = await read(shop, code);
  assert.equal(order.payment.state, 'Authorized');
  assert.equal(order.notes.length, 1);
  assert.equal(order.notes[0].isPublic, false);
  assert.match(order.notes[0].data.note, /Less was paid/);
  const refused = await cancel(order.payment.id);
  assert.equal(refused.cancelPayment.__typename, 'CancelPaymentError');
  assert.equal((await read(shop, code)).payment.state, 'Authorized');
});

test('a payment of a cart that has changed since is not settled', async () => {
  const { code, payments } = await checkOut(shop);
  const [payment] = payments;
  await pay(payment, 'exact');
  const { Payment, TransactionalConnection } = createRequire(import.meta.url)('@vendure/core');
  const rows = shop.server.app.get(TransactionalConnection).rawConnection.getRepository(Payment);
  await rows.increment({ transactionId: payment.transactionId }, 'amount', 1);
  await deliverAll(payment);
  const order = await read(shop, code);
  assert.equal(order.payment.state, 'Authorized');
  assert.equal(order.notes.length, 1);
  assert.match(order.payment.errorMessage, /not the amount of this payment/);
});

test('a payment is cancelled at the proxy too', async () => {
  const { code, payments } = await checkOut(shop);
  const cancelled = await cancel((await read(shop, code)).payment.id);
  assert.equal(cancelled.cancelPayment.__typename, 'Payment');
  const kinds = (await deliveries(payments[0])).map(({ body }) => JSON.parse(body).type);
  assert.ok(kinds.includes('order.cancelled'), kinds.join());
  await deliverAll(payments[0]);
  const order = await read(shop, code);
  assert.equal(order.payment.state, 'Cancelled');
  assert.match(order.notes[0].data.note, /cancelled/);
});

test('a refund is recorded, and sends no money', async () => {
  const { code, payments, totalWithTax } = await checkOut(shop);
  await pay(payments[0], 'exact');
  await deliverAll(payments[0]);
  const { payment } = await read(shop, code);
  const refund = `mutation ($id: ID!, $amount: Money!) { refundOrder(input: { paymentId: $id, amount: $amount, lines: [], shipping: 0, adjustment: 0, reason: "broken" }) {
    __typename ... on Refund { id state total } ... on ErrorResult { message } } }`;
  const { refundOrder } = await ask(shop.adminClient, refund, { id: payment.id, amount: totalWithTax });
  assert.equal(refundOrder.state, 'Pending', JSON.stringify(refundOrder));
  assert.equal(refundOrder.total, totalWithTax);
  const kinds = (await deliveries(payments[0])).map(({ body }) => JSON.parse(body).type);
  assert.ok(!kinds.includes('order.refunded'));
});

test('amounts keep the decimals of their currency', () => {
  for (const [amount, currency, precision, decimal] of [
    [1250, 'USD', 2, '12.50'],
    [5, 'USD', 2, '0.05'],
    [120000, 'JPY', 2, '1200'],
    [1200, 'JPY', 0, '1200'],
    [1230, 'KWD', 2, '12.300'],
    [125000, 'EUR', 4, '12.50'],
  ]) {
    assert.equal(toDecimal(amount, currency, precision), decimal);
  }
  assert.throws(() => toDecimal(1250, 'JPY', 2), RangeError);
  assert.throws(() => toDecimal(125050, 'EUR', 4), RangeError);
  assert.ok(isSameAmount('12.50', '12.5') && isSameAmount('1200', '1200.00'));
  assert.ok(!isSameAmount('1200', '12') && !isSameAmount('12.05', '12.5'));
});

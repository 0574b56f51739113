/** Uses of the library that compile, and wrong ones that do not. */

import { createOrderToken, Florin, FlorinError, verifyReceiptToken, verifyWebhook, type Event, type Order } from 'florin-server';

const florin = new Florin({ url: new URL('https://pay.shop.example'), secretKey: 'sk', timeoutMs: 5000 });
const price = { amount: '42.00', currency: 'USD', reference: 'cart-1' };
const key = { publicUrl: 'https://pay.shop.example', store: 'demo', kid: 'k1', secret: 'tk' };

export const sell = async (): Promise<string> => {
  const lines = [{ title: 'A lamp', amount: '42.00' }];
  const { order, checkout_url } = await florin.createOrder({ ...price, lines, flow: 'custom' }, { idempotencyKey: 'k' });
  const amount: string = order.amount;
  const found: Order = await florin.getOrder(order.id);
  const { orders, next } = await florin.listOrders({ status: 'paid', after: undefined, limit: 5 });
  for await (const event of florin.events({ after: next ?? undefined })) console.log(event.id, event.data.order.amount);
  await florin.createStaffLink({ person: 'Zoë', role: 'write' });
  const { valid, order: current } = await florin.verifyReceipt('…');
  console.log(found.attempt?.received_in_crypto, orders.length, valid, current?.status, createOrderToken(price, key));
  console.log(verifyReceiptToken('…', 'whsec_').paid_at);
  return checkout_url + amount;
};

export const receive = (body: Uint8Array, headers: Headers): Event | undefined => {
  try {
    const event = verifyWebhook(body, headers, 'whsec_');
    if (event.type === 'webhook.test') {
      console.log(event.data.store);
      return undefined;
    }
    if (event.type === 'order.paid') console.log(event.data.order.reference);
    return event;
  } catch (error) {
    if (error instanceof FlorinError && error.code === 'invalid_webhook') console.log(error.requestId, error.field);
    throw error;
  }
};

export const wrong = async (): Promise<void> => {
  // @ts-expect-error: an amount is a text.
  await florin.createOrder({ ...price, amount: 42 });
  // @ts-expect-error: an order has a reference.
  await florin.createOrder({ amount: '42.00', currency: 'USD' });
  // @ts-expect-error: an unknown member would be refused.
  await florin.createOrder({ ...price, colour: 'red' });
  // @ts-expect-error: there is no such status.
  await florin.listOrders({ status: 'shipped' });
  // @ts-expect-error: a parsed body has lost its bytes.
  verifyWebhook({ type: 'order.paid' }, {}, 'whsec_');
  // @ts-expect-error: the key names the proxy.
  createOrderToken(price, { store: 'demo', kid: 'k1', secret: 'tk' });
  const event = verifyWebhook('', {}, 'whsec_');
  // @ts-expect-error: there is no such type of event.
  if (event.type === 'order.shipped') console.log(event);
};

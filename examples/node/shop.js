import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Florin, verifyWebhook } from 'florin-server';

const { FLORIN_URL = 'http://127.0.0.1:8080', FLORIN_SECRET_KEY, WEBHOOK_SECRET, PORT = 3000 } = process.env;
const florin = new Florin({ url: FLORIN_URL, secretKey: FLORIN_SECRET_KEY });
const carts = new Map(); // A shop keeps them in its database.

/** Once, and for the price of the cart alone. */
const ship = ({ reference, amount, currency }) => {
  const cart = carts.get(reference);
  if (!cart || cart.isShipped || cart.amount !== amount || cart.currency !== currency) return;
  cart.isShipped = true;
  console.log(`${reference} is shipped`);
};

/** The same reference is the same order, however often the page is loaded. */
const orderPage = async (reference, { isShipped, ...price }) => {
  const { client_token: token } = await florin.createOrder({ reference, ...price });
  const values = { proxy: FLORIN_URL, token, state: isShipped ? 'Your mug is on its way.' : 'Not paid yet.' };
  return readFileSync('order.html', 'utf8').replace(/\{(\w+)\}/g, (_, name) => values[name]);
};

const answer = async (request, response) => {
  const id = request.url.split('/orders/')[1];
  response.setHeader('content-type', 'text/html; charset=utf-8');
  if (request.method === 'POST' && request.url === '/florin') {
    const event = verifyWebhook(Buffer.concat(await request.toArray()), request.headers, WEBHOOK_SECRET);
    if (event.type === 'order.paid') ship(event.data.order);
    response.writeHead(204).end();
  } else if (request.method === 'POST' && request.url === '/buy') {
    const reference = randomUUID();
    carts.set(reference, { title: 'A mug', amount: '12.00', currency: 'USD', isShipped: false });
    response.writeHead(303, { location: `/orders/${reference}` }).end();
  } else if (carts.has(id)) {
    response.end(await orderPage(id, carts.get(id)));
  } else {
    response.writeHead(request.url === '/' ? 200 : 404).end(readFileSync('product.html'));
  }
};

createServer((request, response) => {
  answer(request, response).catch((error) => {
    const isForged = error.code === 'invalid_webhook';
    if (!isForged) console.error(error);
    response.writeHead(isForged ? 400 : 500).end();
  });
}).listen(PORT, '127.0.0.1');

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { Florin, FlorinError, verifyWebhook } from 'florin-server';

const { FLORIN_URL = 'http://127.0.0.1:8080', FLORIN_SECRET_KEY, WEBHOOK_SECRET, PORT = 3000 } = process.env;
const TYPES = { '.css': 'text/css', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript' };
const florin = new Florin({ url: FLORIN_URL, secretKey: FLORIN_SECRET_KEY });
const carts = new Map(); // A shop keeps them in its database.

const json = (value, status = 200) => ({ status, type: 'application/json', body: JSON.stringify(value) });

const createCart = () => {
  const id = randomUUID();
  carts.set(id, { title: 'A mug', amount: '12.00', currency: 'USD', isShipped: false });
  return json({ id }, 201);
};

/** The same reference is the same order, however often the page asks. */
const openOrder = async (id) => {
  const cart = carts.get(id);
  if (!cart) return { status: 404 };
  const { title, amount, currency, isShipped } = cart;
  const { client_token: token } = await florin.createOrder({ reference: id, title, amount, currency });
  return json({ proxy: FLORIN_URL, token, isShipped });
};

const receiveWebhook = async (request) => {
  const event = verifyWebhook(Buffer.concat(await request.toArray()), request.headers, WEBHOOK_SECRET);
  if (event.type === 'order.paid') ship(event.data.order);
  return { status: 204 };
};

/** Once, and for the price of the cart alone. */
const ship = ({ reference, amount, currency }) => {
  const cart = carts.get(reference);
  if (!cart || cart.isShipped || cart.amount !== amount || cart.currency !== currency) return;
  cart.isShipped = true;
  console.log(`${reference} is shipped`);
};

/** What `vite build` has written; each other address is a page of the one program. */
const readAsset = async (path) => {
  const file = extname(path) === '' ? '/index.html' : normalize(path);
  const body = await readFile(join('dist', file)).catch(() => undefined);
  return body ? { status: 200, type: TYPES[extname(file)], body } : { status: 404 };
};

const answer = (request) => {
  const path = new URL(request.url, 'http://shop').pathname;
  if (request.method === 'POST' && path === '/florin') return receiveWebhook(request);
  if (request.method === 'POST' && path === '/api/orders') return createCart();
  if (path.startsWith('/api/orders/')) return openOrder(path.slice('/api/orders/'.length));
  return readAsset(path);
};

createServer(async (request, response) => {
  try {
    const { status, type = 'text/plain', body } = await answer(request);
    response.writeHead(status, { 'content-type': type }).end(body);
  } catch (error) {
    const isForged = error instanceof FlorinError && error.code === 'invalid_webhook';
    if (!isForged) console.error(error);
    response.writeHead(isForged ? 400 : 500).end();
  }
}).listen(PORT, '127.0.0.1');

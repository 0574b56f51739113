import { randomUUID } from 'node:crypto';
import { Florin, type Order } from 'florin-server';

export interface Cart {
  title: string;
  amount: string;
  currency: string;
  isShipped: boolean;
}

export const FLORIN_URL = process.env.FLORIN_URL ?? 'http://127.0.0.1:8080';

// A shop keeps them in its database. Next.js loads this file several times, so that a variable of it would not do.
const shared = globalThis as typeof globalThis & { carts?: Map<string, Cart> };
const carts = (shared.carts ??= new Map());

export const getCart = (id: string) => carts.get(id);

export const createCart = () => {
  const id = randomUUID();
  carts.set(id, { title: 'A mug', amount: '12.00', currency: 'USD', isShipped: false });
  return id;
};

/** The same reference is the same order, however often the page is rendered. */
export const openOrder = (id: string, { title, amount, currency }: Cart) => {
  const florin = new Florin({ url: FLORIN_URL, secretKey: process.env.FLORIN_SECRET_KEY ?? '' });
  return florin.createOrder({ reference: id, title, amount, currency });
};

/** Once, and for the price of the cart alone. */
export const ship = ({ reference, amount, currency }: Pick<Order, 'reference' | 'amount' | 'currency'>) => {
  const cart = carts.get(reference);
  if (!cart || cart.isShipped || cart.amount !== amount || cart.currency !== currency) return;
  cart.isShipped = true;
  console.log(`${reference} is shipped`);
};

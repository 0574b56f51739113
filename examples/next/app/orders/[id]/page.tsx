import { FlorinCheckout } from 'florin/react';
import { notFound } from 'next/navigation';
import { connection } from 'next/server';
import { FLORIN_URL, getCart, openOrder } from '../../../lib/shop';

/** A server component: the secret key stays here, and the browser gets the order's client token. */
export default async function OrderPage({ params }: { params: Promise<{ id: string }> }) {
  await connection();
  const { id } = await params;
  const cart = getCart(id);
  if (!cart) notFound();
  const { client_token: token } = await openOrder(id, cart);
  return (
    <main>
      <h1>Your order</h1>
      <p data-testid="state">{cart.isShipped ? 'Your mug is on its way.' : 'Not paid yet.'}</p>
      <FlorinCheckout src={`${FLORIN_URL}/florin.js`} store="demo" clientToken={token} style={{ display: 'block', minHeight: 800 }} />
    </main>
  );
}

import { redirect } from 'next/navigation';
import { createCart } from '../lib/shop';

const buy = async () => {
  'use server';
  redirect(`/orders/${createCart()}`);
};

export default function Product() {
  return (
    <main>
      <h1>A mug</h1>
      <form action={buy}>
        <button data-testid="buy">Buy for 12.00 USD</button>
      </form>
    </main>
  );
}

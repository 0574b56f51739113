import { error } from '@sveltejs/kit';
import { FLORIN_URL, getCart, openOrder } from '$lib/server/shop';
import type { PageServerLoad } from './$types';

/** The secret key stays here, and the browser gets the order's client token. */
export const load: PageServerLoad = async ({ params }) => {
  const cart = getCart(params.id);
  if (!cart) error(404);
  const { client_token: token } = await openOrder(params.id, cart);
  return { proxy: FLORIN_URL, token, isShipped: cart.isShipped };
};

import { redirect } from '@sveltejs/kit';
import { createCart } from '$lib/server/shop';
import type { Actions } from './$types';

export const actions: Actions = {
  default: () => redirect(303, `/orders/${createCart()}`),
};

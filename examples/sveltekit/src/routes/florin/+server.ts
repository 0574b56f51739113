import { error } from '@sveltejs/kit';
import { env } from '$env/dynamic/private';
import { ship } from '$lib/server/shop';
import { FlorinError, verifyWebhook } from 'florin-server';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = async ({ request }) => {
  try {
    const event = verifyWebhook(await request.text(), request.headers, env.WEBHOOK_SECRET ?? '');
    if (event.type === 'order.paid') ship(event.data.order);
  } catch (cause) {
    if (cause instanceof FlorinError && cause.code === 'invalid_webhook') error(400);
    throw cause;
  }
  return new Response(null, { status: 204 });
};

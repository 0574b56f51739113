import { FlorinError, verifyWebhook } from 'florin-server';
import { ship } from '../../lib/shop';

export async function POST(request: Request) {
  try {
    const event = verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET ?? '');
    if (event.type === 'order.paid') ship(event.data.order);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof FlorinError && error.code === 'invalid_webhook') return new Response(null, { status: 400 });
    throw error;
  }
}

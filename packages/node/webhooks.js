/** Deliveries of events, signed as Standard Webhooks says. */

import { Webhook } from 'standardwebhooks';

import { FlorinError } from './error.js';

export const verifyWebhook = (body, headers, webhookSecret) => {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('Pass the body as it arrived, as a string or Buffer: what was parsed has lost its bytes.');
  }
  const webhook = new Webhook(webhookSecret);
  const plain = plainHeaders(headers);
  let event;
  try {
    event = webhook.verify(typeof body === 'string' ? body : Buffer.from(body), plain);
  } catch (cause) {
    throw new FlorinError('invalid_webhook', `The delivery is refused: ${cause.message}.`, { cause });
  }
  return { id: plain['webhook-id'], ...event };
};

/** Takes the headers of `node:http`, of a `Request`, or any object of texts. */
const plainHeaders = (headers) => {
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
};

/** Order tokens and receipts: JSON Web Tokens, signed with HS256. */

import { createHmac, timingSafeEqual } from 'node:crypto';

import { FlorinError } from './error.js';

const LONGEST_LIFE_SECONDS = 24 * 3600;
const RECEIPT_TYPE = 'florin-receipt+jwt';
const RECEIPT_KEY = 'florin-receipt-v1';

const hmac = (key, text) => createHmac('sha256', key).update(text).digest();
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export const createOrderToken = (order, key, { expiresInSeconds = 3600 } = {}) => {
  if (typeof order.amount !== 'string') throw new TypeError('amount is a string, like "19.90": a number may have been rounded.');
  if (!(expiresInSeconds >= 1 && expiresInSeconds <= LONGEST_LIFE_SECONDS)) {
    throw new RangeError('An order token lives 1 second to 24 hours.');
  }
  const iat = Math.floor(Date.now() / 1000);
  const aud = String(key.publicUrl).replace(/\/+$/, '');
  const claims = { ...order, aud, store: key.store, iat, exp: iat + Math.floor(expiresInSeconds) };
  const signed = `${part({ alg: 'HS256', kid: key.kid })}.${part(claims)}`;
  return `${signed}.${hmac(key.secret, signed).toString('base64url')}`;
};

export const verifyReceiptToken = (token, webhookSecret) => {
  const secret = Buffer.from(webhookSecret.replace(/^whsec_/, ''), 'base64');
  if (secret.length === 0) throw new TypeError('The webhook secret is not whsec_ and base64.');
  const key = hmac(secret, RECEIPT_KEY);
  const [header, payload, signature, ...rest] = String(token).trim().split('.');
  const expected = hmac(key, `${header}.${payload}`).toString('base64url');
  const isSigned = rest.length === 0 && isSame(signature ?? '', expected);
  // The type is compared after the signature: text that is not signed is never parsed.
  if (!isSigned || !isReceipt(decoded(header))) throw new FlorinError('invalid_receipt', 'The receipt is not one of this store.');
  return decoded(payload);
};

const decoded = (text) => JSON.parse(Buffer.from(text, 'base64url').toString());
const isReceipt = ({ alg, typ }) => alg === 'HS256' && typ === RECEIPT_TYPE;

const isSame = (left, right) => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
};

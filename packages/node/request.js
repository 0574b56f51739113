/** Requests to the proxy, with a time-out and retries. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { FlorinError } from './error.js';

/** A request that gets no response is sent again: one of them takes at most this part of the time-out. */
const TRIES_WITHIN_TIMEOUT = 3;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;

/**
 * Sends a request, and sends it again after a transient failure, with the same idempotency key, while there is time.
 *
 * Returns the JSON of the response; `undefined` if it has no body.
 */
export const send = async (url, { method, secretKey, body, idempotencyKey, timeoutMs }) => {
  const deadline = performance.now() + timeoutMs;
  const headers = { accept: 'application/json', authorization: `Bearer ${secretKey}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method === 'POST') headers['idempotency-key'] = idempotencyKey ?? randomUUID();
  // Each try sends the same bytes: the proxy compares them.
  const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), redirect: 'manual' };
  for (let failures = 0; ; failures += 1) {
    const left = deadline - performance.now();
    try {
      return await sendOnce(url, init, Math.max(1, Math.min(left, timeoutMs / TRIES_WITHIN_TIMEOUT)));
    } catch (error) {
      const pause = pauseAfter(error, failures);
      if (pause === undefined || performance.now() + pause >= deadline) throw error;
      await sleep(pause);
    }
  }
};

const sendOnce = async (url, init, timeoutMs) => {
  let response;
  let text;
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(Math.ceil(timeoutMs)) });
    text = await response.text();
  } catch (cause) {
    if (cause.name === 'TimeoutError') {
      throw new FlorinError('timeout', `${url.origin} has not answered in time.`, { cause });
    }
    throw new FlorinError('connection_failed', `${url.origin} cannot be reached.`, { cause });
  }
  if (response.ok && text === '') return undefined;
  const json = parsed(text);
  if (response.ok && json !== undefined) return json;
  throw refusal(response, json);
};

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The error of a response: the proxy's own, or that of a server in front of it, which has another form. */
const refusal = ({ status, headers }, json) => {
  const seconds = headers.get('retry-after');
  const retryAfter = /^\d+$/.test(seconds ?? '') ? Number(seconds) : undefined;
  const error = json?.error;
  if (typeof error?.code !== 'string') {
    return new FlorinError('invalid_response', `The response with status ${status} is not the proxy's.`, { status, retryAfter });
  }
  const { code, message, field, request_id: requestId } = error;
  return new FlorinError(code, message, { field, requestId, status, retryAfter });
};

/** Returns the milliseconds to wait before the next try; `undefined` if another try would fail likewise. */
const pauseAfter = ({ code, status, retryAfter }, failures) => {
  const isFromProxy = code !== 'invalid_response';
  const isTransient =
    status === undefined || [429, 503].includes(status) || retryAfter !== undefined || (!isFromProxy && [502, 504].includes(status));
  if (!isTransient) return undefined;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  // Requests that failed together are not sent again together.
  return Math.max(pause * (0.5 + Math.random() / 2), (retryAfter ?? 0) * 1000);
};

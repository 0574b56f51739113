'use client';
/**
 * <florin-checkout> as a component of React. On a server, and until florin.js has run, it is the bare element, with the frame
 * of the checkout where its address can say what is sold; all its properties are attributes, so that a browser can hydrate
 * the markup of the server.
 */
import { createElement, forwardRef, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { loadFlorin } from './index.js';

/** Pauses between tries to load the script: twice the last one, up to the longest. */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 30000;

const PARAMETERS = ['store', 'product', 'quantity', 'donation', 'amount', 'locale', 'theme'];

const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];

/** The frame, which florin.js adopts; none without a whole address of the proxy, and for what the frame's address does not say. */
const createFrame = ({ src, display = 'frame', words, asset, ...source }) => {
  const origin = /^(https?:\/\/[^/?#]+)\/florin\.js(?=$|[?#])/.exec(src)?.[1];
  if (!origin || display !== 'frame' || words || asset || !(source.product || source.donation)) return undefined;
  const address = `${origin}/pay?${new URLSearchParams(PARAMETERS.filter((name) => source[name]).map((name) => [name, source[name]]))}`;
  // A new frame for a new address, since a frame that navigates adds to the history. Before React, florin.js may have
  // translated the title.
  return createElement('iframe', { key: address, src: address, title: 'Checkout', allow: 'clipboard-write', suppressHydrationWarning: true });
};

/** An effect before the browser does other things. A server runs none, and React 18 complains of it there. */
const useEffectAtOnce = typeof document === 'undefined' ? useEffect : useLayoutEffect;

export const FlorinCheckout = forwardRef(function FlorinCheckout(properties, ref) {
  const { src, nonce, integrity, children, failure, orderToken, clientToken, className, words, onReady, onResize, onStatus, onPaid, onClose, onError, ...rest } = properties;
  const element = useRef(null);
  const handlers = useRef({});
  const [isMissing, setMissing] = useState(false);
  useImperativeHandle(ref, () => element.current, []);

  // The element says nothing in the task that puts it into the page: at once is early enough to miss nothing.
  useEffectAtOnce(() => {
    handlers.current = { ready: onReady, resize: onResize, status: onStatus, paid: onPaid, close: onClose, error: onError };
  });
  useEffectAtOnce(() => {
    const mounted = new AbortController();
    const { signal } = mounted;
    for (const name of EVENTS) element.current.addEventListener('florin-' + name, (event) => handlers.current[name]?.(event), { signal });
    return () => mounted.abort();
  }, []);

  useEffect(() => {
    if (!src) return;
    let timer;
    let pause = FIRST_PAUSE_MS;
    let isOver = false;
    const load = async () => {
      try {
        await loadFlorin(src, { nonce, integrity });
        if (!isOver) setMissing(false);
      } catch (error) {
        if (isOver) return;
        setMissing(true);
        console.error(error);
        element.current.dispatchEvent(new CustomEvent('florin-error', { bubbles: true, composed: true, detail: { code: 'load_failed', message: error.message } }));
        timer = setTimeout(load, pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    };
    load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [src, nonce, integrity]);

  const attributes = { ...rest, 'order-token': orderToken, 'client-token': clientToken, words: words && JSON.stringify(words), class: className, ref: element };
  // A frame works without the script.
  const frame = createFrame(properties);
  return createElement('florin-checkout', attributes, frame ?? (isMissing ? (failure ?? 'The checkout could not be loaded. Trying again…') : children));
});

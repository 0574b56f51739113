/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts. `inline` renders into the element itself. The page that the frame shows is this element once more, in the
 * display `page`, which is told what to open by the address's fragment. Whatever shows the checkout itself, `page` or
 * `inline`, loads host.js for it.
 *
 * Between frame and loader go messages `{florin: 1, type, detail}`, to and from one exact origin each, and never with
 * a token or an address in them.
 */
(() => {
  'use strict';
  const NAME = 'florin-checkout';
  const script = document.currentScript;
  if (!script || customElements.get(NAME)) return;

  const BASE = new URL('.', script.src).href;
  const ORIGIN = new URL(BASE).origin;
  /** The attributes; in the page's fragment they are written with underscores. */
  const ATTRIBUTES = ['store', 'product', 'quantity', 'donation', 'amount', 'order-token', 'client-token', 'display', 'locale', 'theme', 'asset', 'words'];
  /** Each opens one order: exactly one is named. */
  const DOORS = ['product', 'donation', 'order-token', 'client-token'];
  /** Custom properties of the element that reach the frame as well. */
  const TOKENS = ['accent', 'on-accent', 'ground', 'side', 'ink', 'soft', 'line', 'warn', 'bad', 'radius', 'font', 'density'].map((name) => '--florin-' + name);
  const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];
  const FRAME_TIMEOUT_MS = 15000;

  const wasmAllowed = () => {
    try {
      return new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    } catch {}
  };

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  class FlorinCheckout extends HTMLElement {
    static observedAttributes = ATTRIBUTES;
    #key = '';
    #run = new AbortController();
    #changed = false;
    #refresh = () => {};

    constructor() {
      super();
      this.attachShadow({ mode: 'open' });
    }

    connectedCallback() {
      this.#change();
    }
    disconnectedCallback() {
      this.#change();
    }
    attributeChangedCallback() {
      this.#change();
    }

    /** Asks for the order's state at once. */
    refresh() {
      this.#refresh();
    }

    /** Starts, restarts or ends what the attributes say, once per task: an element that is merely moved goes on. */
    #change() {
      if (this.#changed) return;
      this.#changed = true;
      queueMicrotask(() => {
        this.#changed = false;
        const key = this.isConnected ? JSON.stringify(ATTRIBUTES.map((name) => this.getAttribute(name))) : '';
        if (key === this.#key) return;
        this.#key = key;
        this.#restart();
      });
    }

    #restart() {
      this.#run.abort();
      this.#run = new AbortController();
      this.#refresh = () => {};
      this.shadowRoot.replaceChildren();
      if (!this.#key) return;
      const display = this.getAttribute('display') || 'frame';
      if (display === 'page' && ORIGIN === location.origin) return this.#here(true);
      const doors = DOORS.filter((name) => this.getAttribute(name));
      if (doors.length !== 1) console.error('florin: name exactly one of ' + DOORS.join(', ') + '; named: ' + (doors.join(', ') || 'none'));
      if (display === 'inline') {
        if (wasmAllowed()) return this.#here();
        console.error("florin: this page's Content-Security-Policy needs script-src 'wasm-unsafe-eval' for display=\"inline\"; showing a frame instead.");
      } else if (display !== 'frame' && display !== 'redirect') console.error('florin: display="' + display + '" is not known; showing a frame instead.');
      this.#frame();
    }

    #emit(name, detail) {
      this.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
    }

    #show(...children) {
      this.shadowRoot.replaceChildren(...children);
    }

    #frame() {
      const told = new URLSearchParams({ origin: location.origin });
      for (const name of ATTRIBUTES) {
        const value = this.getAttribute(name);
        if (value) told.set(name.replace('-', '_'), value);
      }
      const style = getComputedStyle(this);
      for (const name of TOKENS) {
        const value = style.getPropertyValue(name).trim();
        if (value) told.set(name, value);
      }
      told.set('locale', this.getAttribute('locale') || document.documentElement.lang);
      const src = BASE + 'pay?store=' + encodeURIComponent(this.getAttribute('store') || '') + '#' + told;
      const frame = make('iframe', {
        src,
        title: 'Checkout',
        allow: 'clipboard-write',
        referrerPolicy: 'strict-origin',
      });
      // Forms are the payment service's own page's, in a frame of this one; modals are the dialog for printing.
      frame.sandbox = 'allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-top-navigation-by-user-activation';
      frame.style.cssText = 'display:block;box-sizing:border-box;width:100%;max-width:1270px;height:740px;min-height:480px;margin:auto;border:1px solid #8884;border-radius:16px';
      const link = make('a', { href: src, target: '_blank', rel: 'noopener' }, 'Open the checkout on its own page');
      const help = make('p', {}, 'The checkout does not appear here. ', link);
      help.setAttribute('role', 'alert');
      const timer = setTimeout(() => {
        console.error('florin: the frame did not answer: the store\'s `origins` must list ' + location.origin + ", and this page's Content-Security-Policy needs frame-src " + ORIGIN);
        frame.style.display = 'none';
        // The frame stays where it is: moved, it would load anew.
        frame.before(help);
        this.#emit('error', { code: 'frame_timeout', message: 'The frame did not answer within 15 seconds.' });
      }, FRAME_TIMEOUT_MS);
      const { signal } = this.#run;
      addEventListener('message', ({ data, origin, source }) => {
        if (source !== frame.contentWindow || origin !== ORIGIN || data?.florin !== 1 || !EVENTS.includes(data.type)) return;
        clearTimeout(timer);
        help.remove();
        frame.style.display = 'block';
        if (data.type === 'resize') frame.style.height = Math.max(480, data.detail.height | 0) + 2 + 'px';
        this.#emit(data.type, data.detail);
      }, { signal });
      signal.addEventListener('abort', () => clearTimeout(timer));
      this.#refresh = () => frame.contentWindow?.postMessage({ florin: 1, type: 'refresh' }, ORIGIN);
      this.#show(frame);
    }

    /** The checkout itself: as the page of the proxy, or inline. */
    async #here(page) {
      const { signal } = this.#run;
      const stage = {
        element: this,
        signal,
        make,
        ATTRIBUTES,
        DOORS,
        TOKENS,
        EVENTS,
        show: (...children) => this.#show(...children),
        emit: (name, detail) => this.#emit(name, detail),
        restart: () => this.#restart(),
        onRefresh: (refresh) => (this.#refresh = refresh),
        fail: (error, words = {}) => {
          if (signal.aborted) return;
          console.error('florin:', error);
          const alert = make('p', {}, words.load_failed || 'The checkout could not be loaded.');
          alert.setAttribute('role', 'alert');
          this.#show(alert, make('button', { onclick: () => this.#restart() }, words.retry || 'Try again'));
          this.#emit('error', { code: 'load_failed', message: String(error) });
        },
      };
      try {
        (await import(BASE + '%FLORIN:host.js%')).start(stage, page);
      } catch (error) {
        stage.fail(error);
      }
    }
  }

  customElements.define(NAME, FlorinCheckout);
})();

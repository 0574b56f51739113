/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts. `inline` renders into the element itself. The page that the frame shows is this element once more, in the
 * display `page`, which is told what to open by the address's fragment.
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
  const FILES = {
    glue: '%FLORIN:widget.js%',
    wasm: '%FLORIN:widget_bg.wasm%',
    css: '%FLORIN:florin.css%',
  };
  /** One file per language; the first is the one that everybody else reads. */
  const LANGUAGES = {
    en: '%FLORIN:en.json%',
    ar: '%FLORIN:ar.json%',
  };
  /** The attributes; in the page's fragment they are written with underscores. */
  const ATTRIBUTES = ['store', 'product', 'quantity', 'client-token', 'display', 'locale', 'theme', 'asset'];
  /** Custom properties of the element that reach the frame as well. */
  const TOKENS = ['accent', 'on-accent', 'radius', 'font', 'ground', 'side', 'ink', 'soft', 'line'].map((name) => '--florin-' + name);
  const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];
  const FRAME_TIMEOUT_MS = 15000;
  const REQUEST_TIMEOUT_MS = 20000;

  /** sessionStorage, or memory where a browser forbids it in frames of another site. Answers whether a reload finds it. */
  const memory = {};
  const remember = (key, token) => {
    memory[key] = token;
    try {
      if (token) sessionStorage.setItem(key, token);
      else sessionStorage.removeItem(key);
      return true;
    } catch {}
  };
  const recall = (key) => {
    try {
      return memory[key] || sessionStorage.getItem(key);
    } catch {}
  };

  const get = async (path) => {
    const answer = await fetch(BASE + path);
    if (!answer.ok) throw new Error(answer.status + ' ' + path);
    return answer;
  };

  /** Keeps the result of `load` for every element of the page, but not its failure. */
  const once = (load) => {
    let kept;
    return () => (kept ||= load().catch((error) => {
      kept = 0;
      throw error;
    }));
  };
  const loadProgram = once(async () => {
    const wasm = get(FILES.wasm);
    wasm.catch(() => {});
    const glue = await import(BASE + FILES.glue);
    await glue.default({ module_or_path: wasm });
    return glue;
  });
  const loadStyle = once(async () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(await (await get(FILES.css)).text());
    return sheet;
  });

  /** The best language for what is wished: `pt-BR` is read as `pt`. */
  const language = (wished) => {
    for (const tag of [wished, document.documentElement.lang, ...navigator.languages]) {
      const code = (tag || '').toLowerCase().split('-')[0];
      if (LANGUAGES[code]) return code;
    }
    return 'en';
  };

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
    #run = 0;
    #stop = [];
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
      this.#run++;
      this.#stop.splice(0).forEach((stop) => stop());
      this.#refresh = () => {};
      this.shadowRoot.replaceChildren();
      if (!this.#key) return;
      let display = this.getAttribute('display') || 'frame';
      if (display === 'inline' && !wasmAllowed()) {
        console.error("florin: this page's Content-Security-Policy needs script-src 'wasm-unsafe-eval' for display=\"inline\"; showing a frame instead.");
        display = 'frame';
      }
      if (display === 'page' && ORIGIN === location.origin) this.#page();
      else if (display === 'inline') this.#inline((name) => this.getAttribute(name));
      else {
        if (display !== 'frame') console.error('florin: display="' + display + '" is not known; showing a frame instead.');
        this.#frame();
      }
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
        if (value && name !== 'display') told.set(name.replace('-', '_'), value);
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
      frame.sandbox = 'allow-scripts allow-same-origin allow-popups allow-top-navigation-by-user-activation';
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
      const listen = ({ data, origin, source }) => {
        if (source !== frame.contentWindow || origin !== ORIGIN || data?.florin !== 1 || !EVENTS.includes(data.type)) return;
        clearTimeout(timer);
        help.remove();
        frame.style.display = 'block';
        if (data.type === 'resize') frame.style.height = Math.max(480, data.detail.height | 0) + 2 + 'px';
        this.#emit(data.type, data.detail);
      };
      addEventListener('message', listen);
      this.#stop.push(() => {
        removeEventListener('message', listen);
        clearTimeout(timer);
      });
      this.#refresh = () => frame.contentWindow?.postMessage({ florin: 1, type: 'refresh' }, ORIGIN);
      this.#show(frame);
    }

    /** The checkout page: what to open stands in the fragment, which keeps a token only where storage does not. */
    #page() {
      const told = new URLSearchParams(location.hash.slice(1));
      const origin = told.get('origin');
      const token = told.get('client_token');
      if (token && remember('florin', token)) {
        told.delete('client_token');
        history.replaceState(null, '', '#' + told);
      }
      const signal = this.#until();
      if (parent === window) this.style.setProperty('--florin-min-height', '100vh');
      else if (origin) {
        const tell = (type, detail) => parent.postMessage({ florin: 1, type, detail }, origin);
        EVENTS.forEach((type) => this.addEventListener('florin-' + type, (event) => tell(type, event.detail), { signal }));
        addEventListener('message', ({ data, source, origin: from }) => {
          if (source === parent && from === origin && data?.florin === 1 && data.type === 'refresh') this.refresh();
        }, { signal });
      }
      addEventListener('hashchange', () => this.#restart(), { signal });
      TOKENS.forEach((name) => this.style.setProperty(name, told.get(name)));
      document.documentElement.lang = language(told.get('locale'));
      const theme = told.get('theme');
      if (theme) document.documentElement.dataset.theme = theme;
      this.#inline((name) => (name === 'client-token' ? token || (!told.get('product') && recall('florin')) : told.get(name)), true);
    }

    /** A signal that ends with this run. */
    #until() {
      const controller = new AbortController();
      this.#stop.push(() => controller.abort());
      return controller.signal;
    }

    async #inline(read, page) {
      const run = this.#run;
      const locale = language(read('locale'));
      const door = { store: read('store'), product: read('product') };
      if (read('quantity')) door.quantity = +read('quantity');
      let first = this.#door(door, read('client-token'), false);
      first.catch(() => {});
      const place = make('div');
      const bar = () => make('div', { className: 'bar' });
      const skeleton = make('div', { className: 'florin' }, make('aside', { className: 'summary' }, bar(), bar()), make('section', { className: 'main' }, bar(), bar(), bar(), bar()));
      skeleton.setAttribute('aria-busy', 'true');
      skeleton.dataset.theme = read('theme') || '';
      const spoken = get(LANGUAGES[locale]).then((file) => file.json());
      let waiting = true;
      const style = loadStyle().then((sheet) => {
        this.shadowRoot.adoptedStyleSheets = [sheet];
        if (run === this.#run && waiting) this.#show(skeleton);
      });
      const observer = new ResizeObserver(([entry]) => this.#emit('resize', { height: Math.ceil(entry.contentRect.height) }));
      observer.observe(place);
      this.#stop.push(() => observer.disconnect());
      try {
        const [words, program] = await Promise.all([spoken, loadProgram(), style]);
        if (run !== this.#run) return;
        waiting = false;
        this.#show(place);
        const mounted = program.mount(place, {
          base: BASE,
          words,
          locale: locale === 'ar' ? 'ar-u-nu-latn' : locale,
          theme: read('theme') || '',
          asset: read('asset') || '',
          heading: page ? 'h1' : 'p',
          repeatable: !read('client-token'),
          open: (again) => {
            const answer = first || this.#door(door, read('client-token'), again);
            first = 0;
            return answer;
          },
          emit: (name, detail) => this.#emit(name, detail),
        });
        this.#stop.push(() => program.unmount(mounted));
        this.#refresh = () => program.refresh(mounted);
        this.#emit('ready');
      } catch (error) {
        if (run !== this.#run) return;
        waiting = false;
        console.error('florin:', error);
        const words = await spoken.catch(() => ({}));
        const alert = make('p', {}, words.load_failed || 'The checkout could not be loaded.');
        alert.setAttribute('role', 'alert');
        this.#show(alert, make('button', { onclick: () => this.#restart() }, words.retry || 'Try again'));
        this.#emit('error', { code: 'load_failed', message: String(error) });
      }
    }

    /** Opens the order: the one whose token is known, else a new one. Answers `{token, body}`. */
    async #door(door, given, again) {
      const key = 'florin:' + JSON.stringify(door);
      const ask = async (method, headers, body) => {
        const answer = await fetch(BASE + 'v1/checkout', { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
        return [answer, await answer.json()];
      };
      if (again) remember(key);
      const token = given || recall(key);
      if (token) {
        const [answer, body] = await ask('GET', { authorization: 'Bearer ' + token });
        if (answer.ok) return { token, body };
        if (given || answer.status !== 404) return { body };
        remember(key);
      }
      if (!door.store || !door.product) return { body: { error: { code: 'not_found', message: 'Neither a client token nor a store and a product are named.' } } };
      const [answer, body] = await ask('POST', { 'content-type': 'application/json' }, JSON.stringify(door));
      if (!answer.ok) return { body };
      remember(key, body.client_token);
      return { token: body.client_token, body: body.order };
    }
  }

  customElements.define(NAME, FlorinCheckout);
})();

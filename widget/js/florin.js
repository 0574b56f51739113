/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts; `modal` shows that frame in a dialog which a button opens, and `redirect` is a link to the page. `inline`
 * renders into the element itself. The page that all of them lead to is this element once more, in the display `page`,
 * which is told what to open by the address's fragment. Whatever shows the checkout itself, `page` or `inline`, loads
 * host.js for it; the dialog is dialog.js. What does not come is asked for again; why it did not come, diagnostics.js finds out.
 *
 * Between frame and loader go messages `{florin: 1, type, detail}`, to and from one exact origin each, and never with
 * a token or an address in them.
 */
(() => {
  const NAME = 'florin-checkout';
  // On a server, and in a worker, there is nothing to define.
  if (!globalThis.document || customElements.get(NAME)) return;
  // To a module that imports this file, no script is the current one; its own address stands in its errors.
  const source = document.currentScript?.src || /https?:[^\s@]+?florin\.js/.exec(new Error().stack)[0];
  const BASE = new URL('.', source).href;
  const ORIGIN = new URL(BASE).origin;
  /** Each environment has a loader of its own, so that it is known even where nothing else can be loaded. */
  const IS_TEST = '%ENVIRONMENT%' === 'test';
  /** The attributes, each read as a line of RIGHT; in the page's fragment they are written with underscores. */
  const ATTRIBUTES = ['store', 'product', 'quantity', 'donation', 'amount', 'order-token', 'client-token', 'display', 'locale', 'theme', 'asset', 'words'];
  /** The attributes' values, a line each, when nothing is wrong with them; diagnostics.js names what is, by rules of its own. */
  const RIGHT = /^(.+\n(.+\n([1-9]\d*)?\n\n|\n\n.+\n[\d.]*)\n\n\n|.*\n{5}(.+\n\n|\n.+\n))(frame|inline|modal|redirect)?\n[-\w]*\n(auto|light|dark|contrast|paper|midnight|sorbet)?\n/;
  /** What a button says that the shop gave no words. */
  const PAY = 'Pay with crypto';
  const MODAL = '%FLORIN:dialog.js%';
  /** Custom properties of the element that reach the frame as well. */
  const TOKENS = ['accent', 'on-accent', 'ground', 'side', 'ink', 'soft', 'line', 'warn', 'bad', 'radius', 'font', 'density'].map((name) => '--florin-' + name);
  const EVENTS = ['ready', 'resize', 'status', 'paid', 'close', 'error'];
  /** A page that loads says so by a message at once; one that does not load gets this long. */
  const LOAD_TIMEOUT_MS = 15000;
  const ANSWER_TIMEOUT_MS = 3000;
  const SILENT = 'no answer';
  const WRONG = 'wrong attributes';
  const LONGEST_PAUSE_SECONDS = 30;

  const STYLE = new CSSStyleSheet();
  STYLE.replaceSync(`
:host{display:block}
:host([hidden]){display:none}
:host([display=modal]),:host([display=redirect]){display:inline-block}
.fl-wait,.fl-frame{box-sizing:border-box;width:100%;max-width:1270px;min-height:480px;margin:auto}
.fl-wait{background:repeating-linear-gradient(#8882 0 72px,#0000 0 84px) 50% 48px/90% 324px no-repeat}
.fl-wait .fl-frame{opacity:0}
.fl-frame{display:block;height:742px;border:1px solid #8884;border-radius:16px}
.fl-notice,.fl-open{font:16px/1.5 var(--florin-font,system-ui,sans-serif)}
.fl-notice{padding:16px}
.fl-open{display:inline-block;padding:10px 20px;border:0;border-radius:var(--florin-radius,12px);background:var(--florin-accent,#0b6e52);color:var(--florin-on-accent,#fff);font-weight:600;text-decoration:none;cursor:pointer}
.fl-notice .fl-open{margin:8px 12px 0 0}`);

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const loaded = {};
  let failures = '';
  /**
   * Imports a file of the proxy, within a bound. Browsers keep the failure of a module: the next try has an address of
   * its own.
   */
  const load = (path, bound = 30000) =>
    (loaded[path] ||= Promise.race([import(BASE + path + failures), new Promise((_, reject) => setTimeout(reject, bound, path))]).catch((error) => {
      loaded[path] = 0;
      failures += '#';
      throw error;
    }));

  /** Whether a display shows the checkout itself, not a frame of it. */
  const isHere = (display) => display === 'page' || display === 'inline';

  class FlorinCheckout extends HTMLElement {
    static observedAttributes = ATTRIBUTES;
    #key = '';
    /** Ends with a change of the attributes. */
    #run = new AbortController();
    /** Ends with the run, and when something is tried again. */
    #attempt = this.#run;
    #failures = 0;
    #blocked;
    #changed;
    /** Where the display is: below what the doctor says, or in the dialog. */
    #box;
    #refresh;
    #open;
    #close;

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
      this.#refresh?.();
    }
    /** Opens the dialog, or goes to the checkout's page. */
    open() {
      this.#follow();
      this.#open?.();
    }
    /** Closes the dialog; the order goes on. */
    close() {
      this.#close?.();
    }

    /** Starts, restarts or ends what the attributes say, once per task: an element that is merely moved goes on. */
    #change() {
      if (this.#changed) return;
      this.#changed = true;
      queueMicrotask(() => this.#follow());
    }

    #follow() {
      this.#changed = false;
      const key = this.isConnected ? ATTRIBUTES.map((name) => this.getAttribute(name)).join('\n') : '';
      if (key === this.#key) return;
      this.#key = key;
      this.#failures = 0;
      this.#restart();
    }

    #restart() {
      this.#run.abort();
      const { signal } = (this.#run = new AbortController());
      this.#refresh = this.#open = this.#close = null;
      this.#box = make('div', {});
      this.shadowRoot.adoptedStyleSheets = [STYLE];
      this.shadowRoot.replaceChildren(this.#box);
      this.#next();
      if (!this.#key) return;
      this.#blocked = [];
      document.addEventListener('securitypolicyviolation', (event) => this.#blocked.push(event), { signal });
      const display = this.getAttribute('display') || 'frame';
      if (display === 'page' && ORIGIN === location.origin) return this.#begin(display);
      if (!RIGHT.test(this.#key)) this.#examine(display, { isWrong: true }).then((message) => {
        if (signal.aborted) return;
        this.#emit('error', { code: 'invalid_attributes', message: message || WRONG });
        this.#show(this.#notice());
      });
      else if (display === 'modal') this.#modal();
      else if (display === 'redirect') this.#redirect();
      else this.#begin(display);
    }

    #begin(display) {
      if (isHere(display)) this.#here(display);
      else if (display === 'modal' && !this.#box.className) this.#open();
      else this.#frame(display);
    }

    #emit(name, detail) {
      this.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
    }

    #show(...children) {
      this.#box.replaceChildren(...children);
    }

    #next() {
      this.#attempt.abort();
      this.#attempt = new AbortController();
      return this.#attempt.signal;
    }

    #notice(text, ...children) {
      return make('div', { className: 'fl-notice', role: 'alert' }, text || 'The checkout could not be loaded.', ...children);
    }

    /** The address of the checkout's page, where the fragment says what is bought and how it looks. */
    #address(display) {
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
      told.set('display', display);
      told.set('locale', this.getAttribute('locale') || document.documentElement.lang);
      return BASE + 'pay?store=' + encodeURIComponent(this.getAttribute('store') || '') + '#' + told;
    }

    /** A link that gives the whole window to the checkout's page. */
    #link(words) {
      return make('a', { className: 'fl-open', part: 'button', href: this.#address('redirect'), target: '_top' }, words);
    }

    #redirect() {
      const link = this.#link(make('slot', {}, PAY));
      this.#open = () => link.click();
      this.#show(link);
    }

    /** A button that opens a dialog, whose script is fetched ahead. */
    #modal() {
      const button = make('button', { className: 'fl-open', part: 'button', type: 'button', onclick: () => this.open() }, make('slot', {}, PAY));
      let dialog;
      this.#open = async () => {
        if (!dialog) {
          const signal = this.#next();
          button.nextSibling?.remove();
          try {
            const { create } = await load(MODAL);
            if (signal.aborted) return;
            dialog = create(this, make, this.#run.signal, (box) => {
              this.#box = box;
              this.#begin('modal');
            });
          } catch (error) {
            return this.#fail('modal', error, {}, (notice) => button.after(notice));
          }
        }
        dialog.open();
      };
      this.#close = () => dialog?.close();
      this.#show(button);
      load(MODAL).catch(() => {});
    }

    #frame(display) {
      const signal = this.#next();
      const frame = make('iframe', {
        className: 'fl-frame',
        src: this.#address(display),
        title: 'Checkout',
        allow: 'clipboard-write',
        referrerPolicy: 'strict-origin',
      });
      // Forms are the payment service's own page's, in a frame of this one; modals are the dialog for printing.
      frame.sandbox = 'allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-top-navigation-by-user-activation';
      const place = make('div', { className: 'fl-place fl-wait' }, frame);
      let notice;
      let answered;
      const wait = (time, isRefused) => setTimeout(() => answered || this.#fail(display, SILENT, { isRefused }, (said) => {
        if (answered) return;
        // The frame stays where it is: moved, it would load anew, and one that answers late is shown.
        place.hidden = true;
        place.before((notice = said));
      }), time);
      let timer = wait(LOAD_TIMEOUT_MS);
      frame.onload = () => {
        clearTimeout(timer);
        timer = wait(ANSWER_TIMEOUT_MS, true);
      };
      addEventListener('message', ({ data, origin, source }) => {
        if (source !== frame.contentWindow || origin !== ORIGIN || data?.florin !== 1) return;
        answered = true;
        this.#failures = 0;
        notice?.remove();
        place.hidden = false;
        place.className = 'fl-place';
        if (data.type === 'escape') this.close();
        if (!EVENTS.includes(data.type)) return;
        if (data.type === 'resize' && display === 'frame') frame.style.height = Math.max(480, data.detail.height | 0) + 2 + 'px';
        this.#emit(data.type, data.detail);
      }, { signal });
      signal.addEventListener('abort', () => clearTimeout(timer));
      this.#refresh = () => frame.contentWindow?.postMessage({ florin: 1, type: 'refresh' }, ORIGIN);
      this.#show(place);
      if (frame.featurePolicy?.allowsFeature('clipboard-write', ORIGIN) === false) this.#examine(display, { isMute: true });
    }

    /** The checkout itself: as the page of the proxy, or inline. */
    async #here(display) {
      const signal = this.#next();
      const page = display === 'page';
      const origin = page && parent !== window && new URLSearchParams(location.hash.slice(1)).get('origin');
      if (origin) parent.postMessage({ florin: 1, type: 'hello' }, origin);
      this.#show(make('div', { className: 'fl-wait' }));
      const stage = {
        element: this,
        signal,
        make,
        load,
        TOKENS,
        EVENTS,
        IS_TEST,
        show: (...children) => this.#show(...children),
        emit: (name, detail) => this.#emit(name, detail),
        restart: () => this.#restart(),
        onRefresh: (refresh) => {
          this.#failures = 0;
          this.#refresh = refresh;
        },
        fail: (error, words, locale) => signal.aborted || this.#fail(display, error, {}, (notice) => this.#show(notice), words, locale),
        /** The proxy did not open the order: a page that it does not admit shows a frame instead, and that a link. */
        doubt: async (isRefused) => {
          if ((await this.#examine(display, { isRefused })) && !signal.aborted) this.#begin('frame');
        },
      };
      try {
        (await load('%FLORIN:host.js%')).start(stage, page);
      } catch (error) {
        stage.fail(error);
      }
    }

    /** Tells the merchant what is missing; answers whether no further try can help. */
    async #examine(display, signs) {
      const { signal } = this.#attempt;
      try {
        const { examine } = await load('%FLORIN:diagnostics.js%', 3000);
        const isFatal = await examine({ element: this, box: this.#box, signal, IS_TEST, make, display, blocked: this.#blocked, ...signs });
        return !signal.aborted && isFatal;
      } catch {
        if (signs.isWrong) console.error('florin:', WRONG);
        if (this.#blocked[0]) console.error('florin: Content-Security-Policy needs script-src ' + ORIGIN);
      }
    }

    /** There is no checkout: goes on with the next display, or tries again and again. */
    async #fail(display, error, signs, place, words = {}, locale = 'en') {
      const { signal } = this.#attempt;
      console.error('florin:', error);
      this.#emit('error', { code: error === SILENT ? 'frame_timeout' : 'load_failed', message: String(error) });
      const isFatal = await this.#examine(display, signs);
      if (signal.aborted) return;
      if (isFatal && display === 'inline') return this.#begin('frame');
      const own = display === 'page' ? '' : this.#link('Open the checkout on its own page');
      if (isFatal) return place(this.#notice(words.load_failed, own));
      let left = Math.min(LONGEST_PAUSE_SECONDS, 2 ** ++this.#failures);
      const said = make('p', { ariaLive: 'off' });
      const button = make('button', { className: 'fl-open' }, words.retry || 'Try again');
      const notice = this.#notice(words.load_failed, said, button, own);
      const again = () => notice.isConnected && !signal.aborted && this.#begin(display);
      const tell = () => {
        said.textContent = (words.retrying || 'Trying again {in}.').replace('{in}', new Intl.RelativeTimeFormat(locale).format(left, 'second'));
      };
      const timer = setInterval(() => {
        if (signal.aborted || !notice.isConnected) clearInterval(timer);
        else if (--left) tell();
        else again();
      }, 1000);
      button.onclick = again;
      addEventListener('online', again, { signal });
      tell();
      place(notice);
    }
  }

  customElements.define(NAME, FlorinCheckout);
})();

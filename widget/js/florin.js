/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts; `modal` shows that frame in a dialog which a button opens, and `redirect` is a link to the page. `inline`
 * renders into the element itself. The page that all of them lead to is this element in the display `page`, with its
 * parameters in the address's fragment. The displays that show the checkout itself, `page` and `inline`, load host.js;
 * the dialog is dialog.js. What does not load is tried again; diagnostics.js finds out why.
 */
import { ORIGIN, load, locate } from './assets.js';
import { ATTRIBUTES, EVENTS, TOKENS, VALID_ATTRIBUTES } from './attributes.js';
import { make } from './dom.js';
import { createFrame, pageAddress } from './frame.js';
/** @import { Context, Display, Signs } from './types.d.ts' */

const TAG = 'florin-checkout';
const DIALOG = '%FLORIN:dialog.js%';
/**
 * Each environment has a loader, so that it is known even where nothing else can be loaded.
 *
 * @type {string}
 */
const ENVIRONMENT = '%ENVIRONMENT%';
const SILENT = 'no answer';
const INVALID = 'wrong attributes';
const LONGEST_PAUSE_SECONDS = 30;
/** What a button says to which the shop gave no text. */
const PAY = 'Pay with crypto';

const CSS = `
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
.fl-notice .fl-open{margin:8px 12px 0 0}`;

/** Whether a display shows the checkout itself, not a frame of it. */
const isHere = (/** @type {Display} */ display) => display === 'page' || display === 'inline';

/** Defines the element. Not at once: on a server and in a worker there is no class to extend. */
const define = () => {
  const style = new CSSStyleSheet();
  style.replaceSync(CSS);

  class FlorinCheckout extends HTMLElement {
    static observedAttributes = ATTRIBUTES;
    #key = '';
    /** Ends with a change of the attributes. */
    #run = new AbortController();
    /** Ends with the run, and when something is tried again. */
    #attempt = this.#run;
    #failures = 0;
    /** @type {SecurityPolicyViolationEvent[]} */
    #blocked = [];
    /**
     * Where the display is: below the diagnostics, or in the dialog.
     *
     * @type {HTMLElement}
     */
    #box = this;
    #root = this.attachShadow({ mode: 'open' });
    /** @type {(() => void) | undefined | null} */
    #refresh;
    /** @type {(() => void) | undefined | null} */
    #open;
    /** @type {(() => void) | undefined | null} */
    #close;

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

    /** Starts, restarts or ends the display at the end of the task: an element that is only moved goes on. */
    #change() {
      queueMicrotask(() => this.#follow());
    }

    #follow() {
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
      this.#root.adoptedStyleSheets = [style];
      this.#root.replaceChildren(this.#box);
      this.#next();
      if (!this.#key) return;
      this.#blocked = [];
      document.addEventListener('securitypolicyviolation', (event) => this.#blocked.push(event), { signal });
      const display = /** @type {Display} */ (this.getAttribute('display') || 'frame');
      if (display === 'page' && ORIGIN === location.origin) return this.#begin(display);
      if (!VALID_ATTRIBUTES.test(this.#key)) this.#examine(display, { isInvalid: true }).then((message) => {
        if (signal.aborted) return;
        this.#emit('error', { code: 'invalid_attributes', message: message || INVALID });
        this.#show(this.#notice());
      });
      else if (display === 'modal') this.#modal();
      else if (display === 'redirect') this.#redirect();
      else this.#begin(display);
    }

    /** @param {Display} display */
    #begin(display) {
      if (isHere(display)) this.#here(display);
      else if (display === 'modal' && !this.#box.className) this.#open?.();
      else this.#frame(display);
    }

    /** @param {string} name @param {unknown} [detail] */
    #emit(name, detail) {
      this.dispatchEvent(new CustomEvent('florin-' + name, { bubbles: true, composed: true, detail }));
    }

    /** @param {Node[]} children */
    #show(...children) {
      this.#box.replaceChildren(...children);
    }

    #next() {
      this.#attempt.abort();
      return (this.#attempt = new AbortController()).signal;
    }

    /** @param {string} [text] @param {(Node | string)[]} children */
    #notice(text, ...children) {
      return make('div', { className: 'fl-notice', role: 'alert' }, text || 'The checkout could not be loaded.', ...children);
    }

    /** A link that gives the whole window to the checkout's page. @param {Node | string} text */
    #link(text) {
      return make('a', { className: 'fl-open', part: 'button', href: pageAddress(this, 'redirect'), target: '_top' }, text);
    }

    #redirect() {
      const link = this.#link(make('slot', {}, PAY));
      this.#open = () => link.click();
      this.#show(link);
    }

    /** A button that opens a dialog, whose script is fetched ahead. */
    #modal() {
      const button = make('button', { className: 'fl-open', part: 'button', type: 'button', onclick: () => this.open() }, make('slot', {}, PAY));
      /** @type {ReturnType<typeof import('./dialog.js').create> | undefined} */
      let dialog;
      this.#open = async () => {
        if (!dialog) {
          const signal = this.#next();
          button.nextSibling?.remove();
          try {
            const { create } = await load(DIALOG);
            if (signal.aborted) return;
            dialog = create(this, this.#root, make, this.#run.signal, (/** @type {HTMLElement} */ box) => {
              this.#box = box;
              this.#begin('modal');
            });
          } catch (error) {
            return this.#fail('modal', error, {}, (notice) => button.after(notice));
          }
        }
        dialog?.open();
      };
      this.#close = () => dialog?.close();
      this.#show(button);
      load(DIALOG).catch(() => {});
    }

    /** @param {Display} display */
    #frame(display) {
      const signal = this.#next();
      const silent = (/** @type {boolean} */ isRejected, /** @type {(notice: HTMLElement) => void} */ show) => this.#fail(display, SILENT, { isRejected }, show);
      const { place, frame } = createFrame(this, display, 'Checkout', signal, silent, ({ type, detail }) => {
        this.#failures = 0;
        if (type === 'escape') this.close();
        if (EVENTS.includes(type)) this.#emit(type, detail);
      });
      this.#refresh = () => frame.contentWindow?.postMessage({ florin: 1, type: 'refresh' }, ORIGIN);
      this.#show(place);
      const { featurePolicy } = /** @type {any} */ (frame);
      if (featurePolicy?.allowsFeature('clipboard-write', ORIGIN) === false) this.#examine(display, { isClipboardBlocked: true });
    }

    /** The checkout itself: as the page of the proxy, or inline. @param {Display} display */
    async #here(display) {
      const signal = this.#next();
      const isPage = display === 'page';
      const origin = isPage && parent !== window && new URLSearchParams(location.hash.slice(1)).get('origin');
      if (origin) parent.postMessage({ florin: 1, type: 'hello' }, origin);
      this.#show(make('div', { className: 'fl-wait' }));
      /** @type {Context} */
      const context = {
        element: this,
        signal,
        make,
        load,
        TOKENS,
        EVENTS,
        show: (...children) => this.#show(...children),
        emit: (name, detail) => this.#emit(name, detail),
        restart: () => this.#restart(),
        onRefresh: (refresh) => {
          this.#failures = 0;
          this.#refresh = refresh;
        },
        fail: (error, texts, locale) => {
          if (!signal.aborted) this.#fail(display, error, {}, (notice) => this.#show(notice), texts, locale);
        },
        reportRejected: async (isRejected) => {
          if ((await this.#examine(display, { isRejected })) && !signal.aborted) this.#begin('frame');
        },
      };
      try {
        (await load('%FLORIN:host.js%')).start(context, isPage);
      } catch (error) {
        context.fail(error);
      }
    }

    /**
     * Names to the merchant what is missing. Returns a message for invalid attributes; else whether no further attempt
     * can help.
     *
     * @param {Display} display @param {Signs} signs @returns {Promise<any>}
     */
    async #examine(display, signs) {
      const { signal } = this.#attempt;
      try {
        const { examine } = await load('%FLORIN:diagnostics.js%', 3000);
        const found = await examine({ element: this, box: this.#box, signal, isTest: ENVIRONMENT === 'test', make, load, display, blocked: this.#blocked, ...signs });
        return !signal.aborted && found;
      } catch {
        if (signs.isInvalid) console.error('florin:', INVALID);
        if (this.#blocked[0]) console.error('florin: Content-Security-Policy needs script-src ' + ORIGIN);
      }
    }

    /**
     * There is no checkout: goes on with the next display, or tries again and again.
     *
     * @param {Display} display @param {unknown} error @param {Signs} signs
     * @param {(notice: HTMLElement) => void} place
     * @param {Parameters<Context['fail']>[1]} [texts] @param {string} [locale]
     */
    async #fail(display, error, signs, place, texts = {}, locale = 'en') {
      const { signal } = this.#attempt;
      console.error('florin:', error);
      this.#emit('error', { code: error === SILENT ? 'frame_timeout' : 'load_failed', message: String(error) });
      const isFatal = await this.#examine(display, signs);
      if (signal.aborted) return;
      if (isFatal && display === 'inline') return this.#begin('frame');
      const link = display === 'page' ? '' : this.#link('Open the checkout on its own page');
      let left = Math.min(LONGEST_PAUSE_SECONDS, 2 ** ++this.#failures);
      const countdown = make('p', { ariaLive: 'off' });
      const button = make('button', { className: 'fl-open' }, texts.retry || 'Try again');
      const notice = isFatal ? this.#notice(texts.load_failed, link) : this.#notice(texts.load_failed, countdown, button, link);
      place(notice);
      if (isFatal) return;
      const again = () => notice.isConnected && !signal.aborted && this.#begin(display);
      const count = () => {
        countdown.textContent = (texts.retrying || 'Trying again {in}.').replace('{in}', new Intl.RelativeTimeFormat(locale).format(left, 'second'));
      };
      const timer = setInterval(() => {
        if (signal.aborted || !notice.isConnected) clearInterval(timer);
        else if (--left) count();
        else again();
      }, 1000);
      button.onclick = again;
      addEventListener('online', again, { signal });
      count();
    }
  }

  customElements.define(TAG, FlorinCheckout);
};

// On a server, and in a worker, there is nothing to define.
if (globalThis.document && !customElements.get(TAG)) {
  locate();
  define();
}

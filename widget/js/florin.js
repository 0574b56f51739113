/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts; `modal` shows that frame in a dialog which a button opens, and `redirect` is a link to the page. `inline`
 * renders into the element itself. The page that all of them lead to is this element in the display `page`, with its
 * parameters in the address's fragment. The displays that show the checkout itself, `page` and `inline`, load host.js;
 * the dialog is dialog.js. What does not load is tried again; diagnostics.js finds out why.
 */
import { ORIGIN, load } from './assets.js';
import { ATTRIBUTES, VALID_ATTRIBUTES } from './attributes.js';
import { make } from './dom.js';
import { createFrame, localeOf, pageAddress } from './frame.js';
import { loader } from '../locales/en.json';
/** @import { Context, FoundLabels, Display, Signs } from './types.d.ts' */

const TAG = 'florin-checkout';
const DIALOG = '%FLORIN:dialog.js%';
/**
 * Each environment has a loader, so that it is known even where nothing else can be loaded.
 *
 * @type {string}
 */
const ENVIRONMENT = '%ENVIRONMENT%';
/** A page that loads sends a message at once; one that does not load gets this long. */
const LOAD_TIMEOUT_MS = 15000;
const ANSWER_TIMEOUT_MS = 3000;
const SILENT = 'no response';
const INVALID = 'invalid_attributes';
const LONGEST_PAUSE_SECONDS = 30;
/** A button without a text waits this long for the one in the customer's language. */
const LABELS_TIMEOUT_MS = 3000;

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
.fl-open{display:inline-block;padding:10px 20px;border:0;border-radius:var(--florin-radius,12px);color:var(--florin-on-accent,#fff);background:var(--florin-accent,#0b6e52);cursor:pointer;font-weight:600;text-decoration:none}
.fl-notice .fl-open{margin:8px 12px 0 0}`;

/**
 * The texts in the element's language. None for English, or where they do not load: the loader has the English ones.
 *
 * @param {HTMLElement} element
 * @returns {Promise<FoundLabels>}
 */
const findLabels = async (element) => {
  const wished = localeOf(element);
  try {
    if (!/^en\b/i.test(wished || navigator.language)) return (await load('%FLORIN:labels.js%', LABELS_TIMEOUT_MS)).find(wished);
  } catch {}
  return { texts: {}, locale: 'en' };
};

// On a server, and in a worker, there is nothing to define.
if (ORIGIN && !customElements.get(TAG)) {
  const style = new CSSStyleSheet();
  style.replaceSync(CSS);

  customElements.define(TAG, class extends HTMLElement {
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
    /** Closes the dialog; the order stays open. */
    close() {
      this.#close?.();
    }

    /** Starts, restarts or ends the display at the end of the task: an element that is only moved stays. */
    #change() {
      queueMicrotask(() => this.#follow());
    }

    #follow() {
      let key = '';
      // Pages are known to break `Array.prototype.map`.
      if (this.isConnected) for (const name of ATTRIBUTES) key += (this.getAttribute(name) ?? '') + '\n';
      if (key === this.#key) return;
      this.#key = key;
      this.#failures = 0;
      this.#restart();
    }

    #restart() {
      this.#run.abort();
      const { signal } = (this.#run = new AbortController());
      this.#refresh = this.#open = this.#close = null;
      this.#box = make('div');
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
        this.#emit('error', { code: INVALID, message: message || INVALID });
        this.#show(this.#notice());
      });
      else if (display === 'modal') this.#modal();
      else if (display === 'redirect') this.#redirect();
      else this.#begin(display);
    }

    /** @param {Display} display */
    #begin(display) {
      if (display === 'page' || display === 'inline') this.#here(display);
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
      return make('div', { className: 'fl-notice', role: 'alert' }, text || loader.load_failed, ...children);
    }

    /** A link that gives the whole window to the checkout's page. @param {Node | string} text */
    #link(text) {
      return make('a', { className: 'fl-open', part: 'button', href: pageAddress(this, 'redirect'), target: '_top' }, text);
    }

    #redirect() {
      const slot = make('slot');
      const link = this.#link(slot);
      this.#open = () => link.click();
      this.#label(slot, link);
    }

    /** Shows a button or link whose text, where the shop gave none, is in the customer's language. @param {HTMLElement} slot @param {HTMLElement} button */
    async #label(slot, button) {
      const { signal } = this.#run;
      const { texts } = await findLabels(this);
      slot.append(texts.pay || loader.pay);
      if (!signal.aborted) this.#show(button);
    }

    /** A button that opens a dialog, whose script is fetched ahead. */
    #modal() {
      const slot = make('slot');
      const button = make('button', { className: 'fl-open', part: 'button', onclick: () => this.open() }, slot);
      /** @type {ReturnType<typeof import('./dialog.js').create> | undefined} */
      let dialog;
      this.#open = async () => {
        if (!dialog) {
          const signal = this.#next();
          button.nextSibling?.remove();
          try {
            const { create } = await load(DIALOG);
            if (signal.aborted) return;
            dialog = create(this, this.#root, findLabels(this), this.#run.signal, (/** @type {HTMLElement} */ box) => {
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
      this.#label(slot, button);
      load(DIALOG).catch(() => {});
    }

    /** @param {Display} display */
    #frame(display) {
      const signal = this.#next();
      let isAnswered = false;
      /** @type {HTMLElement | undefined} */
      let notice;
      const frame = createFrame(this, display, loader.checkout, signal, ({ type, detail }) => {
        isAnswered = true;
        this.#failures = 0;
        notice?.remove();
        place.hidden = false;
        place.className = 'fl-place';
        if (type === 'resize' && display === 'frame') frame.style.height = Math.max(482, detail.height + 2) + 'px';
        if (type === 'escape') this.close();
        else if (type === 'examine') this.#examine(display, detail);
        else if (type === 'title') frame.title = detail;
        else if (type) this.#emit(type, detail);
      });
      const place = make('div', { className: 'fl-place fl-wait' }, frame);
      const wait = (/** @type {number} */ time, isRejected = false) => setTimeout(() => isAnswered || this.#fail(display, SILENT, { isRejected }, (shown) => {
        if (isAnswered) return;
        // The frame stays where it is: moved, it would load anew, and one that answers late is shown.
        place.hidden = true;
        place.before((notice = shown));
      }), time);
      let timer = wait(LOAD_TIMEOUT_MS);
      frame.onload = () => {
        clearTimeout(timer);
        timer = wait(ANSWER_TIMEOUT_MS, true);
      };
      signal.addEventListener('abort', () => clearTimeout(timer));
      this.#refresh = () => frame.contentWindow?.postMessage({ florin: 1, type: 'refresh' }, ORIGIN);
      this.#show(place);
    }

    /** The checkout itself: as the page of the proxy, or inline. @param {Display} display */
    async #here(display) {
      const signal = this.#next();
      const isPage = display === 'page';
      const origin = isPage && parent !== window && new URLSearchParams(location.hash.slice(1)).get('origin');
      if (origin) parent.postMessage({ florin: 1 }, origin);
      this.#show(make('div', { className: 'fl-wait' }));
      /** @type {Context} */
      const context = {
        element: this,
        box: this.#box,
        signal,
        load,
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
        const found = await examine({ element: this, box: this.#box, signal, isTest: ENVIRONMENT === 'test', load, labels: findLabels(this), display, blocked: this.#blocked, ...signs });
        return !signal.aborted && found;
      } catch {
        if (signs.isInvalid) console.error('florin:', INVALID);
        if (this.#blocked[0]) console.error('florin:', 'Content-Security-Policy needs script-src ' + ORIGIN);
      }
    }

    /**
     * There is no checkout: takes the next display, or tries again and again.
     *
     * @param {Display} display @param {unknown} error @param {Signs} signs
     * @param {(notice: HTMLElement) => void} place
     * @param {Parameters<Context['fail']>[1]} [texts] @param {string} [locale]
     */
    async #fail(display, error, signs, place, texts, locale) {
      const { signal } = this.#attempt;
      console.error('florin:', error);
      this.#emit('error', { code: error === SILENT ? 'frame_timeout' : 'load_failed', message: '' + error });
      const isFatal = await this.#examine(display, signs);
      const labels = await findLabels(this);
      texts = { ...labels.texts, ...texts };
      if (signal.aborted) return;
      if (isFatal && display === 'inline') return this.#begin('frame');
      const link = display === 'page' ? '' : this.#link(texts.own_page || loader.own_page);
      let left = Math.min(LONGEST_PAUSE_SECONDS, 2 ** ++this.#failures);
      const countdown = make('p', { ariaLive: 'off' });
      const button = make('button', { className: 'fl-open' }, texts.retry || loader.retry);
      const notice = this.#notice(texts.load_failed, ...(isFatal ? [] : [countdown, button]), link);
      place(notice);
      if (isFatal) return;
      const again = () => notice.isConnected && this.#begin(display);
      const count = () => {
        countdown.textContent = (texts.retrying || loader.retrying).replace('{in}', new Intl.RelativeTimeFormat(locale || labels.locale).format(left, 'second'));
      };
      const timer = setInterval(() => {
        if (!notice.isConnected) clearInterval(timer);
        else if (--left) count();
        else this.#begin(display);
      }, 1000);
      button.onclick = again;
      addEventListener('online', again, { signal });
      count();
    }
  });
}

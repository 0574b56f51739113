/**
 * Florin's loader: defines <florin-checkout>.
 *
 * `frame` (the default) shows the checkout page of the proxy's own origin in a frame, out of reach of the shop's
 * scripts; `modal` shows that frame in a dialog which a button opens, and `redirect` is a link to the page. `inline`
 * renders into the element itself. The page that all of them lead to is this element in the display `page`, with its
 * parameters in the address, and has begun before this script: first_page.js. The displays that show the checkout itself,
 * `page` and `inline`, load host.js; the dialog is dialog.js. What does not load is tried again; diagnostics.js finds out why, and completes the notice.
 */
import { BASE, IS_PAGE, ORIGIN, TAG, VERSION, load } from './assets.js';
import { ATTRIBUTES, VALID_ATTRIBUTES, read } from './attributes.js';
import { make } from './dom.js';
import { localeOf, pageAddress, parametersOf } from './frame.js';
import { loader } from '../locales/en.json';
/** @import { Context, FoundLabels, Display, Retry, Signs } from './types.d.ts' */

/**
 * Each environment has a loader, so that it is known even where nothing else can be loaded.
 *
 * @type {string}
 */
const ENVIRONMENT = '%ENVIRONMENT%';
/** A page that loads sends a message at once; one that does not load gets this long. */
const LOAD_TIMEOUT_MS = 15000;
const ANSWER_TIMEOUT_MS = 3000;
const SILENT = 'frame_timeout';
const LONGEST_PAUSE_SECONDS = 30;
/** A button without a text waits this long for the one in the customer's language. */
const LABELS_TIMEOUT_MS = 3000;

/** Of the displays, `modal` and `redirect` alone have a "d". */
const SHOP_CSS = `\
:host([display*=d]){display:inline-block}\
.fl-frame,::slotted(iframe){display:block;width:1270px;max-width:100%;min-height:740px;margin:auto;border:0}\
.florin,.fl-frame,::slotted(iframe){border-radius:16px;outline:1px solid #8884;outline-offset:-1px}`;
const CSS = `\
:host{display:block}\
.fl-wait{width:1270px;max-width:100%;min-height:480px;margin:auto;background:repeating-linear-gradient(#8882 0 72px,#0000 0 84px) 50% 48px/90% 324px no-repeat}\
.fl-notice{all:initial;display:block;padding:16px;color:inherit}\
.fl-notice,.fl-open{font:16px/1.5 var(--florin-font,system-ui)}\
.fl-open{display:inline-block;padding:10px 20px;border:0;border-radius:var(--florin-radius,12px);color:var(--florin-on-accent,#fff);background:var(--florin-accent,#0b6e52);cursor:pointer;font-weight:600;text-decoration:none}\
.fl-notice .fl-open{margin:8px 12px 0 0}` + (IS_PAGE ? '' : SHOP_CSS) + ':host([hidden]){display:none}';

/**
 * The texts in the element's language. None for English, or where they do not load: the loader has the English ones.
 *
 * @param {HTMLElement} element
 * @returns {Promise<FoundLabels>}
 */
const findLabels = async (element) => {
  const wished = localeOf(element);
  try {
    if (!/^en\b/i.test(wished || navigator.language)) return (await load('labels', LABELS_TIMEOUT_MS)).find(wished);
  } catch {}
  return { texts: {} };
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
    /** @type {any} A number, from the first attributes on. */
    #failures;
    /** @type {any} Events, from the first run on. */
    #blocked;
    /** @type {any} Where the display is, from the first run on: below the diagnostics, or in the dialog. */
    #box;
    #root = (IS_PAGE && this.shadowRoot) || this.attachShadow({ mode: 'open' });
    /** @type {(() => void) | undefined | null} */
    #refresh;
    /** @type {(() => void) | undefined | null} */
    #open;
    /** @type {ReturnType<typeof import('./dialog.js').create> | undefined | null} */
    #dialog;

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
      this.#dialog?.close();
    }

    /** Starts, restarts or ends the display at the end of the task: an element that is only moved stays. */
    #change() {
      queueMicrotask(() => this.#follow());
    }

    #follow() {
      let key = '';
      // Pages are known to break `Array.prototype.map`.
      if (this.isConnected) for (const name of ATTRIBUTES) key += read(this, name) + '\n';
      if (key === this.#key) return;
      this.#key = key;
      this.#failures = 0;
      this.#restart();
    }

    #restart() {
      this.#run.abort();
      const { signal } = (this.#run = new AbortController());
      this.#refresh = this.#open = this.#dialog = null;
      const page = /** @type {import('./types.d.ts').PageElement} */ (/** @type {unknown} */ (this));
      if (IS_PAGE && page.begun && this.#key) {
        // The page's own script shows the first screen already.
        this.#box = page.begun.box;
        this.#root.adoptedStyleSheets = [style, ...this.#root.adoptedStyleSheets];
      } else {
        if (IS_PAGE) page.begun?.end?.();
        this.#box = make('div');
        this.#root.adoptedStyleSheets = [style];
        this.#root.replaceChildren(this.#box);
      }
      this.#next();
      if (!this.#key) return;
      this.#blocked = [];
      document.addEventListener('securitypolicyviolation', (event) => this.#blocked.push(event), { signal });
      const display = /** @type {Display} */ (read(this, 'display') || 'frame');
      if (IS_PAGE) return this.#here(display);
      // The rest of the page, where the element was written as `<florin-checkout />`.
      addEventListener('load', () => this.querySelector('p,div') && this.#examine(display, { isUnclosed: true }), { signal });
      if (!VALID_ATTRIBUTES.test(this.#key)) {
        this.#show(this.#notice());
        this.#examine(display, { isInvalid: true });
      } else if (display === 'modal') this.#modal();
      else if (display === 'redirect') this.#redirect();
      else this.#begin(display);
    }

    /** @param {Display} display */
    #begin(display) {
      if (IS_PAGE || display === 'inline') this.#here(display);
      else if (display === 'modal' && !this.#box.className) this.#open?.();
      else this.#frame(display);
    }

    /** What every module needs. */
    #context() {
      return { element: this, box: this.#box, signal: this.#attempt.signal, load };
    }

    /** @param {string} name @param {unknown} [detail] */
    #emit(name, detail) {
      this.dispatchEvent(new CustomEvent('florin-' + name, { detail, bubbles: true, composed: true }));
    }

    /** @param {Node} shown */
    #show(shown) {
      this.#box.replaceChildren(shown);
    }

    #next() {
      this.#attempt.abort();
      return (this.#attempt = new AbortController()).signal;
    }

    /** @param {(Node | string)[]} children */
    #notice(...children) {
      return make('div', { className: 'fl-notice', role: 'alert' }, loader.load_failed, ...children);
    }

    /** A link that gives the whole window to the checkout's page. @param {Node | string} text */
    #link(text) {
      const link = make('a', { className: 'fl-open', part: 'button', href: pageAddress(this, 'redirect'), target: '_top' }, text);
      if (top !== self) this.#examine('redirect', { link });
      return link;
    }

    #redirect() {
      const link = this.#link('');
      this.#open = () => link.click();
      this.#label(link);
    }

    /** Shows a button or link whose text, where the shop gave none, is in the customer's language. @param {HTMLElement} button */
    async #label(button) {
      const { signal } = this.#run;
      button.append(make('slot', {}, (await findLabels(this)).texts.pay || loader.pay));
      if (!signal.aborted) this.#show(button);
    }

    /** A button that opens a dialog, whose script is fetched ahead. */
    #modal() {
      const button = make('button', { className: 'fl-open', part: 'button', onclick: (/** @type {Event} */ event) => {
        // Neither a script nor a link around the element takes the press.
        event.stopPropagation();
        event.preventDefault();
        this.open();
      } });
      this.#open = async () => {
        if (!this.#dialog) {
          const signal = this.#next();
          button.nextSibling?.remove();
          try {
            const { create } = await load('dialog');
            if (signal.aborted) return;
            this.#dialog = create(this, this.#root, findLabels(this), this.#run.signal, (/** @type {HTMLElement} */ box) => {
              this.#box = box;
              this.#begin('modal');
            });
          } catch (error) {
            return this.#fail('modal', error, (notice) => button.after(notice));
          }
        }
        this.#dialog?.open();
      };
      this.#label(button);
      load('dialog').catch(() => {});
    }

    /**
     * Shows the frame of the page: the one in the tag, or a new one. Messages between the two are `{florin: 1, type, detail}`, and
     * never carry a token or an address. The page begins, by a message without a type; the answer, `hello`, has the
     * parameters of the query, and the origin of the page around it. Its messages have the frame's `width` in its CSS pixels.
     *
     * @param {Display} display
     */
    #frame(display) {
      const signal = this.#next();
      const [query, fragment] = parametersOf(this, display);
      let token = read(this, 'order-token');
      let isAnswered = false;
      /** @type {HTMLElement | undefined} */
      let notice;
      /** @type {HTMLIFrameElement | false | null} A frame in the tag has no token. */
      const own = display === 'frame' && !('' + fragment) && this.querySelector(`iframe[src^="${BASE}pay?"]`);
      // Without its origin, the clipboard would be lent to that of the empty document.
      const frame = own || make('iframe', { className: 'fl-frame', title: loader.checkout, allow: 'clipboard-write ' + ORIGIN });
      const send = (/** @type {string} */ type) => frame.contentWindow?.postMessage({ florin: 1, type, detail: '' + query }, '*');
      const open = () => (frame.src = pageAddress(this, display));
      // One in the tag may have failed.
      if (this.#failures || !(token || frame.src)) open();
      const place = make('div', { className: 'fl-place fl-wait' }, own ? make('slot') : frame);
      /** @type {(time: number, isRejected?: boolean) => any} */
      const wait = (time, isRejected) => setTimeout(() => isAnswered || signal.aborted || this.#fail(display, SILENT, (shown) => {
        if (isAnswered) return;
        // The frame stays where it is: moved, it would load anew, and one that answers late is shown.
        place.hidden = true;
        place.before((notice = shown));
      }, { isRejected }), time);
      let timer = wait(LOAD_TIMEOUT_MS);
      addEventListener('message', ({ data, origin, source }) => {
        if (source !== frame.contentWindow || origin !== ORIGIN || !data?.florin) return;
        const { type, detail, width } = data;
        isAnswered = true;
        this.#failures = 0;
        notice?.remove();
        place.hidden = false;
        place.className = 'fl-place';
        // WebKit's frames have no part in the zoom of a style. Pixels of the device may take a fraction of a CSS pixel off.
        if (type === 'resize') frame.style.height = +(frame.clientWidth / width).toFixed(2) * detail.height + 1 + 'px';
        if (type === 'escape') this.close();
        else if (type === 'examine') this.#examine(display, detail);
        else if (type === 'title') frame.title = detail;
        else if (type) this.#emit(type, detail);
        else send('hello');
      }, { signal });
      // The page in the tag may have begun before.
      send('hello');
      frame.onload = () => {
        const empty = !frame.src && frame.contentDocument;
        if (!empty) {
          clearTimeout(timer);
          timer = wait(ANSWER_TIMEOUT_MS, true);
          // It was moved, or may not be shown.
        } else if (!token) open();
        else {
          // A form of the empty document sends the token, so that it stands in no address. The page's policy may forbid it.
          empty.onsecuritypolicyviolation = open;
          fragment.delete('order_token');
          empty.body.appendChild(make('form', { action: BASE + 'pay?' + query + '#' + fragment, method: 'post' }, make('input', { name: 'order_token', value: token }))).submit();
          token = '';
        }
      };
      this.#refresh = () => send('refresh');
      this.#show(place);
    }

    /** The checkout itself: as the page of the proxy, or inline. @param {Display} display */
    async #here(display) {
      const signal = this.#next();
      const hasBegun = IS_PAGE && /** @type {any} */ (this).begun;
      if (hasBegun) {
        this.#box.querySelector('.fl-notice')?.remove();
      } else {
        this.#show(make('div', { className: 'fl-wait' }));
        // For host.js, which takes it as well.
        load('first').catch(() => {});
      }
      /** @type {Context} */
      const context = {
        ...this.#context(),
        restart: () => this.#restart(),
        onRefresh: (refresh) => {
          this.#failures = 0;
          this.#refresh = refresh;
        },
        fail: (error, labels) => {
          if (!signal.aborted) this.#fail(display, error, (notice) => (IS_PAGE && /** @type {any} */ (this).begun ? this.#box.prepend(notice) : this.#show(notice)), labels);
        },
        examine: async (signs) => {
          if (await this.#examine(display, signs)) this.#begin('frame');
        },
      };
      try {
        await (await load('host')).start(context, IS_PAGE);
      } catch (error) {
        context.fail(error);
      }
    }

    /**
     * Names to the merchant what is missing. Returns whether no further attempt can help.
     *
     * @param {Display} display @param {Signs & Retry} signs @returns {Promise<boolean | void>}
     */
    async #examine(display, signs) {
      const context = this.#context();
      try {
        const { examine } = await load('diagnostics', 3000);
        const found = await examine({ ...context, isTest: ENVIRONMENT === 'test', labels: findLabels(this), display, blocked: this.#blocked, ...signs });
        return !context.signal.aborted && found;
      } catch {
        if (signs.isInvalid) this.#emit('error', { code: 'invalid_attributes', message: '' });
      }
    }

    /**
     * There is no checkout: takes the next display, or tries again and again. The notice works without another file.
     *
     * @param {Display} display @param {unknown} error
     * @param {(notice: HTMLElement) => void} place
     * @param {Signs & Retry} [signs]
     */
    async #fail(display, error, place, signs) {
      const { signal } = this.#attempt;
      console.error('florin:', error);
      this.#emit('error', { code: error === SILENT ? SILENT : 'load_failed', message: '' + error });
      const again = () => notice.isConnected && this.#begin(display);
      const seconds = Math.min(LONGEST_PAUSE_SECONDS, 2 ** ++this.#failures);
      const button = make('button', { className: 'fl-open', onclick: again }, loader.retry);
      const link = IS_PAGE ? '' : this.#link(loader.checkout);
      const notice = this.#notice(button, link);
      const isFatal = await this.#examine(display, { ...signs, notice, button, link, seconds });
      if (signal.aborted) return;
      if (isFatal && display === 'inline') return this.#begin('frame');
      place(notice);
      if (isFatal) return;
      setTimeout(again, seconds * 1000);
      addEventListener('online', again, { signal });
    }
  });
}
// Here, or for the element of an earlier version: see `load`. What passes between loader and modules is therefore only added
// to.
if (ORIGIN) /** @type {any} */ (customElements.get(TAG))[BASE] = VERSION;

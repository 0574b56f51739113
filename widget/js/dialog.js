/**
 * The dialog of `display="modal"`: the browser's own, above everything else on the page. The focus stays in it and goes
 * back to where it was; a closed dialog keeps its checkout, and its button says that the order is paid. Loaded by florin.js.
 */
import { make } from './dom.js';
import { loader } from '../locales/en.json';

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
.fl-dialog{width:min(1270px,100vw - 48px);max-width:none;max-height:none;padding:0;border:0;overflow:visible;background:none}
.fl-dialog::backdrop{background:#000b}
.fl-bar{height:52px;text-align:end}
.fl-close{width:44px;height:44px;border:0;border-radius:50%;background:none;color:#fff;font:20px/1 system-ui,sans-serif;cursor:pointer}
.fl-close:focus-visible{outline:2px solid;outline-offset:-2px}
.fl-sheet{height:min(740px,100dvh - 100px);overflow:auto;overscroll-behavior:contain;border-radius:16px;background:Canvas;color:CanvasText}
.fl-sheet .fl-place,.fl-sheet .fl-frame{height:100%!important;min-height:0;outline:0}
@media(max-width:759px){.fl-dialog{width:100%;margin:0}.fl-sheet{height:calc(100dvh - 52px);border-radius:16px 16px 0 0}}`);

/** The page behind the dialogs does not scroll; what it had set itself comes back. */
/** @type {Set<HTMLDialogElement>} */
const opened = new Set();
/** @type {[string, string]} Overflow and padding of the page. */
let before = ['', ''];
const hold = (/** @type {HTMLDialogElement} */ dialog, isOpen = false) => {
  const { style, clientWidth } = document.documentElement;
  if (isOpen && !opened.size) {
    before = [style.overflow, style.paddingInlineEnd];
    // Where the scroll bar was, nothing moves in.
    if (innerWidth > clientWidth) style.paddingInlineEnd = innerWidth - clientWidth + 'px';
    style.overflow = 'hidden';
  }
  if (isOpen) opened.add(dialog);
  else if (opened.delete(dialog) && !opened.size) [style.overflow, style.paddingInlineEnd] = before;
};

/**
 * Makes the dialog of an element, which `signal` ends.
 *
 * @param {HTMLElement} element
 * @param {ShadowRoot} root
 * @param {Promise<import('./types.d.ts').FoundLabels>} labels
 * @param {AbortSignal} signal
 * @param {(box: HTMLElement) => void} begin Fills the dialog when it is first opened.
 */
export const create = (element, root, labels, signal, begin) => {
  const close = make('button', { className: 'fl-close', part: 'close', type: 'button', ariaLabel: loader.close, onclick: () => dialog.close() }, '\u2715');
  const bar = make('div', { className: 'fl-bar' }, close);
  const sheet = make('div', { className: 'fl-sheet' });
  const isBeside = (/** @type {Event} */ { target }) => target === dialog || target === bar;
  let isPressed = false;
  const dialog = make('dialog', {
    className: 'fl-dialog',
    part: 'dialog',
    ariaLabel: loader.checkout,
    // A drag that starts in the sheet selects text and closes nothing.
    onpointerdown: (/** @type {Event} */ event) => (isPressed = isBeside(event)),
    onclick: (/** @type {Event} */ event) => {
      // A press in the dialog is the element's own, as on its button: links around the element take none.
      event.stopPropagation();
      if (!(/** @type {HTMLElement} */ (event.target).closest('a'))) event.preventDefault();
      if (isPressed && isBeside(event)) dialog.close();
    },
    onclose: () => {
      hold(dialog);
      element.dispatchEvent(new CustomEvent('florin-close', { bubbles: true, composed: true, detail: null }));
    },
  }, bar, sheet);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, STYLE];
  root.append(dialog);
  labels.then(({ texts }) => {
    close.ariaLabel = texts.close || loader.close;
    dialog.ariaLabel = texts.checkout || loader.checkout;
  });
  signal.addEventListener('abort', () => hold(dialog));
  element.addEventListener('florin-paid', async () => {
    const button = root.querySelector('button.fl-open');
    const paid = (await labels).texts.paid || loader.paid;
    if (button) button.textContent = '\u2713 ' + paid;
  }, { signal });
  return {
    open: () => {
      if (dialog.open) return;
      dialog.showModal();
      hold(dialog, true);
      if (!sheet.firstChild) begin(sheet);
    },
    close: () => dialog.close(),
  };
};

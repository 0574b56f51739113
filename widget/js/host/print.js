/** The receipt on paper. */
const PRINTED = 'data-florin-printed';
/** Hides all of a shop's page but the checkout and what it is in. */
const PAPER = `@media print{body :not([${PRINTED}]){display:none!important}[${PRINTED}]{position:static!important;overflow:visible!important;height:auto!important;max-height:none!important;border:0!important;box-shadow:none!important;background:#fff!important}}`;

/** Prints the element without the page around it. */
export const printAlone = (/** @type {HTMLElement} */ element) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PAPER);
  /** @type {Element[]} */
  const printed = [];
  /** @type {Node | null} */
  let at = element;
  while (at) {
    if (at instanceof Element) printed.push(at);
    at = at.parentNode || (at instanceof ShadowRoot ? at.host : null);
  }
  const mark = (/** @type {boolean} */ isPrinted) => printed.forEach((at) => at.toggleAttribute(PRINTED, isPrinted));
  const sheets = document.adoptedStyleSheets;
  mark(true);
  document.adoptedStyleSheets = [...sheets, sheet];
  addEventListener('afterprint', () => {
    mark(false);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  }, { once: true });
  print();
};

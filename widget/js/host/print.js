/** The receipt on paper. */
const PRINTED = 'data-florin-printed';
/** On paper nothing of a shop's page but what leads to the checkout. */
const PAPER = `@media print{body :not([${PRINTED}]){display:none!important}[${PRINTED}]{position:static!important;overflow:visible!important;height:auto!important;max-height:none!important;border:0!important;box-shadow:none!important;background:#fff!important}}`;

/** Prints the element without the page around it. */
const printAlone = (element) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PAPER);
  const printed = [];
  for (let at = element; at; at = at.parentNode || at.host) if (at.toggleAttribute) printed.push(at);
  const mark = (isPrinted) => printed.forEach((at) => at.toggleAttribute(PRINTED, isPrinted));
  const sheets = document.adoptedStyleSheets;
  mark(true);
  document.adoptedStyleSheets = [...sheets, sheet];
  addEventListener('afterprint', () => {
    mark(false);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  }, { once: true });
  print();
};

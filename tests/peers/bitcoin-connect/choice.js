// The first of the ways to pay, a button each.
(() =>
  document
    .querySelector('bc-modal bc-payment')
    ?.shadowRoot?.querySelector('bc-send-payment')
    ?.shadowRoot?.querySelector('bci-button')
    ?.shadowRoot?.querySelector('button')?.offsetHeight > 0)

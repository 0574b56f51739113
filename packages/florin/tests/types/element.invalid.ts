// What must not compile: each line below a `@ts-expect-error` is a mistake that the types find.
import { loadFlorin } from 'florin';
import type { FlorinCheckoutAttributes, FlorinStatus } from 'florin';

// @ts-expect-error: whose script?
loadFlorin();
// @ts-expect-error: an address is one text
loadFlorin(['https://pay.shop.example/florin.js']);
// @ts-expect-error: the unit stands in the name
loadFlorin('/florin.js', { timeout: 5 });
// @ts-expect-error: on a server there is none
new (await loadFlorin('/florin.js'))();

const element = document.createElement('florin-checkout');
// @ts-expect-error: the page pays nothing
element.pay();
// @ts-expect-error: attributes are no properties
element.store = 'demo';
// @ts-expect-error: it takes nothing
element.refresh(true);

// @ts-expect-error: the order's id is in the detail
element.addEventListener('florin-paid', (event) => event.order_id);
// @ts-expect-error: no event holds an address
element.addEventListener('florin-status', (event) => event.detail.address);
// @ts-expect-error: nor an amount
document.addEventListener('florin-paid', (event) => event.detail.amount);
// @ts-expect-error: there is nothing in it
element.addEventListener('florin-ready', (event) => event.detail.order_id);
// @ts-expect-error: no status is called so
element.addEventListener('florin-status', (event) => event.detail.status === 'completed');
// @ts-expect-error: nor so
const status: FlorinStatus = 'pending';

const settings = { store: 'demo', product: 'ebook' };
const right: FlorinCheckoutAttributes = settings;
// @ts-expect-error: no source
const none: FlorinCheckoutAttributes = { store: 'demo' };
// @ts-expect-error: two sources
const two: FlorinCheckoutAttributes = { ...settings, donation: 'coffee' };
// @ts-expect-error: a product and another token
const token: FlorinCheckoutAttributes = { ...settings, 'order-token': 'eyJ…' };
// @ts-expect-error: both tokens
const tokens: FlorinCheckoutAttributes = { 'order-token': 'eyJ…', 'client-token': 'ct_…' };
// @ts-expect-error: whose product?
const stray: FlorinCheckoutAttributes = { product: 'ebook' };
// @ts-expect-error: the page names no price of a product
const cheap: FlorinCheckoutAttributes = { ...settings, amount: '0.01' };
// @ts-expect-error: money is no float
const float: FlorinCheckoutAttributes = { store: 'demo', donation: 'coffee', amount: 5.1 };
// @ts-expect-error: a donation is given once
const often: FlorinCheckoutAttributes = { store: 'demo', donation: 'coffee', quantity: 2 };
// @ts-expect-error: that is no number
const many: FlorinCheckoutAttributes = { ...settings, quantity: 'two' };
// @ts-expect-error: no display is called so
const display: FlorinCheckoutAttributes = { ...settings, display: 'popup' };
// @ts-expect-error: the proxy's own page alone
const page: FlorinCheckoutAttributes = { ...settings, display: 'page' };
// @ts-expect-error: no theme is called so
const theme: FlorinCheckoutAttributes = { ...settings, theme: 'pink' };
// @ts-expect-error: in attributes with a hyphen
const spelling: FlorinCheckoutAttributes = { orderToken: 'eyJ…' };

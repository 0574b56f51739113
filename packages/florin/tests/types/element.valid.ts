// What must compile: the element and its loader, in a page that checks its types.
import { loadFlorin } from 'florin';
import type { FlorinCheckoutAttributes, FlorinCheckoutElement, FlorinStatus } from 'florin';

// Loading.
const Checkout = await loadFlorin('https://pay.shop.example/florin.js');
await loadFlorin(new URL('https://pay.shop.example/florin.js'), { nonce: 'r4nd0m', integrity: 'sha384-x', timeoutMs: 5000 });
if (Checkout) {
  const made: FlorinCheckoutElement = new Checkout();
  document.body.append(made);
}

// The element is known by its name.
const element: FlorinCheckoutElement = document.createElement('florin-checkout');
const found: FlorinCheckoutElement | null = document.querySelector('florin-checkout');
const all: NodeListOf<FlorinCheckoutElement> = document.querySelectorAll('florin-checkout');
const nothing: void = element.refresh();
element.open();
element.close();
found?.setAttribute('theme', 'dark');

// Its events, received at the element and wherever they bubble to.
element.addEventListener('florin-ready', (event) => {
  const none: null = event.detail;
});
element.addEventListener('florin-resize', (event) => {
  const height: number = event.detail.height;
});
document.addEventListener('florin-status', (event) => {
  const { order_id, status }: { order_id: string; status: FlorinStatus } = event.detail;
});
window.addEventListener('florin-paid', (event) => {
  const order: string = event.detail.order_id;
}, { once: true });
document.forms[0]?.addEventListener('florin-error', ({ detail }) => console.error(detail.code.length, detail.message.length));
element.addEventListener('click', (event: MouseEvent) => event.preventDefault());
element.addEventListener('unknown-event', (event: Event) => event.type);
element.removeEventListener('florin-close', () => {});

// The four sources, and how it is shown.
const sources: FlorinCheckoutAttributes[] = [
  { store: 'demo', product: 'ebook' },
  { store: 'demo', product: 'ebook', quantity: 2 },
  { store: 'demo', product: 'ebook', quantity: '2' },
  { store: 'demo', donation: 'coffee' },
  { store: 'demo', donation: 'coffee', amount: '5.00' },
  { 'order-token': 'eyJ…' },
  { store: 'demo', 'order-token': 'eyJ…' },
  { 'client-token': 'ct_…' },
  { 'client-token': 'ct_…', display: 'redirect', locale: 'ar-EG', theme: 'dark', asset: 'BTC' },
  { store: 'demo', product: 'ebook', display: 'modal', words: JSON.stringify({ en: { thanks: 'Thank you!' } }) },
];

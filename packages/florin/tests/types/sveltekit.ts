// What must and must not compile in a template of Svelte.
import 'florin/svelte';
import type { SvelteHTMLElements } from 'svelte/elements';

type Attributes = SvelteHTMLElements['florin-checkout'];

export const valid: Attributes[] = [
  { store: 'demo', product: 'ebook', quantity: 2, display: 'modal', class: 'wide', id: 'checkout' },
  { 'client-token': 'ct_…', 'onflorin-paid': (event) => event.detail.order_id.length, onclick: () => {} },
  { store: 'demo', 'order-token': 'eyJ…', 'onflorin-status': ({ detail }) => detail.status === 'paid' },
];

// @ts-expect-error: no source
export const none: Attributes = { store: 'demo' };
// @ts-expect-error: two sources
export const two: Attributes = { store: 'demo', product: 'ebook', 'client-token': 'ct_…' };
// @ts-expect-error: no display is called so
export const display: Attributes = { 'client-token': 'ct_…', display: 'popup' };
// @ts-expect-error: the order's id is in the detail
export const listener: Attributes = { 'client-token': 'ct_…', 'onflorin-paid': (event) => event.order_id };
// @ts-expect-error: no event is called so
export const event: Attributes = { 'client-token': 'ct_…', 'onflorin-success': () => {} };

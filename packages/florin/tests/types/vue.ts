// What must and must not compile in a template of Vue: its compiler looks for attributes under these names.
import 'florin/vue';
import type { GlobalComponents } from 'vue';

type Attributes = InstanceType<GlobalComponents['florin-checkout']>['$props'];

export const valid: Attributes[] = [
  { store: 'demo', product: 'ebook', quantity: 2, display: 'modal', class: 'wide', id: 'checkout' },
  { clientToken: 'ct_…', onFlorinPaid: (event) => event.detail.order_id.length, onClick: () => {} },
  { store: 'demo', orderToken: 'eyJ…', onFlorinStatus: ({ detail }) => detail.status === 'paid' },
];

// @ts-expect-error: no source
export const none: Attributes = { store: 'demo' };
// @ts-expect-error: two sources
export const two: Attributes = { store: 'demo', product: 'ebook', clientToken: 'ct_…' };
// @ts-expect-error: no display is called so
export const display: Attributes = { clientToken: 'ct_…', display: 'popup' };
// @ts-expect-error: the order's id is in the detail
export const listener: Attributes = { clientToken: 'ct_…', onFlorinPaid: (event) => event.order_id };
// @ts-expect-error: no event is called so
export const event: Attributes = { clientToken: 'ct_…', onFlorinSuccess: () => {} };

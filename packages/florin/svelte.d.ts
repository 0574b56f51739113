/** `<florin-checkout>` in Svelte's templates: `/// <reference types="florin/svelte" />` in `src/app.d.ts`. */

import type { HTMLAttributes } from 'svelte/elements';
import type { FlorinCheckoutAttributes, FlorinCheckoutElement, FlorinEventMap } from './element.js';

type Listeners = { [Type in keyof FlorinEventMap as `on${Type}`]?: (event: FlorinEventMap[Type]) => void };
type Common = Omit<HTMLAttributes<FlorinCheckoutElement>, keyof FlorinCheckoutAttributes | keyof Listeners>;

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'florin-checkout': FlorinCheckoutAttributes & Listeners & Common;
  }
}

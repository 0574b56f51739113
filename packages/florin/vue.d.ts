/** `<florin-checkout>` in Vue's templates: `"types": ["florin/vue"]` in `tsconfig.json`. */

import type { HTMLAttributes, PublicProps } from 'vue';
import type {
  FlorinCheckoutElement,
  FlorinClientTokenSource,
  FlorinDonationSource,
  FlorinEventMap,
  FlorinOrderTokenSource,
  FlorinProductSource,
  FlorinSettings,
} from './element.js';

/** Vue's compiler looks for `client-token` under the name `clientToken`. */
type Tokens = { orderToken: FlorinOrderTokenSource['order-token']; clientToken: FlorinClientTokenSource['client-token'] };
type Sources = FlorinProductSource & FlorinDonationSource & Tokens;
type Only<Source> = Source & { [Name in Exclude<keyof Sources, keyof Source>]?: never };

/** What is to be paid: exactly one of the four sources. */
type Source =
  | Only<FlorinProductSource>
  | Only<FlorinDonationSource>
  | Only<{ store?: string } & Pick<Tokens, 'orderToken'>>
  | Only<{ store?: string } & Pick<Tokens, 'clientToken'>>;

/** `florin-paid` is the listener `onFlorinPaid`. */
type Listener<Type extends string> = Type extends `florin-${infer Name}` ? `onFlorin${Capitalize<Name>}` : never;
type Listeners = { [Type in keyof FlorinEventMap as Listener<Type>]?: (event: FlorinEventMap[Type]) => void };

declare module 'vue' {
  interface GlobalComponents {
    'florin-checkout': new () => FlorinCheckoutElement & { $props: Source & FlorinSettings & Listeners & HTMLAttributes & PublicProps };
  }
}

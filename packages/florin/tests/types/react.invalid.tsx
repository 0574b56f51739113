// What must not compile: each line below a `@ts-expect-error` is a mistake that the types find.
import { useRef } from 'react';
import type { SyntheticEvent } from 'react';
import { FlorinCheckout } from 'florin/react';

const Wrong = () => {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      {/* @ts-expect-error: no source */}
      <FlorinCheckout store="demo" />
      {/* @ts-expect-error: two sources */}
      <FlorinCheckout store="demo" product="ebook" donation="coffee" />
      {/* @ts-expect-error: a product and another token */}
      <FlorinCheckout store="demo" product="ebook" clientToken="ct_…" />
      {/* @ts-expect-error: both tokens */}
      <FlorinCheckout orderToken="eyJ…" clientToken="ct_…" />
      {/* @ts-expect-error: whose product? */}
      <FlorinCheckout product="ebook" />
      {/* @ts-expect-error: the page names no price of a product */}
      <FlorinCheckout store="demo" product="ebook" amount="0.01" />
      {/* @ts-expect-error: money is no float */}
      <FlorinCheckout store="demo" donation="coffee" amount={5.1} />
      {/* @ts-expect-error: as HTML spells it */}
      <FlorinCheckout order-token="eyJ…" />
      {/* @ts-expect-error: no display is called so */}
      <FlorinCheckout store="demo" product="ebook" display="popup" />
      {/* @ts-expect-error: no theme is called so */}
      <FlorinCheckout store="demo" product="ebook" theme="pink" />
      {/* @ts-expect-error: an object, which the component writes as JSON */}
      <FlorinCheckout store="demo" product="ebook" words="Thank you!" />
      {/* @ts-expect-error: no token is called so */}
      <FlorinCheckout store="demo" product="ebook" style={{ '--florin-colour': 'red' }} />
      {/* @ts-expect-error: no event is called so */}
      <FlorinCheckout store="demo" product="ebook" onSuccess={() => {}} />
      {/* @ts-expect-error: the order's id is in the detail */}
      <FlorinCheckout store="demo" product="ebook" onPaid={(event) => event.order_id} />
      {/* @ts-expect-error: the element's own error, not that of an image */}
      <FlorinCheckout store="demo" product="ebook" onError={(event: SyntheticEvent) => {}} />
      {/* @ts-expect-error: the element is no button */}
      <FlorinCheckout store="demo" product="ebook" ref={button} />

      {/* @ts-expect-error: no source */}
      <florin-checkout />
      {/* @ts-expect-error: two sources */}
      <florin-checkout store="demo" product="ebook" client-token="ct_…" />
      {/* @ts-expect-error: as React spells it */}
      <florin-checkout orderToken="eyJ…" />
    </>
  );
};

// What must compile: the component, and the bare element in JSX.
import { useRef } from 'react';
import { FlorinCheckout } from 'florin/react';
import type { FlorinCheckoutElement, FlorinCheckoutProps, FlorinStatus } from 'florin/react';

export const Shop = ({ many }: { many: number }) => {
  const element = useRef<FlorinCheckoutElement>(null);
  return (
    <>
      <FlorinCheckout store="demo" product="ebook" />
      <FlorinCheckout
        src="https://pay.shop.example/florin.js"
        nonce="r4nd0m"
        integrity="sha384-x"
        ref={element}
        key="checkout"
        store="demo"
        product="ebook"
        quantity={many}
        display="inline"
        locale="ar"
        theme="dark"
        asset="BTC"
        words={{ en: { thanks: 'Thank you!' } }}
        id="checkout"
        className="wide"
        style={{ minHeight: 740, '--florin-accent': '#7a1f5c', '--florin-density': 1.25 }}
        data-testid="checkout"
        aria-label="Checkout"
        onClick={(event) => event.currentTarget.refresh()}
        onReady={(event) => event.currentTarget}
        onResize={(event) => event.detail.height.toFixed()}
        onStatus={(event) => {
          const status: FlorinStatus = event.detail.status;
        }}
        onPaid={({ detail }) => console.log(detail.order_id)}
        onClose={() => history.back()}
        onError={({ detail }) => console.error(detail.code, detail.message)}
        failure={<a href="mailto:shop@example.org">Write to us</a>}
      >
        Pay with crypto
      </FlorinCheckout>
      <FlorinCheckout store="demo" donation="coffee" amount="5.00" />
      <FlorinCheckout orderToken="eyJ…" />
      <FlorinCheckout store="demo" clientToken="ct_…" display="redirect" />
      <FlorinCheckout orderToken="eyJ…" display="modal">
        Pay with crypto
      </FlorinCheckout>
      <button onClick={() => element.current?.open()}>Open</button>
      <button onClick={() => element.current?.close()}>Close</button>
      <button onClick={() => element.current?.refresh()}>Look again</button>

      <florin-checkout store="demo" product="ebook" />
      <florin-checkout client-token="ct_…" class="wide" id="bare" style={{ '--florin-radius': '4px' }} onflorin-paid={(event) => console.log(event.detail.order_id)}>
        <p>Loading…</p>
      </florin-checkout>
    </>
  );
};

// Handed on as it came.
export const Framed = (properties: FlorinCheckoutProps) => <FlorinCheckout {...properties} />;

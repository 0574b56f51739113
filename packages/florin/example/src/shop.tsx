import { useState } from 'react';
import { FlorinCheckout } from 'florin/react';
import type { FlorinStatus } from 'florin/react';
import { FLORIN } from './florin';

/** What the shop says above the checkout, which says the rest itself. */
const MESSAGES: Partial<Record<FlorinStatus, string>> = {
  open: 'Pick what you would like to pay with.',
  processing: 'Your payment is on its way. You can close this page.',
  underpaid: 'Something is missing. The checkout says how much.',
};

/** A book, and its checkout. */
export const Shop = () => {
  const [status, setStatus] = useState<FlorinStatus>();
  const [order, setOrder] = useState('');
  const [problem, setProblem] = useState('');

  // Thanks are all that follows from an event: the book is sent when the shop's server has the signed webhook.
  const message = order ? `Thank you! Order ${order} is paid; your book comes by e-mail.` : problem || (status && MESSAGES[status]);
  return (
    <main>
      <h1>Quiet Goods</h1>
      <p>A book about silence, to read on your own.</p>
      <p role="status" data-testid="message">
        {message}
      </p>
      <FlorinCheckout
        src={FLORIN}
        className="checkout"
        store="demo"
        product="ebook"
        onStatus={(event) => {
          setStatus(event.detail.status);
          setProblem('');
        }}
        onPaid={(event) => setOrder(event.detail.order_id)}
        onError={(event) => setProblem(`That did not work (${event.detail.code}).`)}
      />
    </main>
  );
};

import { LanguageCode, PaymentMethodHandler } from '@vendure/core';
import { FlorinPayments } from './payments';

let payments: FlorinPayments;

/** The payment method. `Authorized` means: the order is placed, and nothing is paid yet. */
export const florinHandler = new PaymentMethodHandler({
  code: 'florin',
  description: [{ languageCode: LanguageCode.en, value: 'Florin: Bitcoin, Ether, USDT and other coins' }],
  args: {},

  init(injector) {
    payments = injector.get(FlorinPayments);
  },

  async createPayment(_ctx, order, amount) {
    try {
      const { order: opened, client_token: clientToken, checkout_url: checkoutUrl } = await payments.open(order, amount);
      const shown = { clientToken, checkoutUrl, scriptUrl: payments.scriptUrl };
      return { amount, state: 'Authorized', transactionId: opened.id, metadata: { public: shown } };
    } catch (error) {
      return { amount, state: 'Error', errorMessage: (error as Error).message };
    }
  },

  /** Also when a person presses it: only what the proxy reports as paid is settled. Else the payment stays as it is. */
  async settlePayment(_ctx, order, payment) {
    if (payment.state === 'Settled') return { success: true };
    const errorMessage = await payments.whyUnpaid(order, payment);
    return errorMessage === undefined ? { success: true } : { success: false, state: payment.state, errorMessage };
  },

  /** Refused once money was seen: the payment stays as it is. */
  async cancelPayment(_ctx, _order, payment) {
    if (payment.state === 'Cancelled') return { success: true };
    const errorMessage = await payments.cancel(payment);
    return errorMessage === undefined ? { success: true } : { success: false, state: payment.state, errorMessage };
  },

  // Without `createRefund`, Vendure records a refund as pending, and no money is sent: a person sends it, and then settles the refund
  // with the id of the transaction.
});

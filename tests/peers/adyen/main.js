import { AdyenCheckout, Card, Dropin, Redirect } from '@adyen/adyen-web';
import '@adyen/adyen-web/styles/adyen.css';

/** Stands for each of Adyen's servers. Its name has to hold the environment's. */
const servers = location.origin + '/test/';
const checkout = await AdyenCheckout({
  environment: 'test',
  _environmentUrls: { api: servers, analytics: servers, cdn: { images: servers, translations: servers } },
  clientKey: 'test_BENCH',
  session: await window.session,
});
new Dropin(checkout, { paymentMethodComponents: [Card, Redirect] }).mount('#dropin');

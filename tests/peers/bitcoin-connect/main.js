import { init, launchPaymentModal } from '@getalby/bitcoin-connect';

init({ appName: 'A shop' });
const { invoice } = await window.invoice;
launchPaymentModal({ invoice });

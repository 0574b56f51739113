/** The history of the page that is alone in its window: one entry for the payment, so that Back leads from it to the list. */

const isPayment = () => history.state?.florin === 'payment';

/**
 * Follows Back and Forward. Returns what takes whether the list of assets is shown, or the payment.
 *
 * @param {Promise<void>} chosen Resolves with a choice on the first list.
 * @param {AbortSignal} signal
 * @param {(isList: boolean) => void} turn Shows the list, or the payment.
 */
export const followHistory = (chosen, signal, turn) => {
  /** A page that was loaded with a payment has no list to go back to. */
  let isFromList = false;
  /** @type {boolean | undefined} */
  let wasList;
  chosen.then(() => (isFromList = true));
  const { href } = location;
  // Another fragment is another order.
  addEventListener('popstate', () => location.href === href && turn(!isPayment()), { signal });
  return (/** @type {boolean} */ isList) => {
    if (isList === wasList) return;
    wasList = isList;
    isFromList ||= isList;
    if (isList && isPayment()) history.back();
    else if (!isList && isFromList && !isPayment()) history.pushState({ florin: 'payment' }, '');
  };
};

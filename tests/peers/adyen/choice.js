// The first of the ways to pay, when the list is no longer marked as loading.
(() => document.querySelector('.adyen-checkout__dropin--ready .adyen-checkout__payment-method')?.offsetHeight > 0)

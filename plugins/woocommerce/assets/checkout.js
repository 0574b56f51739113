/** Opens the page of the order once the checkout shows the payment. The page itself asks the proxy: this event proves nothing. */
document.addEventListener( 'florin-paid', ( event ) => {
	const next = event.target.dataset.nextPage;
	if ( next && next.split( '#' )[ 0 ] !== location.href.split( '#' )[ 0 ] ) {
		location.assign( next );
	} else if ( next && ! sessionStorage.getItem( `florin-shown:${ event.detail.order_id }` ) ) {
		// On that page already: it is shown anew, once.
		sessionStorage.setItem( `florin-shown:${ event.detail.order_id }`, '1' );
		location.reload();
	}
} );

/** The payment method in the Checkout block. The order is opened by the server, as in the classic checkout. */
( () => {
	const { createElement } = window.wp.element;
	const { decodeEntities } = window.wp.htmlEntities;
	const settings = window.wc.wcSettings.getSetting( 'florin_data', {} );
	const title = decodeEntities( settings.title || 'Florin' );
	const content = createElement( 'div', null, decodeEntities( settings.description || '' ) );
	window.wc.wcBlocksRegistry.registerPaymentMethod( {
		name: 'florin',
		label: createElement( 'span', null, title ),
		ariaLabel: title,
		content,
		edit: content,
		canMakePayment: () => true,
		supports: { features: settings.supports || [ 'products' ] },
	} );
} )();

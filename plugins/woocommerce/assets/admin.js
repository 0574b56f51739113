/** Serves the buttons of the box on an order's page, and of the connection test. */
( () => {
	const send = async ( action, nonce, fields ) => {
		const body = new URLSearchParams( { action: `florin_${ action }`, _ajax_nonce: nonce, ...fields } );
		const response = await fetch( window.ajaxurl, { method: 'POST', body } );
		const text = await response.text();
		try {
			return JSON.parse( text );
		} catch {
			return { success: false, data: `${ response.status }: ${ text.slice( 0, 200 ) }` };
		}
	};

	const press = async ( button, box ) => {
		const action = button.dataset.florinAction;
		const fields = { order: box.dataset.order };
		for ( const field of box.querySelectorAll( '[data-florin]' ) ) {
			fields[ field.dataset.florin ] = field.value.trim();
		}
		const answer = await send( action, box.dataset.nonce, fields );
		if ( ! answer.success ) {
			box.querySelector( '.florin-result' ).textContent = answer.data;
		} else if ( answer.data?.url ) {
			location.assign( answer.data.url );
		} else {
			location.reload();
		}
	};

	const wait = ( milliseconds ) => new Promise( ( done ) => setTimeout( done, milliseconds ) );

	/** A webhook of the test arrives some moments after its order was opened. */
	const test = async ( row ) => {
		const list = row.querySelector( 'ul' );
		const show = ( findings ) => {
			for ( const { is_fine: isFine, text } of findings ) {
				const line = document.createElement( 'li' );
				line.textContent = `${ isFine ? '✓' : '✗' } ${ text }`;
				list.append( line );
			}
		};
		list.replaceChildren();
		const first = await send( 'test_connection', row.dataset.nonce, {} );
		show( first.success ? first.data.findings : [ { is_fine: false, text: first.data } ] );
		if ( ! first.success || ! first.data.reference ) {
			return;
		}
		for ( const isLast of [ false, false, true ] ) {
			await wait( 3000 );
			const second = await send( 'test_webhook', row.dataset.nonce, { reference: first.data.reference } );
			if ( ! second.success || second.data.is_fine || isLast ) {
				show( [ second.success ? second.data : { is_fine: false, text: second.data } ] );
				return;
			}
		}
	};

	document.addEventListener( 'click', async ( { target } ) => {
		const button = target.closest( 'button[data-florin-action]' );
		const box = button?.closest( '.florin-box' );
		const row = button?.closest( '.florin-test' );
		if ( ! box && ! row ) {
			return;
		}
		button.disabled = true;
		await ( box ? press( button, box ) : test( row ) );
		button.disabled = false;
	} );
} )();

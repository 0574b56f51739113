<?php
/**
 * The translations: `translations.php` writes `languages/florin-for-woocommerce.pot` from the source. With `--check` it writes nothing, and
 * fails if the template is not up to date or a translation is incomplete. With a folder it writes there what WordPress reads.
 *
 * @package Florin_For_WooCommerce
 */

const DOMAIN    = 'florin-for-woocommerce';
const FUNCTIONS = array( '__', 'esc_html__', 'esc_html_e', 'esc_attr__', 'esc_attr_e' );

$plugin = dirname( __DIR__ );
$texts  = array();
foreach ( array_merge( glob( "$plugin/*.php" ), glob( "$plugin/includes/*.php" ) ) as $file ) {
	foreach ( texts_of( $file ) as list( $text, $comment ) ) {
		$texts[ $text ] = $comment ?: ( $texts[ $text ] ?? '' );
	}
}
ksort( $texts );

$wrong = array();
$to    = isset( $argv[1] ) && '--check' !== $argv[1] ? $argv[1] : null;
foreach ( glob( "$plugin/languages/*.po" ) as $file ) {
	$name         = basename( $file, '.po' );
	$translations = read_po( file_get_contents( $file ) );
	foreach ( array_keys( $texts ) as $text ) {
		$translated = $translations[ $text ] ?? '';
		if ( '' === $translated || placeholders( $translated ) !== placeholders( $text ) ) {
			$wrong[] = "$name.po lacks, or has other placeholders: $text";
		}
	}
	foreach ( array_keys( array_diff_key( $translations, $texts, array( '' => 0 ) ) ) as $text ) {
		$wrong[] = "$name.po has what the source has not: $text";
	}
	if ( null !== $to ) {
		$language = substr( $name, strlen( DOMAIN . '-' ) );
		$compiled = array( 'domain' => DOMAIN, 'language' => $language, 'messages' => array_intersect_key( $translations, $texts ) );
		file_put_contents( "$to/$name.l10n.php", '<?php return ' . var_export( $compiled, true ) . ";\n" );
	}
}
$template = "$plugin/languages/" . DOMAIN . '.pot';
if ( ! isset( $argv[1] ) ) {
	file_put_contents( $template, template( $texts ) );
} elseif ( file_get_contents( $template ) !== template( $texts ) ) {
	$wrong[] = basename( $template ) . ' is not up to date: run php plugins/woocommerce/bin/translations.php';
}
fwrite( STDERR, implode( "\n", $wrong ) . ( $wrong ? "\n" : '' ) );
exit( $wrong ? 1 : 0 );

/**
 * Returns the texts of a source file, each with the comment for translators before it.
 *
 * @param string $file The source.
 */
function texts_of( string $file ): array {
	$tokens  = array_values( array_filter( token_get_all( file_get_contents( $file ) ), static fn( $token ) => ! is_array( $token ) || T_WHITESPACE !== $token[0] ) );
	$found   = array();
	$comment = '';
	foreach ( $tokens as $i => $token ) {
		if ( is_array( $token ) && T_COMMENT === $token[0] && preg_match( '/translators: (.*?)\s*\*\//', $token[1], $match ) ) {
			$comment = $match[1];
		}
		if ( ';' === $token ) {
			$comment = '';
		}
		if ( ! is_array( $token ) || ! in_array( $token[1], FUNCTIONS, true ) || '(' !== $tokens[ $i + 1 ] ) {
			continue;
		}
		$text = $tokens[ $i + 2 ];
		if ( ! is_array( $text ) || T_CONSTANT_ENCAPSED_STRING !== $text[0] || "'" . DOMAIN . "'" !== ( $tokens[ $i + 4 ][1] ?? '' ) ) {
			fwrite( STDERR, "$file:$token[2]: a text is a constant, and its domain is '" . DOMAIN . "'\n" );
			exit( 1 );
		}
		$found[] = array( stripcslashes( substr( $text[1], 1, -1 ) ), $comment );
	}
	return $found;
}

/**
 * Returns the template.
 *
 * @param array $texts Comments by text.
 */
function template( array $texts ): string {
	$pot = "msgid \"\"\nmsgstr \"\"\n\"Project-Id-Version: Florin for WooCommerce\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"X-Domain: " . DOMAIN . "\\n\"\n";
	foreach ( $texts as $text => $comment ) {
		$pot .= "\n" . ( $comment ? "#. translators: $comment\n" : '' );
		$pot .= str_contains( $text, '%' ) ? "#, php-format\n" : '';
		$pot .= 'msgid "' . addcslashes( $text, "\"\\\n" ) . "\"\nmsgstr \"\"\n";
	}
	return $pot;
}

/**
 * Returns the translations of a `.po`, whose texts are each on one line.
 *
 * @param string $po The file.
 */
function read_po( string $po ): array {
	preg_match_all( '/^msgid "(.*)"\nmsgstr "(.*)"$/m', $po, $matches, PREG_SET_ORDER );
	$found = array();
	foreach ( $matches as $match ) {
		$found[ stripcslashes( $match[1] ) ] = stripcslashes( $match[2] );
	}
	return $found;
}

/**
 * Returns the placeholders of a text, sorted.
 *
 * @param string $text The text.
 */
function placeholders( string $text ): array {
	preg_match_all( '/%(?:\d\$)?s/', $text, $matches );
	sort( $matches[0] );
	return $matches[0];
}

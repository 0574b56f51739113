<?php
/**
 * Writes the template of the translations from the source, and what WordPress reads from the translations.
 *
 * `translations.php` writes `languages/florin-for-woocommerce.pot` and a `.l10n.php` beside each `.po`; with `--check` it writes nothing,
 * and fails if one of them is not up to date or a translation is incomplete.
 *
 * @package Florin_For_WooCommerce
 */

const DOMAIN    = 'florin-for-woocommerce';
const FUNCTIONS = array( '__', 'esc_html__', 'esc_html_e', 'esc_attr__', 'esc_attr_e' );

$plugin = dirname( __DIR__ );
$texts  = array();
foreach ( array_merge( glob( "$plugin/*.php" ), glob( "$plugin/includes/*.php" ) ) as $file ) {
	foreach ( texts_of( $file ) as list( $text, $line, $comment ) ) {
		$texts[ $text ]['places'][] = substr( $file, strlen( $plugin ) + 1 ) . ":$line";
		$texts[ $text ]['comment']  = $comment ?: ( $texts[ $text ]['comment'] ?? '' );
	}
}
ksort( $texts );

$wanted = array( "$plugin/languages/" . DOMAIN . '.pot' => template( $texts ) );
$wrong  = array();
foreach ( glob( "$plugin/languages/*.po" ) as $file ) {
	$translations = read_po( file_get_contents( $file ) );
	foreach ( array_keys( $texts ) as $text ) {
		$translated = $translations[ $text ] ?? '';
		if ( placeholders( $translated ) !== placeholders( $text ) || '' === $translated ) {
			$wrong[] = basename( $file ) . " lacks, or has other placeholders: $text";
		}
	}
	foreach ( array_diff_key( $translations, $texts, array( '' => 0 ) ) as $text => $translated ) {
		$wrong[] = basename( $file ) . " has what the source has not: $text";
	}
	$wanted[ preg_replace( '/\.po$/', '.l10n.php', $file ) ] = compiled( array_intersect_key( $translations, $texts ), basename( $file ) );
}
foreach ( $wanted as $file => $text ) {
	if ( in_array( '--check', $argv, true ) ) {
		if ( ! is_file( $file ) || file_get_contents( $file ) !== $text ) {
			$wrong[] = basename( $file ) . ' is not up to date: run php plugins/woocommerce/bin/translations.php';
		}
	} else {
		file_put_contents( $file, $text );
	}
}
fwrite( STDERR, implode( "\n", $wrong ) . ( $wrong ? "\n" : '' ) );
exit( $wrong ? 1 : 0 );

/**
 * Returns the texts of a source file, each with its line and the comment for translators before it.
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
		$found[] = array( stripcslashes( substr( $text[1], 1, -1 ) ), $token[2], $comment );
	}
	return $found;
}

/**
 * Returns the template.
 *
 * @param array $texts Places and comments, by text.
 */
function template( array $texts ): string {
	$pot = "msgid \"\"\nmsgstr \"\"\n\"Project-Id-Version: Florin for WooCommerce\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"X-Domain: " . DOMAIN . "\\n\"\n";
	foreach ( $texts as $text => $about ) {
		$pot .= "\n" . ( $about['comment'] ? "#. translators: $about[comment]\n" : '' );
		$pot .= '#: ' . implode( ' ', preg_replace( '/:\d+$/', '', array_unique( $about['places'] ) ) ) . "\n";
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

/**
 * Returns the file that WordPress reads.
 *
 * @param array  $translations Translations by text.
 * @param string $name         The name of the `.po`.
 */
function compiled( array $translations, string $name ): string {
	ksort( $translations );
	$language = preg_replace( '/^' . DOMAIN . '-(.*)\.po$/', '$1', $name );
	$file     = array(
		'domain'   => DOMAIN,
		'language' => $language,
		'messages' => $translations,
	);
	return "<?php\nreturn " . var_export( $file, true ) . ";\n";
}

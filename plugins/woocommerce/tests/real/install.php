<?php
/**
 * Installs WordPress with WooCommerce and the plugin: install.php SITE
 *
 * @package Florin_For_WooCommerce
 */

$site = $argv[1];
$url  = 'http://127.0.0.1:' . getenv( 'SHOP_PORT' );
$db   = mysqli_init();
$db->real_connect( null, 'root', '', null, 0, getenv( 'DB_SOCKET' ) );
$db->query( 'CREATE DATABASE shop CHARACTER SET utf8mb4' );

$constants = array(
	'DB_NAME'             => 'shop',
	'DB_USER'             => 'root',
	'DB_PASSWORD'         => '',
	'DB_HOST'             => 'localhost:' . getenv( 'DB_SOCKET' ),
	'DB_CHARSET'          => 'utf8mb4',
	'DB_COLLATE'          => '',
	'WP_HOME'             => $url,
	'WP_SITEURL'          => $url,
	'WP_DEBUG'            => true,
	'WP_DEBUG_LOG'        => true,
	'WP_DEBUG_DISPLAY'    => false,
	'DISABLE_WP_CRON'     => true,
	'WP_ENVIRONMENT_TYPE' => 'production',
	'WP_HTTP_BLOCK_EXTERNAL' => true,
	'WP_ACCESSIBLE_HOSTS' => '127.0.0.1',
);
$text = "<?php\n";
foreach ( $constants as $name => $value ) {
	$text .= sprintf( "define( %s, %s );\n", var_export( $name, true ), var_export( $value, true ) );
}
$text .= "\$table_prefix = 'wp_';\ndefined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );\nrequire_once ABSPATH . 'wp-settings.php';\n";
file_put_contents( "$site/wp-config.php", $text );

// The tests run the repeated work themselves, and send no mail.
mkdir( "$site/wp-content/mu-plugins" );
file_put_contents( "$site/wp-content/mu-plugins/quiet.php", "<?php\nadd_filter( 'action_scheduler_allow_async_request_runner', '__return_false' );\nadd_filter( 'pre_wp_mail', '__return_true' );\n" );

define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = '127.0.0.1:' . getenv( 'SHOP_PORT' );
require "$site/wp-load.php";
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'Shop', 'admin', 'admin@shop.example', false, '', 'password' );
update_option( 'permalink_structure', '/%postname%/' );

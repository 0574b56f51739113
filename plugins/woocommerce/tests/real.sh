#!/bin/sh
# Plays sales against a real WordPress and WooCommerce: real.sh WORDPRESS WOOCOMMERCE
#
# WORDPRESS is the folder with wp-load.php, WOOCOMMERCE the one with woocommerce.php; both are copied. It needs PHP with mysqli and curl,
# mariadbd, and florin-proxy and florin-sandbox on PATH or in BIN. HPOS=no stores orders as posts. KEEP=yes leaves the shop
# running until Enter is pressed.
set -eu
[ $# = 2 ] || { sed -n '2s/^# //p' "$0"; exit 2; }
tests=$(cd "$(dirname "$0")" && pwd)
wordpress=$(cd "$1" && pwd) woocommerce=$(cd "$2" && pwd)
bin=${BIN:-$(dirname "$(command -v florin-proxy)")}
base=${PORT_BASE:-18400}
export SHOP_PORT=$base PROXY_PORT=$((base + 1)) SANDBOX_PORT=$((base + 2)) ADMIN_PORT=$((base + 3))
export FOLDER=$(mktemp -d)
pids= shop=0
finish() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    # Its workers survive it.
    kill -- "-$shop" 2>/dev/null || true
    wait
    rm -rf "$FOLDER"
}
trap finish EXIT
trap 'exit 1' INT TERM

site=$FOLDER/site
cp -rL "$wordpress" "$site"
rm -f "$site/wp-config.php"
mkdir -p "$site/wp-content/uploads"
rm -rf "$site/wp-content/mu-plugins" "$site/wp-content/plugins/woocommerce" "$site/wp-content/plugins/florin-for-woocommerce"
cp -r "$woocommerce" "$site/wp-content/plugins/woocommerce"
# The shop gets what is shipped.
"$tests/../bin/build.sh" "$FOLDER" >/dev/null
php -r '( new PharData( $argv[1] ) )->extractTo( $argv[2] );' "$FOLDER/florin-for-woocommerce.zip" "$site/wp-content/plugins"

export DB_SOCKET=$FOLDER/db.sock
mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$FOLDER/db" --auth-root-authentication-method=normal >"$FOLDER/db.log" 2>&1
mariadbd --no-defaults --user="$(id -un)" --datadir="$FOLDER/db" --socket="$DB_SOCKET" --pid-file="$FOLDER/db.pid" --skip-networking >>"$FOLDER/db.log" 2>&1 &
pids="$pids $!"
for _ in $(seq 100); do [ -S "$DB_SOCKET" ] && break; sleep 0.1; done

php "$tests/real/install.php" "$site"
cd "$site"
PHP_CLI_SERVER_WORKERS=4 setsid php -d opcache.revalidate_freq=0 -S "127.0.0.1:$SHOP_PORT" "$tests/real/router.php" >"$FOLDER/shop.log" 2>&1 &
shop=$!
cd "$FOLDER"
"$bin/florin-sandbox" --listen "127.0.0.1:$SANDBOX_PORT" --callback-url "http://127.0.0.1:$PROXY_PORT/callbacks/a-callback-token-for-the-tests-only" >sandbox.log 2>&1 &
pids="$pids $!"
for _ in $(seq 100); do grep -q secret sandbox.log && break; sleep 0.1; done
php "$tests/real/configure.php" >florin.toml
chmod 600 florin.toml
"$bin/florin-proxy" --config florin.toml >proxy.log 2>&1 &
pids="$pids $!"
for _ in $(seq 100); do grep -qi listening proxy.log && break; sleep 0.1; done

status=0
php "$tests/real/play.php" "$site" || status=$?
if [ $status != 0 ]; then
    tail -n 20 proxy.log shop.log "$site/wp-content/debug.log" 2>/dev/null || true
fi
if [ "${KEEP:-no}" = yes ]; then
    echo "http://127.0.0.1:$SHOP_PORT/wp-admin/ (admin, password), http://127.0.0.1:$SANDBOX_PORT/sandbox"
    read -r _
fi
exit $status

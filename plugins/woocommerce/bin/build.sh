#!/bin/sh
# Writes florin-for-woocommerce.zip, with the library of packages/php inside: build.sh [FOLDER]
set -eu
plugin=$(cd "$(dirname "$0")/.." && pwd)
to=$(mkdir -p "${1:-$plugin/dist}" && cd "${1:-$plugin/dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$work/florin-for-woocommerce
mkdir -p "$package/lib/florin"
cd "$plugin"
cp -r florin-for-woocommerce.php uninstall.php readme.txt LICENSE assets includes languages "$package"
php bin/translations.php "$package/languages"
library=$plugin/../../packages/php
cp -r "$library/autoload.php" "$library/src" "$library/LICENSE-MIT" "$package/lib/florin"
cd "$work"
rm -f "$to/florin-for-woocommerce.zip"
php -r '( new PharData( $argv[1] ) )->buildFromDirectory( $argv[2] );' "$to/florin-for-woocommerce.zip" "$work"
echo "$to/florin-for-woocommerce.zip"

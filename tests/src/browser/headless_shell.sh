#!/bin/sh
# Starts Chromium's headless shell with a first page. Debian's command for it keeps running beside the browser as a shell: a driver
# that ends its child would leave the browser.
browser=/usr/lib/chromium/chromium-headless-shell
[ -x "$browser" ] || browser=chromium-headless-shell
exec "$browser" "$@" about:blank

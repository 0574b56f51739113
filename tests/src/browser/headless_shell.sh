#!/bin/sh
# Starts Chromium without a window, with a first page.
exec chromium-headless-shell "$@" about:blank

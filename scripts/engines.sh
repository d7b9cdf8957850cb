#!/bin/sh
# Adds the two other browsers that `make test-long` opens the book in: Firefox, and WebKitGTK with a screen that nobody
# sees. `make test` needs neither. Nothing happens where both are there; a second run costs nothing.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }
have_firefox() { have firefox-esr || have firefox; }
have_webkit() { have WebKitWebDriver && have Xvfb; }

missing=""
have_firefox || missing="firefox-esr"
have_webkit || missing="$missing webkit2gtk-driver xvfb"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && have apt-get; then
  export DEBIAN_FRONTEND=noninteractive
  echo "Installing the system packages" $missing "for the tests in other browsers."
  apt-get install -y --no-install-recommends $missing \
    || { apt-get update && apt-get install -y --no-install-recommends $missing; } \
    || echo "apt-get could not install them."
fi
have_firefox || echo "Note: Firefox is not installed, so the tests that open the book in it are skipped." \
  "To add it: 'apt install firefox-esr' (Debian) as root."
have_webkit || echo "Note: WebKitGTK cannot be driven here, so the tests that open the book in it are skipped." \
  "To add it: 'apt install webkit2gtk-driver xvfb' (Debian, Ubuntu) as root."

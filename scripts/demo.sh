#!/bin/sh
# Serves the RFC names from a temporary store, or from DATA=DIR, which is kept.
set -eu
data=${DATA:-}
if [ -z "$data" ]; then
	data=$(mktemp -d "${TMPDIR:-/tmp}/nomen-demo.XXXXXX")
	trap 'rm -rf "$data"' EXIT
fi
trap : INT TERM # the server ends by itself; then the store is removed
bin/nomen serve --demo --data "$data" --listen "${LISTEN:-127.0.0.1:4500}" --admin "${ADMIN:-127.0.0.1:4501}"

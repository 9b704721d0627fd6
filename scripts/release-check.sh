#!/bin/sh
# Builds the release of the commit twice and compares every file: in two directories, with
# different umasks, time zones and languages. Uncommitted changes are not part of it.
set -eu
commit=$(git rev-parse HEAD)
version=$(git describe --tags --always "$commit")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
dir=$(mktemp -d "${TMPDIR:-/tmp}/nomen-release-check.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# build DIRECTORY UMASK TZ LANG
build() {
	git clone -q --shared --no-checkout . "$1"
	git -C "$1" checkout -q --detach "$commit"
	(cd "$1" && umask "$2" && TZ=$3 LANG=$4 go run ./scripts/release -dist "$dir/dist-$2" -version "$version" -key none)
}
build "$dir/one" 022 UTC C.UTF-8
build "$dir/a longer name/two" 077 Asia/Kolkata de_DE.UTF-8
diff -r "$dir/dist-022" "$dir/dist-077"
cat "$dir"/dist-022/*/SHA256SUMS
echo 'release-check: both builds have the same files'

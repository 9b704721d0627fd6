#!/bin/sh
# fuzz.sh TIME [PACKAGE...]: runs every fuzz target for TIME, one after the other.
set -eu
time=${1:-60s}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- ./...

go list -f '{{.ImportPath}} {{.Dir}}' "$@" | while read -r package dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null | sed 's/^func //' | sort -u | while read -r target; do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5s "$package" </dev/null || exit 1
	done || exit 1
done

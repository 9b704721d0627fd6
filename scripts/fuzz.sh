#!/bin/sh
# fuzz.sh TIME [PACKAGE...]: runs every fuzz target for TIME, one after the other, and
# goes on after a finding. At the end it lists the findings; the status is 1 if there
# are any. What a target found stands under testdata/fuzz of its package.
set -eu
time=${1:-60s}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- ./...

out=$(mktemp "${TMPDIR:-/tmp}/nomen-fuzz.XXXXXX")
trap 'rm -f "$out" "$out".*' EXIT
: >"$out.findings"
go list -f '{{.ImportPath}} {{.Dir}}' "$@" >"$out.packages"
while read -r package dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null | sed 's/^func //' | sort -u >"$out.targets" || :
	while read -r target; do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5s "$package" </dev/null >"$out" 2>&1 && failed= || failed=yes
		tail -n 40 "$out"
		[ -n "$failed" ] || continue
		# When the time ends while a worker is busy, go test reports "context deadline
		# exceeded" as a failure (go.dev/issue/75804); that is no finding.
		if grep -q 'context deadline exceeded' "$out" && ! grep -q 'Failing input written to' "$out"; then
			echo "(the time ended: no finding)"
		else
			echo "$package $target" >>"$out.findings"
		fi
	done <"$out.targets"
done <"$out.packages"
if [ -s "$out.findings" ]; then
	echo "findings:"
	cat "$out.findings"
	exit 1
fi

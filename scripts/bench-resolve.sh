#!/bin/sh
# Resolves a list of the RFC names, NAMES of them, by a server on the same machine:
# names a second, and the processor time that client and server take for a name,
# which depends less on what else the machine does. Needs Linux and /usr/bin/time.
#
#   ROUNDS=3 NAMES=72000 scripts/bench-resolve.sh
set -eu
rounds=${ROUNDS:-3} names=${NAMES:-72000} port=${PORT:-4596}
nomen=$PWD/bin/nomen
dir=$(mktemp -d "${TMPDIR:-/tmp}/nomen-bench.XXXXXX")
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || :
	wait 2>/dev/null || :
	rm -rf "$dir"
}
trap finish EXIT

[ -x /usr/bin/time ] || { echo 'bench-resolve: /usr/bin/time is needed' >&2; exit 3; }
CGO_ENABLED=0 go build -trimpath -o "$nomen" ./cmd/nomen
"$nomen" serve --demo --data "$dir/data" --listen 127.0.0.1:"$port" --admin 127.0.0.1:$((port + 1)) --no-access-log 2>"$dir/log" & server=$!
seq "$names" | awk '{print "urn:ietf:rfc:" ($1 % 9000 + 1)}' >"$dir/names"
i=0
until grep -q 'public listener' "$dir/log"; do i=$((i + 1)); [ $i -lt 600 ] || { cat "$dir/log" >&2; exit 3; }; sleep 0.1; done

ticks() { awk '{print $14 + $15}' "/proc/$server/stat"; } # of processor time
while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	before=$(ticks)
	# Some numbers were never given, by which the status is 1.
	{ /usr/bin/time -p "$nomen" resolve --json --via "http://127.0.0.1:$port/" --service I2L - <"$dir/names" >"$dir/out" 2>"$dir/time"; } || [ $? = 1 ]
	[ "$(wc -l <"$dir/out")" = "$names" ]
	awk -v n="$names" -v ticks="$(($(ticks) - before))" -v hz="$(getconf CLK_TCK)" '
		/^real/ { real = $2 } /^user/ { cpu += $2 } /^sys/ { cpu += $2 }
		END { printf "%d names: %.0f a second, processor time a name: client %.1f us, server %.1f us\n", n, n / real, cpu * 1e6 / n, ticks / hz * 1e6 / n }' "$dir/time"
done

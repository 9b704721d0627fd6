#!/bin/sh
# Compares what nginx answers from a map of 100,000 names with what nomen answers
# from a store with the same names and, with CONTENTS=FILE, from one with N names
# (9,200,000 unless N says otherwise): requests a second, median and 99th percentile,
# all of one run, by turns, over loopback. Needs wrk and nginx. MEMORY is how many MiB
# nomen may take, where it does not choose itself.
#
#   ROUNDS=3 SECONDS_EACH=10 CONNECTIONS=64 CONTENTS=contents.tsv scripts/bench-serve.sh
set -eu
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-10} connections=${CONNECTIONS:-64} n=${N:-9200000}
nomen=$PWD/bin/nomen
dir=${DIR:-$(mktemp -d "${TMPDIR:-/tmp}/nomen-bench.XXXXXX")}
mkdir -p "$dir"
pids=
finish() {
	for p in $pids; do kill "$p" 2>/dev/null || :; done
	wait 2>/dev/null || :
	[ -n "${DIR:-}" ] || rm -rf "$dir"
}
trap finish EXIT

for tool in wrk nginx; do
	command -v $tool >/dev/null || { echo "bench-serve: $tool is needed" >&2; exit 3; }
done
CGO_ENABLED=0 go build -trimpath -o "$nomen" ./cmd/nomen
go build -o "$dir/gen" ./bulk/bulktest/gen

# fill NAME N: a store with N names, and the targets of up to 100,000 of them.
fill() {
	[ -d "$dir/$1" ] && return
	args="-n $2"
	[ -z "${CONTENTS:-}" ] || args="$args -contents $CONTENTS"
	"$dir/gen" $args -authorities | while read -r prefix; do
		"$nomen" authority put "$prefix" --data "$dir/$1.tmp" --json >/dev/null 2>&1
	done
	"$dir/gen" $args | "$nomen" import - --data "$dir/$1.tmp" >&2
	"$dir/gen" $args | awk -v every="$(($2 / 100000))" 'NR % every == 0' |
		sed -n 's/^{"name":"\([^"\\]*\)".*/\/\1/p' >"$dir/$1.targets"
	mv "$dir/$1.tmp" "$dir/$1"
}

fill small 100000
sets=small
if [ -n "${CONTENTS:-}" ]; then
	fill large "$n"
	sets="small large"
fi

# nginx with a map of the same names
"$nomen" export --format nginx-map --data "$dir/small" --output "$dir/names.map" 2>/dev/null || :
cat >"$dir/nginx.conf" <<END
daemon off; worker_processes auto; pid $dir/nginx.pid; error_log $dir/error.log;
events { worker_connections 1024; }
http {
	access_log off; keepalive_requests 1000000000; map_hash_max_size 1048576; map_hash_bucket_size 4096;
	map \$uri \$target { include $dir/names.map; }
	server {
		listen 127.0.0.1:4590;
		location / { if (\$target = "") { return 404; } return 303 \$target; }
	}
}
END
nginx -p "$dir" -c "$dir/nginx.conf" & pids="$pids $!"
port=4591
for s in $sets; do
	"$nomen" serve --data "$dir/$s" --listen 127.0.0.1:$port --admin 127.0.0.1:$((port + 100)) --no-access-log ${MEMORY:+--memory "$MEMORY"} 2>"$dir/$s.log" & pids="$pids $!"
	port=$((port + 1))
done

cat >"$dir/ask.lua" <<'END'
local targets = {}
function init(args)
	for line in io.lines(args[1]) do targets[#targets + 1] = line end
	math.randomseed(tonumber(args[2]))
end
function request() return wrk.format("GET", targets[math.random(#targets)]) end
END

wait_for() { tries=0; until curl -s -o /dev/null "http://127.0.0.1:$1/"; do tries=$((tries + 1)); [ $tries -lt 600 ] || exit 3; sleep 0.1; done; }
ask() { # NAME PORT TARGETS
	wait_for "$2"
	head -100 "$dir/$3.targets" | while read -r t; do
		[ "$(curl -s -o /dev/null -w '%{http_code}' --path-as-is "http://127.0.0.1:$2$t")" = 303 ] || echo "bench-serve: $1: $t is no redirect" >&2
	done
	wrk -t1 -c"$connections" -d"${4}s" --latency -s "$dir/ask.lua" "http://127.0.0.1:$2" -- "$dir/$3.targets" "$5" |
		awk -v who="$1" '/50%/{a=$2} /99%/{b=$2} /Requests\/sec/{r=$2} /Non-2xx/{e=" other statuses: "$0} END{printf "%-28s %10s requests/s  p50 %8s  p99 %8s%s\n", who, r, a, b, e}'
}
for who in "nginx 4590 small" "small 4591 small" ${CONTENTS:+"large 4592 large"}; do
	set -- $who
	ask "(warming) $1" "$2" "$3" 2 1 >/dev/null
done
i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	ask "nginx, map of 100,000" 4590 small "$seconds" $i
	ask "nomen, 100,000 on disk" 4591 small "$seconds" $i
	[ -z "${CONTENTS:-}" ] || ask "nomen, $n on disk" 4592 large "$seconds" $i
done

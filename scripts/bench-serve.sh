#!/bin/sh
# Compares how fast nomen, nginx, Apache httpd and net/http redirect, over loopback.
#
#   scripts/bench-serve.sh
#   ROUNDS=3 SECONDS_EACH=3 LOADS="hot close" SERVERS="nginx-same nomen" scripts/bench-serve.sh
#   DIR=/var/tmp/b N=9200000 CONTENTS=contents.tsv scripts/bench-serve.sh
#   BEFORE=/tmp/nomen-before SERVERS="nomen before" scripts/bench-serve.sh
#
# The server has core 0 and wrk core 1. The servers take turns in each of ROUNDS rounds
# (5) of SECONDS_EACH seconds (10). For each load the summary has the middle of the
# rounds: requests a second, processor time a request in microseconds, both percentiles,
# and how many times as many requests as nginx-same the server answers: a second, and in
# the same processor time. On a machine that does other work, only the latter is reliable.
#
# The servers (SERVERS):
#   nginx       a map of 100,000 names in memory; its own short answers
#   nginx-same  the same with the header fields of nomen but one, and as many bytes an answer
#   apache      a dbm map of the same names
#   nethttp     a map of Go with net/http
#   nomen       a store with the same names
#   large       a store with N names (9,200,000; 0 leaves it out)
#   nginx-large like nginx-same, with a map of the N names; large is compared with it, if it is there
#   before      like nomen, with the program BEFORE
# The loads (LOADS), over 64 connections:
#   hot         5,000 names      many  the same over 256 connections
#   close       the same, one request a connection
#   pipelined   the same, 16 requests at once
#   uniform     all names of the server, at random
#   zipf        all names of the server, the r-th in proportion to 1/r
#   tls         like hot, over TLS; for nginx-same and nomen
#   h2          like hot, over HTTP/2: 16 connections, 16 requests at once each; for nginx-same
#               and nomen. h2load asks, and prints means and longest times, not percentiles
#
# The requests to large begin when it is at rest: its search index is built, and it uses less than
# a tenth of its processor. WARM is how many seconds of each of the loads zipf and uniform it gets
# before the first round (2), so that its cache of answers fills. Their lists have half as many
# targets as the store has names, but at least 500,000; wrk repeats a list that has ended.
#
# CONTENTS is a list of the files in a Linux distribution, from which the names of large
# are taken. DIR keeps the stores for the next run. MEMORY is how many MiB
# nomen may take, where it does not choose itself. The last lines of the output say how much
# memory each server took. wrk, nginx, apache2 and taskset are needed, and
# openssl and h2load (of Debian's nghttp2-client) for the loads tls and h2.
set -eu
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-10} n=${N:-9200000} warm=${WARM:-2}
servers=${SERVERS:-nginx nginx-same apache nethttp nomen large nginx-large ${BEFORE:+before}}
loads=${LOADS:-hot many close pipelined uniform zipf tls h2}
case " $servers " in *" large "*) ;; *) n=0 ;; esac
nomen=$PWD/bin/nomen
dir=${DIR:-$(mktemp -d "${TMPDIR:-/tmp}/nomen-bench.XXXXXX")}
mkdir -p "$dir"
finish() {
	for f in "$dir"/*.pid; do [ ! -e "$f" ] || kill "$(cat "$f")" 2>/dev/null || :; done
	wait 2>/dev/null || :
	[ -n "${DIR:-}" ] || rm -rf "$dir"
}
trap finish EXIT
rm -f "$dir"/*.pid

for tool in wrk nginx apache2 httxt2dbm taskset curl openssl $(case " $loads " in *" h2 "*) echo h2load ;; esac); do
	command -v $tool >/dev/null || { echo "bench-serve: $tool is needed" >&2; exit 3; }
done
[ "$(nproc)" -ge 2 ] || { echo "bench-serve: two cores are needed" >&2; exit 3; }
CGO_ENABLED=0 go build -trimpath -o "$nomen" ./cmd/nomen
go build -o "$dir/gen" ./bulk/bulktest/gen
go build -o "$dir/mapserver" ./bulk/bulktest/mapserver

# fill NAME N: a store with N names, and lists of targets as the loads use them.
fill() {
	[ -e "$dir/$1.zipf" ] && return
	args="-n $2"
	[ "$1" = small ] || [ -z "${CONTENTS:-}" ] || args="$args -contents $CONTENTS"
	rm -rf "$dir/$1.tmp"
	"$dir/gen" $args -authorities | while read -r prefix; do
		"$nomen" authority put "$prefix" --data "$dir/$1.tmp" --json >/dev/null 2>&1
	done
	"$dir/gen" $args | "$nomen" import - --data "$dir/$1.tmp" >&2
	rm -rf "$dir/$1" && mv "$dir/$1.tmp" "$dir/$1"
	pick "$1" hot 5000 5000 'int(rand() * n)' "$args"
	samples=$(($2 / 2 < 500000 ? 500000 : $2 / 2))
	pick "$1" uniform "$2" $samples 'int(rand() * n)' "$args"
	pick "$1" zipf "$2" $samples 'int(exp(rand() * log(n + 1))) * 1000003' "$args"
}

# pick NAME LOAD N COUNT RANK ARGS: a list of COUNT targets among N names.
pick() {
	awk -v n="$3" -v count="$4" "BEGIN { srand(1); for (i = 0; i < count; i++) print ($5) % n + 1 }" >"$dir/ranks"
	"$dir/gen" $6 | head -n "$3" | sed 's/^{"name":"\([^"]*\)".*/\1/' | awk '
		NR == FNR { order[NR] = $1; wanted[$1]; last = NR; next }
		FNR in wanted { names[FNR] = $0 }
		END { for (i = 1; i <= last; i++) if (names[order[i]] !~ /[\\%]/) print "/" names[order[i]] }' "$dir/ranks" - >"$dir/$1.$2"
}

fill small 100000
[ "$n" = 0 ] || fill large "$n"

# run NAME COMMAND...: starts a server on core 0.
run() {
	name=$1
	shift
	taskset -c 0 "$@" 2>"$dir/$name.log" &
	echo $! >"$dir/$name.pid"
}

# serve NAME PORT STORE PROGRAM: starts a server of names, also with TLS at PORT + 200.
serve() {
	cat >"$dir/$1.toml" <<-EOF
		[[listen]]
		address = "127.0.0.1:$2"
		[[listen]]
		address = "127.0.0.1:$(($2 + 200))"
		tls = "files"
		cert = "$dir/cert.pem"
		key = "$dir/key.pem"
	EOF
	run "$1" "$4" serve --config "$dir/$1.toml" --data "$dir/$3" --admin 127.0.0.1:$(($2 + 100)) --no-access-log ${MEMORY:+--memory "$MEMORY"}
	wait_for "$2"
}

wait_for() { tries=0; until curl -s -o /dev/null "http://127.0.0.1:$1/"; do tries=$((tries + 1)); [ $tries -lt 6000 ] || { cat "$dir"/*.log >&2; exit 3; }; sleep 0.1; done; }

# at_rest NAME PORT: waits until a server of names is at rest. It compacts its names when nothing was
# written for a minute.
at_rest() {
	sleep 65
	until curl -s "http://127.0.0.1:$(($2 + 100))/-/metrics" | grep -q '^nomen_search_built 1' && was=$(ticks "$1") && sleep 5 && [ $(($(ticks "$1") - was)) -lt 50 ]; do sleep 1; done
}

# ticks SERVER: the processor time of a server and its children, in 1/100 s.
ticks() {
	top=$(cat "$dir/$1.pid")
	for p in $top $(cat "/proc/$top/task/$top/children"); do cat "/proc/$p/stat"; done | awk '{ t += $14 + $15 } END { print t }'
}

# size PORT TARGET: the bytes of an answer.
size() { curl -si --path-as-is "http://127.0.0.1:$1$2" | wc -c; }

# nginx_conf PAD [large]: the configuration, of nginx-large if so. Because the body of nginx is
# longer, a field of nomen is left out, and another one is as long as PAD.
nginx_conf() {
	map=names same_port=4591 size=1048576
	[ -z "${2:-}" ] || map=large same_port=4599 size=4194304
	same=$(curl -si --path-as-is "http://127.0.0.1:4594$sample" | tr -d '\r' | awk -v target="$sample" -v to="$location" '
		function put(s, what, by,   i, out) { while (i = index(s, what)) { out = out substr(s, 1, i - 1) by; s = substr(s, i + length(what)) } return out s }
		/^$/ { exit }
		NR > 1 && !/^(Date|Content-Type|Content-Length|Location|Connection|Access-Control-Expose-Headers):/ { i = index($0, ": "); print "add_header " substr($0, 1, i - 1) " '"'"'" put(put(substr($0, i + 2), to, "$target"), target, "$request_uri") "'"'"';" }')
	cat <<-EOF
		daemon off; worker_processes 1; pid $dir/nginx.main.$same_port; error_log $dir/nginx.error;
		events { worker_connections 1024; }
		http {
			access_log off; server_tokens off; keepalive_requests 1000000000; map_hash_max_size $size; map_hash_bucket_size 4096;
			geo \$nomen_dollar { default "\$"; }
			map \$request_uri \$target { include $dir/$map.map; }
			server { listen 127.0.0.1:$((same_port - 1)); location / { if (\$target = "") { return 404; } return 303 \$target; } }
			server {
				listen 127.0.0.1:$same_port;
				listen 127.0.0.1:$((same_port + 200)) ssl http2;
				ssl_certificate $dir/cert.pem;
				ssl_certificate_key $dir/key.pem;
				$same
				${1:+add_header X-Pad $1;}
				location / { if (\$target = "") { return 404; } return 303 \$target; }
			}
		}
	EOF
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 30 -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
serve nomen 4594 small "$nomen"
sample=$(head -1 "$dir/small.hot")
location=$(curl -s --path-as-is -o /dev/null -w '%{redirect_url}' "http://127.0.0.1:4594$sample")
curl -s -o /dev/null "http://127.0.0.1:4594/"
if [ ! -e "$dir/names.dbm.pag" ]; then
	kill "$(cat "$dir/nomen.pid")" && wait "$(cat "$dir/nomen.pid")" 2>/dev/null || :
	rm -f "$dir/names.map" "$dir/names.txt"
	"$nomen" export --format nginx-map --data "$dir/small" --output "$dir/names.map" 2>/dev/null
	"$nomen" export --format apache-map --data "$dir/small" --output "$dir/names.txt" 2>/dev/null
	httxt2dbm -f SDBM -i "$dir/names.txt" -o "$dir/names.dbm" >/dev/null
	chmod 755 "$dir" && chmod 644 "$dir"/names.*
	rm -rf "$dir/again" && cp -r "$dir/small" "$dir/again"
	serve nomen 4594 small "$nomen"
fi
[ "$n" = 0 ] || serve large 4595 large "$nomen"
[ -z "${BEFORE:-}" ] || serve before 4596 again "$BEFORE"

nginx_conf "" >"$dir/nginx.conf"
run nginx nginx -p "$dir" -c "$dir/nginx.conf"
wait_for 4591
pad=$(($(size 4594 "$sample") - $(size 4591 "$sample") - 9))
if [ $pad -gt 0 ]; then
	nginx_conf "$(printf '%0*d' $pad 0)" >"$dir/nginx.conf"
	kill -HUP "$(cat "$dir/nginx.pid")" && sleep 1
fi
cp "$dir/nginx.pid" "$dir/nginx-same.pid"
case " $servers " in *" nginx-large "*)
	if [ ! -e "$dir/large.map" ]; then
		kill "$(cat "$dir/large.pid")" && wait "$(cat "$dir/large.pid")" 2>/dev/null || :
		"$nomen" export --format nginx-map --data "$dir/large" --output "$dir/large.map" 2>/dev/null
		chmod 644 "$dir/large.map"
		serve large 4595 large "$nomen"
	fi
	nginx_conf "$(printf '%0*d' $((pad > 0 ? pad : 1)) 0)" large >"$dir/nginx-large.conf"
	run nginx-large nginx -p "$dir" -c "$dir/nginx-large.conf"
	wait_for 4599
	;;
esac
echo "bytes of an answer: nomen $(size 4594 "$sample"), nginx-same $(size 4591 "$sample"), nginx $(size 4590 "$sample")"

modules=$(apache2 -V 2>/dev/null | sed -n 's/.*HTTPD_ROOT="\(.*\)"/\1/p' | head -1)
for m in /usr/lib/apache2/modules /usr/lib64/httpd/modules "$modules/modules"; do [ ! -e "$m/mod_rewrite.so" ] || modules=$m; done
cat >"$dir/apache.conf" <<EOF
ServerRoot $dir
ServerName localhost
PidFile $dir/apache.main
Listen 127.0.0.1:4592
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule rewrite_module $modules/mod_rewrite.so
ServerLimit 1
StartServers 1
ThreadLimit 400
ThreadsPerChild 400
MaxRequestWorkers 400
MaxKeepAliveRequests 0
ErrorLog $dir/apache.error
AllowEncodedSlashes NoDecode
RewriteEngine On
RewriteMap nomen dbm=sdbm:$dir/names.dbm
RewriteCond %{THE_REQUEST} "^[A-Z]+ (/[^ ?]+)"
RewriteCond \${nomen:%1} (.+)
RewriteRule ^ %1 [R=303,NE,L]
EOF
case " $servers " in *" apache "*) run apache apache2 -d "$dir" -f "$dir/apache.conf" -D FOREGROUND && wait_for 4592 ;; esac
run nethttp "$dir/mapserver" 127.0.0.1:4593 "$dir/names.txt"
wait_for 4593

cat >"$dir/ask.lua" <<'EOF'
-- Finished requests of more than a million targets would not fit into the memory of wrk.
local targets, next, depth, tail = {}, 1, 1, nil
local function whole(i) return targets[i] end
function init(args)
	local fields = {}
	if args[2] == "close" then fields["Connection"] = "close" end
	if args[2] == "pipelined" then depth = 16 end
	for line in io.lines(args[1]) do targets[#targets + 1] = line end
	tail = wrk.format("GET", "/", fields):sub(6)
	if #targets > 1000000 then whole = function(i) return "GET " .. targets[i] .. tail end end
	for i = 1, #targets do if #targets <= 1000000 then targets[i] = "GET " .. targets[i] .. tail end end
	math.randomseed(tonumber(args[3]))
	next = math.random(#targets)
end
function request()
	if depth == 1 then
		next = next % #targets + 1
		return whole(next)
	end
	local all = {}
	for i = 1, depth do
		next = next % #targets + 1
		all[i] = whole(next)
	end
	return table.concat(all)
end
EOF

# set_of SERVER: the names of a server.
set_of() { case $1 in *large) echo large ;; *) echo small ;; esac; }

# ask LOAD SERVER ROUND SECONDS: prints load, server, requests/s, microseconds a request, p50 and p99 in ms.
ask() {
	connections=64 list=$1 scheme=http
	case $1 in many) connections=256 list=hot ;; close | pipelined | h2) list=hot ;; tls) list=hot scheme=https ;; esac
	case $1,$2 in tls,nginx-same | tls,nomen | tls,before | h2,nginx-same | h2,nomen | h2,before) ;; tls,* | h2,*) return ;; esac
	case $2 in nginx) port=4590 ;; nginx-same) port=4591 ;; apache) port=4592 ;; nethttp) port=4593 ;; nomen) port=4594 ;; large) port=4595 ;; before) port=4596 ;; nginx-large) port=4599 ;; esac
	set=$(set_of "$2")
	[ $scheme = http ] || port=$((port + 200))
	before=$(ticks "$2")
	if [ "$1" = h2 ]; then
		ask_h2 "$2" "$(($port + 200))" "$4"
		return
	fi
	taskset -c 1 wrk -t1 -c$connections -d"$4s" --latency -s "$dir/ask.lua" "$scheme://127.0.0.1:$port" -- "$dir/$set.$list" "$1" "$3" >"$dir/wrk.out"
	awk -v load="$1" -v who="$2" -v used=$(($(ticks "$2") - before)) '
		function ms(v) { return v ~ /us$/ ? v / 1000 : v ~ /ms$/ ? v + 0 : v * 1000 }
		/^ +50%/ { a = ms($2) } /^ +99%/ { b = ms($2) } /requests in/ { all = $1 } /Requests\/sec/ { r = $2 } /Non-2xx|Socket errors/ { e = e "  " $0 }
		END { if (all == 0) all = 1; printf "%-10s %-11s %8.0f %7.1f %8.2f %8.2f%s\n", load, who, r, used * 10000 / all, a, b, e }' "$dir/wrk.out"
}

# ask_h2 SERVER PORT SECONDS: like ask, over HTTP/2.
ask_h2() {
	taskset -c 1 h2load -t1 -c16 -m16 -D"$3" -i "$dir/small.hot" -B "https://127.0.0.1:$2" >"$dir/h2.out" 2>&1
	awk -v who="$1" -v used=$(($(ticks "$1") - before)) '
		function ms(v) { return v ~ /us$/ ? v / 1000 : v ~ /ms$/ ? v + 0 : v * 1000 }
		/^finished in/ { r = $4 } /^requests:/ { all = $8; bad = $10 + $12 } /^status codes:/ { bad += $3 + $7 + $9 } /^time for request:/ { b = ms($5); a = ms($6) }
		END { if (all == 0) all = 1; printf "%-10s %-11s %8.0f %7.1f %8.2f %8.2f%s\n", "h2", who, r, used * 10000 / all, a, b, bad ? "  failed: " bad : "" }' "$dir/h2.out"
}

[ "$n" = 0 ] || at_rest large 4595
for who in $servers; do # the first requests fill caches
	set=$(set_of "$who")
	for load in hot uniform; do ask $load "$who" 1 2 >/dev/null; done
	[ "$who" != large ] || for load in zipf uniform; do ask $load large 7 "$warm" >/dev/null; done
	case $who in nginx) port=4590 ;; nginx-same) port=4591 ;; apache) port=4592 ;; nethttp) port=4593 ;; nomen) port=4594 ;; large) port=4595 ;; before) port=4596 ;; nginx-large) port=4599 ;; esac
	head -100 "$dir/$set.uniform" | while read -r t; do
		[ "$(curl -s -o /dev/null -w '%{http_code}' --path-as-is "http://127.0.0.1:$port$t")" = 303 ] || echo "bench-serve: $who: $t is not redirected" >&2
	done
done
for round in $(seq "$rounds"); do
	for load in $loads; do
		for who in $servers; do ask "$load" "$who" "$round" "$seconds"; done
	done
done | tee "$dir/rounds"

echo
printf '%-10s %-11s %8s %7s %8s %8s %8s %8s\n' load server req/s us/req p50/ms p99/ms times 'by cpu'
sort -s -k1,2 "$dir/rounds" | awk '
	function middle(v, k,   i, j, t) { for (i = 2; i <= k; i++) for (j = i; j > 1 && v[j-1] > v[j]; j--) { t = v[j]; v[j] = v[j-1]; v[j-1] = t } return k % 2 ? v[(k+1)/2] : (v[k/2] + v[k/2+1]) / 2 }
	function flush() { if (k) { row[load, who] = sprintf("%8.0f %7.1f %8.2f %8.2f", rate = middle(r, k), middle(c, k), middle(a, k), middle(b, k)); speed[load, who] = rate; cost[load, who] = middle(c, k); order[++rows] = load SUBSEP who } k = 0 }
	$1 != load || $2 != who { flush(); load = $1; who = $2 }
	{ k++; r[k] = $3; c[k] = $4; a[k] = $5; b[k] = $6 }
	END { flush(); for (i = 1; i <= rows; i++) { split(order[i], p, SUBSEP); like = p[2] == "large" && (p[1], "nginx-large") in speed ? "nginx-large" : "nginx-same"; base = speed[p[1], like]; printf "%-10s %-11s %s %s\n", p[1], p[2], row[order[i]], base && cost[order[i]] ? sprintf("%8.2f %8.2f", speed[order[i]] / base, cost[p[1], like] / cost[order[i]]) : "" } }'

echo
for who in $servers; do
	top=$(cat "$dir/$who.pid")
	for p in $top $(cat "/proc/$top/task/$top/children"); do awk -v who="$who" '/^VmRSS/ { printf "%-11s %6.0f MB\n", who, $2 / 1024 }' "/proc/$p/status"; done
done

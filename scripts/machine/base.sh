#!/bin/sh
# base.sh DIR: makes a bare Debian in DIR, once, for the machines of tests (boot.sh). The
# packages that the guide installs are downloaded but not installed, because a machine of a test
# cannot reach the internet: apt-get takes them from its cache.
set -eu
dir=$1
packages='nginx libnginx-mod-stream apache2 caddy certbot python3-certbot-nginx python3-certbot-apache postgresql haproxy podman'
complete="$dir/.complete"

mkdir -p "$(dirname "$dir")"
exec 9>"$dir.lock"
flock 9
[ "$(cat "$complete" 2>/dev/null)" != "$packages" ] || exit 0
rm -rf "$dir"
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,curl,iproute2,procps bookworm "$dir" http://deb.debian.org/debian >"$dir.log"
cat >"$dir/etc/apt/sources.list" <<-'LIST'
	deb http://deb.debian.org/debian bookworm main
	deb http://deb.debian.org/debian bookworm-updates main
	deb http://deb.debian.org/debian-security bookworm-security main
LIST
in_dir() { chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
in_dir apt-get update -q >>"$dir.log"
in_dir apt-get upgrade -y -q >>"$dir.log"
# shellcheck disable=SC2086
in_dir apt-get install -y -q --download-only $packages >>"$dir.log"
rm -f "$dir/etc/resolv.conf" "$dir/etc/hostname"
echo "$packages" >"$complete"

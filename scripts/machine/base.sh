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
trap '[ $? = 0 ] || tail -n 40 "$dir.log" >&2' EXIT

# The mirrors of this machine, of which the path ends in the name of the archive.
mirror_of() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -nE 's/^(URIs:|deb( +\[[^]]*\])?) +//p' | tr ' ' '\n' | grep -E "^https?://.*/$1/?\$" | head -n 1 | sed 's:/*$::'
}
debian=$(mirror_of debian)
debian=${debian:-http://deb.debian.org/debian}
security=$(mirror_of debian-security)
security=${security:-$debian-security}
rm -rf "$dir"
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,curl,iproute2,procps bookworm "$dir" "$debian" >"$dir.log" 2>&1
cat >"$dir/etc/apt/sources.list" <<-LIST
	deb $debian bookworm main
	deb $debian bookworm-updates main
	deb $security bookworm-security main
LIST
in_dir() { chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
in_dir apt-get update -q >>"$dir.log" 2>&1
in_dir apt-get upgrade -y -q >>"$dir.log" 2>&1
# shellcheck disable=SC2086
in_dir apt-get install -y -q --download-only $packages >>"$dir.log" 2>&1
rm -f "$dir/etc/resolv.conf" "$dir/etc/hostname"
echo "$packages" >"$complete"

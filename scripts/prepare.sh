#!/bin/sh
# Installs what the tests need and a bare machine lacks: a C compiler for the
# race detector, curl, PostgreSQL, nginx and systemd-analyze; with the argument "clients" also
# the foreign clients and axe-core, with "ha" what a cluster consists of, with "packages" what
# builds and checks a release.
set -eu

missing=''
need() { # need COMMAND PACKAGE
	command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

need gcc gcc
[ -e /usr/include/stdlib.h ] || missing="$missing libc6-dev"
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
	missing="$missing postgresql"
fi
need nginx nginx
need curl curl
need systemd-analyze systemd
if [ "${1:-}" = clients ]; then
	need wget wget
	need lynx lynx
	need squid squid
	need apache2 apache2
	need python3 python3
	need chromium chromium
	need node nodejs
	need npm npm
	need promtool prometheus
	need debootstrap debootstrap
	need ip iproute2
	need zbarimg zbar-tools
fi

if [ "${1:-}" = ha ]; then
	need patroni patroni
	need etcd etcd-server
	need etcdctl etcd-client
	need haproxy haproxy
	need ip iproute2
fi

if [ "${1:-}" = packages ]; then
	need dpkg-deb dpkg-dev
	need lintian lintian
	need rpmbuild rpm
	need debootstrap debootstrap
	need skopeo skopeo
	need ssh-keygen openssh-client
	need ip iproute2
	[ -e /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
fi

# axe-core finds what is wrong with web pages for some people. Only tests use it: it is below
# bin, and no part of any release.
axe() {
	script=bin/tools/axe-core-4.14.1.js
	[ ! -e "$script" ] || return 0
	dir=$(mktemp -d)
	npm pack --silent --pack-destination "$dir" axe-core@4.14.1 >/dev/null
	echo "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5  $dir/axe-core-4.14.1.tgz" | sha512sum --check --quiet
	tar -xzf "$dir/axe-core-4.14.1.tgz" -C "$dir" package/axe.min.js
	mkdir -p bin/tools
	mv "$dir/package/axe.min.js" "$script"
	rm -r "$dir"
}

install_missing() {
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		echo "please install:$missing" >&2
		exit 1
	fi
	echo "installing:$missing"
	export DEBIAN_FRONTEND=noninteractive
	# The tests start servers of their own: Debian need not make or start any.
	if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		mkdir -p /etc/postgresql-common
		echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	fi
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
		printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
		chmod +x /usr/sbin/policy-rc.d
	fi
	apt-get update -q >/dev/null
	# shellcheck disable=SC2086
	apt-get install -y -q --no-install-recommends $missing >/dev/null
}

install_missing
[ "${1:-}" != clients ] || axe

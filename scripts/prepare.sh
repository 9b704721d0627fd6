#!/bin/sh
# Installs what the tests need and a bare machine lacks: a C compiler for the
# race detector, curl, PostgreSQL, nginx and systemd-analyze; with the argument "clients" also
# the foreign clients, with "ha" what a cluster consists of, with "packages" what builds and
# checks a release.
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

[ -n "$missing" ] || exit 0
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

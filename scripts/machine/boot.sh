#!/bin/sh
# boot.sh BASE DIR NAME: boots a machine: systemd in a copy of BASE whose changes are in memory.
# It runs in new name spaces of its own:
#
#     unshare --mount --pid --fork --uts --ipc --cgroup --net --kill-child boot.sh BASE DIR NAME
set -eu
base=$1 dir=$2 name=$3

mount --make-rprivate /
mount -t tmpfs -o size=4g tmpfs "$dir"
mkdir "$dir/upper" "$dir/work" "$dir/root"
root=$dir/root
mount -t overlay -o "lowerdir=$base,upperdir=$dir/upper,workdir=$dir/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs"
mkdir "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
while read -r file major minor; do
	mknod -m 666 "$root/dev/$file" c "$major" "$minor"
done <<'DEVICES'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
DEVICES
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
mkdir -p "$root/var/lib/containers" # podman cannot use an overlay below its own
mount -t tmpfs tmpfs "$root/var/lib/containers"
hostname "$name"
echo "$name" >"$root/etc/hostname"
cd "$root"
pivot_root . mnt # in a chroot, units with PrivateUsers do not start
umount -l /mnt
exec chroot . /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init </dev/null

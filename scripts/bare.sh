# Bare Debians and Ubuntus, for scripts to source that try Lull there. Needs root, mmdebstrap and the network.
#
#   unpack_bare RELEASE FOLDER   the essential packages of bookworm, trixie (Debian 12, 13), jammy or noble (Ubuntu 22.04, 24.04) in
#                                FOLDER; mmdebstrap makes them from the distribution's archive, once, and build/bare-RELEASE.tar
#                                keeps them
#   inside FOLDER COMMAND...     runs it there as root, in separate namespaces, so that no mount and no process remains. Without the
#                                network if CUT_OFF is set. FOLDER/given holds what the caller puts there; if CCACHE_DIR is set,
#                                compilers use it
# shellcheck shell=bash

unpack_bare() {
  local release=$1 folder=$2 kept=build/bare-$1.tar archive
  case $release in
    jammy | noble) # Debian has no key of Ubuntu's archive
      archive=$(printf 'deb [trusted=yes] http://archive.ubuntu.com/ubuntu %s main universe\n' "$release" "$release-updates") ;;
    *) archive=http://deb.debian.org/debian ;;
  esac
  if [ ! -e "$kept" ]; then
    printf '==> making a bare %s\n' "$release"
    mmdebstrap --quiet --variant=apt "$release" "$kept.part.tar" "$archive"
    mv "$kept.part.tar" "$kept"
  fi
  mkdir -p "$folder"
  tar -C "$folder" -xf "$kept"
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" > "$folder/etc/hosts"
  mkdir -p "$folder/given" "$folder/ccache"
  cp /etc/ssl/certs/ca-certificates.crt "$folder/given/" # a site may have its own, for its proxy
}

inside() {
  # shellcheck disable=SC2016 # quoted text is for the inner shell
  unshare --mount --pid --fork --kill-child ${CUT_OFF:+--net} bash -c '
    set -e
    root=$1; shift
    # Slurm 24 does not start on a machine that has no address but that of the loopback.
    [ -z "${CUT_OFF:-}" ] || { ip link set lo up && ip link add cut0 type veth peer name cut1 && ip address add 192.0.2.1/24 dev cut0 && \
      ip link set cut0 up && ip link set cut1 up; }
    mount --bind "$root" "$root" # mounts of a namespace within it need a root that is a mount itself
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys" # also without the network it shows the interfaces of this machine
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    [ -z "${CCACHE_DIR:-}" ] || mount --bind "$CCACHE_DIR" "$root/ccache"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CCACHE_DIR=/ccache PIP_CERT=/given/ca-certificates.crt "$@"' bash "$@"
}

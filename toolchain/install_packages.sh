#!/usr/bin/env bash
# Installs the Debian packages of packages.txt: install_packages.sh [GROUP...]; no group means all but peers.
# Says nothing when there is nothing to do.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
list=$HITCH_ROOT/toolchain/packages.txt
log=$HITCH_ROOT/build/log/apt.log

if [ "${1:-}" = --help ]; then
  say "usage: toolchain/install_packages.sh [build] [test] [game] [peers]"
  say "Installs what toolchain/packages.txt lists for these groups, all but peers by default."
  exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  complain "install_packages: this is not a Debian system; install the equivalents of $list by hand"
  exit 1
fi

wanted=()
groups=" ${*:-build test game} "
for group in $groups; do
  grep -q "# $group:" "$list" || { complain "install_packages: no group '$group' in $list"; exit 2; }
done
while read -r name hash group _; do
  [ "$hash" = "#" ] && [[ $groups == *" ${group%:} "* ]] && wanted+=("$name")
done < <(grep -v '^#' "$list")

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for name in "${wanted[@]}"; do
  grep -qx "installed $name" <<<"$installed" || missing+=("$name")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    complain "install_packages: these packages are missing and neither root nor sudo is at hand:"
    complain "  ${missing[*]}"
    complain "Install them as root: apt-get install --no-install-recommends ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi
mkdir -p "$(dirname "$log")"

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }
known() { apt-cache show --no-all-versions "${missing[@]}" >/dev/null 2>&1; }
install=(apt install --no-install-recommends "${missing[@]}")

say "installing ${#missing[@]} Debian packages: ${missing[*]}"
known || quietly "$log" apt update
# The second attempt is for package lists older than the mirror.
if ! "${install[@]}" >"$log" 2>&1; then
  quietly "$log" apt update
  quietly "$log" "${install[@]}"
fi

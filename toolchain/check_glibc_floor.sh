#!/usr/bin/env bash
# check_glibc_floor.sh LIBRARY RECORDER [FLOOR]: prints the newest glibc symbol version the library asks for and
# fails above FLOOR (2.28: what the oldest Steam Runtime still in use offers); the recorder must ask for none.
set -euo pipefail
library=$1 recorder=$2 floor=${3:-2.28}
versions=$(objdump -T "$library" | grep -oE 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -Vu)
newest=$(tail -n 1 <<<"$versions")
[ -n "$newest" ] || { echo "$library asks for no versioned glibc symbol: is it the right file?" >&2; exit 1; }
echo "$(basename "$library"): newest symbol version GLIBC_$newest, allowed GLIBC_$floor"
if [ "$(printf '%s\n' "$newest" "$floor" | sort -V | tail -n 1)" != "$floor" ]; then
  objdump -T "$library" | grep "GLIBC_$newest" >&2
  exit 1
fi
if private=$(objdump -T "$library" | grep GLIBC_PRIVATE); then
  echo "$library uses glibc's private symbols: $private" >&2
  exit 1
fi
if readelf -lW "$recorder" | grep -q INTERP || readelf -dW "$recorder" | grep -q NEEDED; then
  echo "$recorder is not fully static" >&2
  exit 1
fi
echo "$(basename "$recorder"): static, asks for none"

#!/usr/bin/env bash
# check_install.sh BUILD_FOLDER: installs the build into an empty prefix, builds a consumer against it through
# find_package and through pkg-config, records it with the installed command, and makes the .deb.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() { complain "$*"; exit 1; }
expect() { # expect WHAT WANTED COMMAND...: the command succeeds and prints WANTED
  local what=$1 wanted=$2 got
  shift 2
  got=$("$@" 2>"$work/stderr") || { cat "$work/stderr" >&2; fail "$what: status $?"; }
  [ "$got" = "$wanted" ] || { cat "$work/stderr" >&2; fail "$what: printed '$got', not '$wanted'"; }
}

quietly "$work/install.log" cmake --install "$build" --prefix "$prefix"
for file in bin/hitchtrace 'lib*/libhitchtrace.so' libexec/hitchtrace/hitchtrace-record \
  include/hitchtrace/hitchtrace.h 'lib*/pkgconfig/hitchtrace.pc' 'lib*/cmake/hitchtrace/hitchtraceConfig.cmake' \
  share/man/man1/hitchtrace.1 share/bash-completion/completions/hitchtrace \
  share/doc/hitchtrace/copyright; do
  compgen -G "$prefix/$file" >/dev/null || compgen -G "$prefix/${file/lib\*/lib\*\/\*}" >/dev/null ||
    fail "not installed: $file"
done

quietly "$work/consumer-configure.log" cmake -S "$HITCH_ROOT/tests/install" -B "$work/consumer" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
quietly "$work/consumer-build.log" cmake --build "$work/consumer"
export HITCH_DIR=$work/traces
mkdir "$HITCH_DIR"
cd "$work"
expect "find_package, headers alone" "shim absent" "$work/consumer/consumer_api"
expect "find_package, C++ scope" "recording 0" "$work/consumer/consumer_scope"
expect "find_package, shim linked" "shim present" env HITCH_DISABLE=1 "$work/consumer/consumer_linked"

pc=$(dirname "$(find "$prefix" -name hitchtrace.pc)")
export PKG_CONFIG_PATH=$pc
# shellcheck disable=SC2046
cc "$HITCH_ROOT/tests/install/consumer.c" -o "$work/pc_api" $(pkg-config --cflags hitchtrace)
# shellcheck disable=SC2046
cc "$HITCH_ROOT/tests/install/consumer.c" -o "$work/pc_linked" $(pkg-config --cflags --libs hitchtrace) \
  -Wl,-rpath,"$(pkg-config --variable=libdir hitchtrace)"
cc -no-pie -fno-pie "$HITCH_ROOT/tests/install/consumer.c" -o "$work/pc_no_pie" -I"$prefix/include"
expect "pkg-config, headers alone" "shim absent" "$work/pc_api"
expect "pkg-config, shim linked" "shim present" env HITCH_DISABLE=1 "$work/pc_linked"
expect "not position independent" "shim absent" "$work/pc_no_pie"

expect "recorded by the installed command" "shim present" \
  "$prefix/bin/hitchtrace" run --output "$work/consumer.hitch" -- "$work/pc_api"
expect "recorded, not position independent" "shim present" \
  "$prefix/bin/hitchtrace" run --output "$work/no_pie.hitch" -- "$work/pc_no_pie"
"$prefix/bin/hitchtrace" dump "$work/consumer.hitch" >"$work/dump.txt"
grep -q 'consumer started' "$work/dump.txt" || fail "the message of the game is not in its trace"

# Bare: the library alone finds and starts the recorder, which finishes the trace after the game is gone.
library=$(find "$prefix" -name libhitchtrace.so)
expect "preloaded without the command" "shim present" \
  env LD_PRELOAD="$library" HITCH_OUTPUT="$work/bare.hitch" "$work/pc_api"
for _ in $(seq 100); do
  if "$prefix/bin/hitchtrace" dump "$work/bare.hitch" >"$work/bare.txt" 2>/dev/null && grep -q '^End' "$work/bare.txt"; then
    break
  fi
  sleep 0.1
done
grep -q 'consumer started' "$work/bare.txt" || fail "no trace of the game that was preloaded bare"

cd "$build"
quietly "$work/cpack.log" cpack -G DEB -B "$work/deb"
deb=$(find "$work/deb" -maxdepth 1 -name 'hitchtrace_*.deb')
[ -n "$deb" ] || fail "cpack made no .deb"
dpkg-deb -x "$deb" "$work/unpacked"
for file in usr/bin/hitchtrace usr/libexec/hitchtrace/hitchtrace-record usr/share/man/man1/hitchtrace.1.gz \
  usr/share/doc/hitchtrace/copyright usr/share/doc/hitchtrace/changelog.Debian.gz; do
  [ -f "$work/unpacked/$file" ] || fail "not in the .deb: $file"
done
dpkg-deb -f "$deb" Depends | grep -q libc6 || fail "the .deb depends on nothing"
expect "run from the unpacked .deb" "shim present" \
  "$work/unpacked/usr/bin/hitchtrace" run --output "$work/deb.hitch" -- "$work/pc_api"
echo "installed, consumed through find_package and pkg-config, packaged as $(basename "$deb")"

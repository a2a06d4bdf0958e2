#!/usr/bin/env bash
# check_elf.sh LIBRARY: what the library brings into a game: libc alone as a dependency, under 256 bytes of
# initial-exec TLS, no C++ run-time library, no symbolic binding, no text relocations, no executable stack, and no
# call that could end the game or write to its output.
set -euo pipefail
library=$1
dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
undefined=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }')
status=0
fail() { echo "$*" >&2; status=1; }

needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")
for name in $needed; do
  case $name in
    libc.so.6 | ld-linux-x86-64.so.2) ;;
    *) fail "needs $name: only libc may be needed" ;;
  esac
done
tls=$((16#$(awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }' <<<"$segments" | grep . || echo 0)))
[ "$tls" -lt 256 ] || fail "$tls bytes of TLS: at most 255 are sure to be free in every process"
if grep -qE 'SYMBOLIC' <<<"$dynamic"; then fail "bound symbolically: the game's own definitions would be passed by"; fi
if grep -q 'TEXTREL' <<<"$dynamic"; then fail "has text relocations"; fi
if grep 'GNU_STACK' <<<"$segments" | grep -q 'E '; then fail "asks for an executable stack"; fi
if [ "$tls" -gt 0 ] && grep -qx '__tls_get_addr' <<<"$undefined"; then
  fail "calls __tls_get_addr, which may allocate: all TLS must be initial-exec"
fi
# The game's operator new and delete are reached by tail jump, never linked against.
if runtime=$(grep -E '^(_Z|__cxa_(throw|begin|end|allocate|guard|pure|rethrow)|_Unwind_|__gxx_|unw_|_U)' <<<"$undefined"); then
  fail "uses the C++ run-time library or an unwinder: $(tr '\n' ' ' <<<"$runtime")"
fi
# What a guest does not do in another program's process.
if rude=$(grep -xE '(abort|_?exit|_Exit|__assert_fail|raise|kill|v?[fsd]?n?printf(_chk)?|puts|fputs|setlocale|getenv|setenv)' \
  <<<"$undefined"); then
  fail "calls $(tr '\n' ' ' <<<"$rude")"
fi
[ "$status" -ne 0 ] || echo "$(basename "$library"): needs $(tr '\n' ' ' <<<"$needed")and $tls bytes of TLS"
exit "$status"

#!/usr/bin/env bash
# demo.sh: installs what is missing, builds the release preset, records examples/combat without a screen and
# prints the report. `demo.sh -- COMMAND ARGS...` does the same for any game.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  say "usage: toolchain/demo.sh [-- COMMAND ARGS...]"
  say "Records COMMAND, by default the example game examples/combat, and prints which frames hitched and why."
  exit 0
fi
[ "${1:-}" != -- ] || shift

"$HITCH_ROOT/toolchain/install_packages.sh" build
configure_once release
build_preset release
build=$HITCH_ROOT/build/release
hitchtrace=$build/bin/hitchtrace

if [ "$#" -eq 0 ]; then
  export SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
  set -- "$build/examples/combat/combat"
  say "Recording examples/combat without a screen, about ten seconds ..."
fi
mkdir -p "$build/demo"
trace=$build/demo/$(basename "$1")-$(date +%Y%m%d-%H%M%S).hitch
status=0
"$hitchtrace" run --output "$trace" -- "$@" 2>"$build/demo/run.log" || status=$?
# Without a trace, what `run` had to say is the answer.
if [ ! -s "$trace" ]; then
  cat "$build/demo/run.log" >&2
  exit "$((status == 0 ? 1 : status))"
fi
[ "$status" -eq 0 ] || say "The game ended with status $status."
"$hitchtrace" report "$trace"
say
say "trace:  $trace"
say "log:    $trace.log"
say "again:  ${hitchtrace#"$PWD/"} report ${trace#"$PWD/"}"
exit "$status"

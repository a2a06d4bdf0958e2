#!/bin/sh
# fake_recorder.sh run --status-fd N -- GAME ARGS: speaks the recorder's protocol without recording anything.
# FAKE_MODE says how it behaves, FAKE_TRACE which trace it claims to have written.
[ "$1 $2 $4" = 'run --status-fd --' ] || exit 90
status=/proc/self/fd/$3
shift 4
say() { echo "$*" > "$status"; }
claim() {
  say connected "$1" /fake/game
  [ -z "$FAKE_TRACE" ] || say trace "$FAKE_TRACE"
}
finish() {
  wait "$1"
  code=$?
  if [ "$code" -gt 128 ]; then say signal $((code - 128)); else say exit "$code"; fi
}

case ${FAKE_MODE:-record} in
  record)
    "$@" &
    claim $!
    finish $! ;;
  environment)
    say exit 0
    env | grep -E '^(HITCH_LEVEL|HITCH_HOOK_SLEEP|HITCH_OUTPUT|LD_PRELOAD)=' | sort >&2
    echo "$*" >&2 ;;
  ignored)
    say ignored $$ /bin/launcher
    say exit 0 ;;
  silent)
    "$@"
    say exit $? ;;
  refused) say exec-failed 13 ;;
  vanished) say exec-failed 2 ;;
  note)
    say note the disk is full
    claim $$
    say exit 0 ;;
  fail) exit 3 ;;
  die)
    "$@" &
    claim $!
    kill -KILL $$ ;;
  forward)
    "$@" &
    game=$!
    trap 'kill -TERM $game' TERM
    trap 'kill -HUP $game' HUP
    say connected "$game" /fake/game
    wait "$game"
    finish "$game" ;;
esac

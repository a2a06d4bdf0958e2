#!/usr/bin/env bash
# completion_test.sh HITCHTRACE.BASH: what the completion offers, asked the way bash asks it.
set -u
source "$1" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
touch a.hitch b.txt
mkdir traces
failures=0

# offers WORDS...: sets COMPREPLY for the last word.
offers() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _hitchtrace 2>/dev/null
}

has() {
  local wanted=$1 one
  for one in "${COMPREPLY[@]-}"; do [ "$one" = "$wanted" ] && return; done
  echo "completing '${COMP_WORDS[*]}' does not offer '$wanted' but: ${COMPREPLY[*]-}"
  failures=$((failures + 1))
}

lacks() {
  local unwanted=$1 one
  for one in "${COMPREPLY[@]-}"; do
    [ "$one" = "$unwanted" ] || continue
    echo "completing '${COMP_WORDS[*]}' offers '$unwanted'"
    failures=$((failures + 1))
  done
}

offers hitchtrace ''
for word in run report dump recover version --help; do has "$word"; done
offers hitchtrace rep; has report; lacks run
offers hitchtrace run --le; has --level
offers hitchtrace run --no-hook-s; has --no-hook-sleep
offers hitchtrace run --; has --output; has --attach-anyway; has --
offers hitchtrace run --level ''; has count; has time; has trace
offers hitchtrace run --level = c; has count; lacks time
offers hitchtrace run --output ''; has a.hitch
offers hitchtrace run --dir ''; has traces; lacks a.hitch
offers hitchtrace run tru; has true
offers hitchtrace run --level count -- tru; has true
offers hitchtrace run --buffer ''; lacks true
offers hitchtrace report ''; has a.hitch; has traces; lacks b.txt
offers hitchtrace report --s; has --symbols; has --summary
offers hitchtrace report --color ''; has never
offers hitchtrace report --symbols ''; has b.txt
offers hitchtrace dump --; has --json
offers hitchtrace recover -; has --output
[ "$failures" -eq 0 ] && echo 'every completion offers what it should'
exit "$failures"

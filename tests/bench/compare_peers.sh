#!/usr/bin/env bash
# The same game under hitchtrace and under other heap profilers, each keeping every allocation with its callstack.
#
# usage: compare_peers.sh BIN_DIR [-- COMMAND...]
# BIN_DIR holds hitchtrace (build preset "bench" or an installation). The default command is supertuxkart's headless
# benchmark. HITCH_PEER_ROUNDS (3) interleaved rounds; HITCH_PEER_LIMIT (120) seconds for one run, after which it is
# stopped and its row says so. toolchain/install_packages.sh test game peers installs what this needs; a profiler that
# is missing is a row that says so.
set -euo pipefail
if [ $# -lt 1 ] || [ ! -x "$1/hitchtrace" ]; then
  sed -n '2,9p' "$0" | sed 's/^# \?//' >&2
  exit 2
fi
bin=$(realpath "$1")
shift
if [ "${1:-}" = -- ]; then
  shift
  game=("$@")
else
  game=(/usr/games/supertuxkart --no-graphics --profile-time=200 --track=lighthouse --numkarts=8)
fi
rounds=${HITCH_PEER_ROUNDS:-3}
limit=${HITCH_PEER_LIMIT:-120}
libs=/usr/lib/x86_64-linux-gnu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work SDL_AUDIODRIVER=dummy ALSOFT_DRIVERS=null

names=("plain" "hitchtrace" "hitchtrace --keep all" "jemalloc, no profile" "jemalloc prof, every call"
  "tcmalloc, no profile" "tcmalloc HEAPPROFILE" "heaptrack")

# What must be there for a row.
needs() {
  case $1 in
    jemalloc*) echo "$libs/libjemalloc.so.2" ;;
    tcmalloc*) echo "$libs/libtcmalloc.so.4" ;;
    heaptrack) command -v heaptrack || echo /usr/bin/heaptrack ;;
    *) echo /bin/true ;;
  esac
}

# Runs a row's command in $out; what a profiler writes lands there too.
start() {
  case $1 in
    plain) "${game[@]}" ;;
    hitchtrace) "$bin/hitchtrace" run -o "$out/trace.hitch" -- "${game[@]}" ;;
    "hitchtrace --keep all") "$bin/hitchtrace" run --keep all -o "$out/trace.hitch" -- "${game[@]}" ;;
    "jemalloc, no profile") LD_PRELOAD=$libs/libjemalloc.so.2 "${game[@]}" ;;
    "jemalloc prof, every call")
      MALLOC_CONF="prof:true,lg_prof_sample:0,prof_final:true,prof_prefix:$out/heap" \
        LD_PRELOAD=$libs/libjemalloc.so.2 "${game[@]}" ;;
    "tcmalloc, no profile") LD_PRELOAD=$libs/libtcmalloc.so.4 "${game[@]}" ;;
    "tcmalloc HEAPPROFILE") HEAPPROFILE=$out/heap LD_PRELOAD=$libs/libtcmalloc.so.4 "${game[@]}" ;;
    heaptrack) heaptrack -o "$out/heaptrack" "${game[@]}" ;;
  esac
}
export -f start needs
export bin libs

declare -A best size state
for ((round = 1; round <= rounds; ++round)); do
  for name in "${names[@]}"; do
    [ "${state[$name]:-ok}" = ok ] || continue
    if [ ! -e "$(needs "$name")" ]; then
      state[$name]="not installed"
      continue
    fi
    out=$work/out
    rm -rf "$out"
    mkdir "$out"
    begin=$(date +%s%N)
    # A shell of its own, so that the limit ends the profiler and the game together.
    status=0
    declare -p game out name >"$work/row.sh"
    timeout --kill-after=5 "$limit" bash -c "source '$work/row.sh'; start \"\$name\"" \
      >"$work/log" 2>&1 </dev/null || status=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    pkill -KILL -f "^${game[0]}" 2>/dev/null || true
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
      state[$name]="stopped after $limit s"
    elif [ "$status" -ne 0 ]; then
      state[$name]="ended with status $status: $(tail -n 1 "$work/log")"
    elif grep -q "Invalid conf" "$work/log"; then
      state[$name]="this jemalloc is built without profiling"
    else
      [ -n "${best[$name]:-}" ] && [ "${best[$name]}" -le "$took" ] || best[$name]=$took
      size[$name]=$(du -sb "$out" | cut -f1)
    fi
  done
done

if [ -z "${best[plain]:-}" ]; then
  echo "compare_peers: the game itself does not run: ${state[plain]:-}" >&2
  exit 1
fi
printf '%s\n%d interleaved rounds, the fastest of each; whole commands, with what they do before and after the game\n\n' \
  "${game[*]}" "$rounds"
printf '%-28s %9s %9s %12s\n' "" "seconds" "x plain" "written MB"
for name in "${names[@]}"; do
  if [ "${state[$name]:-ok}" != ok ]; then
    printf '%-28s %s\n' "$name" "${state[$name]}"
    continue
  fi
  awk -v name="$name" -v ms="${best[$name]}" -v plain="${best[plain]}" -v bytes="${size[$name]}" \
    'BEGIN { printf "%-28s %9.2f %9.2f %12.1f\n", name, ms / 1000, ms / plain, bytes / 1e6 }'
done

# Shared by the scripts in this folder; sourced, not run.
HITCH_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HITCH_JOBS=${HITCH_JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }
complain() { printf '%s\n' "$*" >&2; }

# quietly LOG COMMAND ARGS...: runs the command with its output in LOG. On failure the end of the log is
# shown and the command's status returned.
quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    complain "failed ($status): $*"
    grep -nE '(error|Error|ERROR|^E: |FAILED|undefined reference)' "$log" | head -n 20 >&2 || true
    complain "--- last lines of $log"
    tail -n 40 "$log" >&2
  fi
  return "$status"
}

# configure_once PRESET: configures the preset when its build folder has not been configured yet; later
# changes of the lists are picked up by the build itself.
configure_once() {
  local preset=$1
  shift
  [ -f "$HITCH_ROOT/build/$preset/build.ninja" ] ||
    (cd "$HITCH_ROOT" && quietly "build/log/$preset-configure.log" cmake --preset "$preset" "$@")
}

# build_preset PRESET [TARGET...]: builds the preset, all of it without targets.
build_preset() {
  local preset=$1
  shift
  local targets=()
  [ "$#" -eq 0 ] || targets=(--target "$@")
  (cd "$HITCH_ROOT" &&
    quietly "build/log/$preset-build.log" cmake --build --preset "$preset" -j "$HITCH_JOBS" "${targets[@]}")
}

#!/usr/bin/env bash
# test.sh: installs what is missing, builds every preset that has tests and runs all of them; the last lines are
# ctest's summary of the main suite. Fails when any suite fails. HITCH_FUZZ_SECONDS (default 15) is spent on
# each fuzz target.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HITCH_ROOT"
toolchain/install_packages.sh build test
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
HITCH_FUZZ_SECONDS=${HITCH_FUZZ_SECONDS:-15}
failed=()

stage() { # stage NAME COMMAND...: one line when it passes, its output when it fails
  local name=$1 begin=$SECONDS
  shift
  if "$@"; then
    printf '%-28s passed  %4d s\n' "$name" "$((SECONDS - begin))"
  else
    failed+=("$name")
    printf '%-28s FAILED  %4d s\n' "$name" "$((SECONDS - begin))"
  fi
}

sanitized() { # sanitized PRESET: the unit tests alone; a sanitizer's malloc cannot share a process with the shim
  configure_once "$1" && build_preset "$1" hitch_unit_tests &&
    quietly "build/log/$1-test.log" ctest --preset "$1" -j "$HITCH_JOBS"
}

fuzzed() { # the corpora as ctest cases, then a while of new inputs for each target
  configure_once fuzz && build_preset fuzz tests/fuzz/all &&
    quietly build/log/fuzz-test.log ctest --preset fuzz -j "$HITCH_JOBS" || return
  local program name
  for program in build/fuzz/tests/fuzz/*_fuzz; do
    name=$(basename "$program" _fuzz)
    mkdir -p "build/fuzz/found/$name"
    quietly "build/log/fuzz-$name.log" "$program" -max_total_time="$HITCH_FUZZ_SECONDS" -rss_limit_mb=1024 \
      -artifact_prefix=build/fuzz/found/ "build/fuzz/found/$name" "tests/fuzz/corpus/$name" || return
  done
}

# Only that everything compiles and links: what it does is tested below with the default compiler.
second_compiler() {
  [ -f build/dev-clang/build.ninja ] ||
    quietly build/log/dev-clang-configure.log cmake --preset dev -B build/dev-clang \
      -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 \
      -DHITCH_TESTS=OFF -DHITCH_BENCH=OFF || return
  quietly build/log/dev-clang-build.log cmake --build build/dev-clang -j "$HITCH_JOBS"
}

main_build() { configure_once dev && build_preset dev; }

# Passing cases are left out, so that what remains is failures, skips and the summary.
main_suite() {
  set -o pipefail
  ctest --preset dev -C Tidy -j "$HITCH_JOBS" 2>&1 | tee build/log/dev-test.log |
    grep -vE '^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed|^Internal ctest changing|^Test project' |
    cat -s
}

stage "sanitizers: address, ub" sanitized dev-asan
stage "sanitizers: thread" sanitized dev-tsan
stage "fuzzing" fuzzed
stage "second compiler: clang" second_compiler
stage "build" main_build
status=0
if [ "${#failed[@]}" -gt 0 ]; then
  complain "failed before the main suite: ${failed[*]}"
  status=1
fi
main_suite || status=1
exit "$status"

#!/usr/bin/env bash
# Every C and C++ file is as .clang-format wants it. `check_format.sh --fix` rewrites them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
find shim viewer tests examples -type f \
  \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \) -print0 |
  xargs -0 -n 16 -P "$(nproc)" clang-format "${mode[@]}"

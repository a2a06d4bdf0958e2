#!/usr/bin/env bash
# check_exports.sh LIBRARY EXPORTS.MAP: the library exports exactly the names the map lists.
set -euo pipefail
library=$1 map=$2
listed=$(sed -e 's|/\*.*\*/||; s|#.*||; s|//.*||' "$map" | tr -d '\n' |
  sed -e 's/.*global:\(.*\)local:.*/\1/' | tr ';' '\n' | tr -d ' \t{}' | sed '/^$/d' | LC_ALL=C sort)
# Type A is the name of a version node, not a function.
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u)
[ -n "$listed" ] || { echo "$map lists nothing between 'global:' and 'local:'" >&2; exit 1; }
if twice=$(uniq -d <<<"$listed") && [ -n "$twice" ]; then
  echo "listed twice: $(tr '\n' ' ' <<<"$twice")" >&2
  exit 1
fi
if ! difference=$(diff --label listed --label exported -U0 <(echo "$listed") <(echo "$exported")); then
  echo "exports differ from $map (- listed only, + exported only):" >&2
  grep -E '^[-+][^-+]' <<<"$difference" >&2
  exit 1
fi
echo "$(wc -l <<<"$exported") names exported, all of them listed"

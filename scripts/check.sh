#!/usr/bin/env bash
# npm run check: types, style, words, imports, what nobody uses and what comes from others; types and style of what is Python. In two
# rows that take about as long as each other, so that two cores are busy all the time.
set -euo pipefail
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT

in_turn() {
  local failed=0
  for check in "$@"; do npm run --silent "check:$check" || failed=1; done
  return "$failed"
}

# the check of the web client writes the types that the next one reads
in_turn web types >"$said" 2>&1 &
failed=0
in_turn format words python dependencies lint imports unused || failed=1
wait $! || failed=1
cat "$said"
exit "$failed"

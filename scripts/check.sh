#!/usr/bin/env bash
# npm run check: types, style, imports, what nobody uses and what comes from others. The linter takes as long as all others
# together, so that it has a core of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
# first: it writes the types that the others read
npm run --silent check:web
said=$(mktemp)
trap 'rm -f "$said"' EXIT
npm run --silent check:lint >"$said" 2>&1 &
lint=$!
failed=0
for check in format imports unused dependencies types; do npm run --silent "check:$check" || failed=1; done
wait "$lint" || failed=1
cat "$said"
exit "$failed"

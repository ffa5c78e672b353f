#!/usr/bin/env bash
# npm test: system packages, then all checks, then all tests. LONG=1 runs the tests with their full counts.
set -euo pipefail
cd "$(dirname "$0")/.."
# what one of the many processes has compiled is there for the next, also where they are threads of a test
export NODE_COMPILE_CACHE=${TMPDIR:-/tmp}/node-compile-cache
bash scripts/system-packages.sh
npm run --silent check
if [ $# -gt 0 ]; then exec vitest run "$@"; fi

if [ -z "${LONG:-}" ]; then
  BUNDLED_PROGRAMS=$(node scripts/bundle.ts)
  export BUNDLED_PROGRAMS
fi
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
failed=0
cluster() { vitest run --project cluster; }
others() { vitest run --project '!cluster' "$@" 2>&1 | tee "$said/others"; }

if [ -n "${LONG:-}" ]; then
  # a thousand units at a time leave nothing for a browser
  others || failed=1
  cluster >"$said/beside" 2>&1 || failed=1
else
  # the tests of the cluster mostly wait, so that they run beside others; what was said there comes at the end
  cluster >"$said/beside" 2>&1 &
  # a test waits for a third of its time: with three at once the two processors have something to do until the end
  others --maxWorkers 3 || failed=1
  wait $! || failed=1
fi
cat "$said/beside"
grep -ah '^failed: ' "$said/others" "$said/beside" || true
grep -ahE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$said/others" "$said/beside" |
  awk '{ passed += $1; failed += $3; skipped += $5 } END { print passed " passed, " failed " failed, " skipped " skipped" }'
exit "$failed"

#!/usr/bin/env bash
# npm test: system packages, then all checks, then all tests. LONG=1 runs the tests with their full counts.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/system-packages.sh
npm run --silent check
exec vitest run "$@"

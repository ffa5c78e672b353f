#!/usr/bin/env bash
# npm run check:python: style, format and types of what is Python. The tools come from the package index, by their hashes,
# and are kept beside the other packages.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=scripts/python-tools.txt
tools=node_modules/.cache/python-tools-$(sha256sum "$wanted" | cut -c -12)
if [ ! -e "$tools/complete" ]; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$wanted"
  touch "$tools/complete"
fi
failed=0
"$tools/bin/ruff" check --quiet . || failed=1
"$tools/bin/ruff" format --quiet --check . || failed=1
"$tools/bin/mypy" --no-error-summary || failed=1
exit "$failed"

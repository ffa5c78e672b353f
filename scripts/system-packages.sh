#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are not there yet. Without root it says which ones are missing.
set -euo pipefail

needed=()
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || needed+=(postgresql)
command -v git >/dev/null || needed+=(git)
command -v chromium >/dev/null || needed+=(chromium fonts-liberation)
command -v openssl >/dev/null || needed+=(openssl)
python3 -c 'import ensurepip, venv' 2>/dev/null || needed+=(python3-venv)

if [ ${#needed[@]} -eq 0 ]; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "The tests need these Debian packages, which are not installed: ${needed[*]}" >&2
  echo "Install them and run the tests again: sudo apt-get install ${needed[*]}" >&2
  exit 1
fi

echo "Installing for the tests: ${needed[*]}"
export DEBIAN_FRONTEND=noninteractive
# the test database is started by the tests themselves, in a folder of their own
mkdir -p /etc/postgresql-common
grep -qs '^create_main_cluster' /etc/postgresql-common/createcluster.conf ||
  echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
log=$(mktemp)
if ! { apt-get update -q && apt-get install -y -q --no-install-recommends "${needed[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  exit 1
fi
rm -f "$log"

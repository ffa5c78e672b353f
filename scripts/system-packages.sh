#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are not there yet. Without root it says which ones are missing.
# CLUSTER_ACCOUNTING=1 or LONG=1: also what Slurm's accounting needs, which is large. LONG=1: also Prometheus.
set -euo pipefail

needed=()
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || needed+=(postgresql)
command -v git >/dev/null || needed+=(git)
command -v rsync >/dev/null || needed+=(rsync)
command -v ps >/dev/null || needed+=(procps)
command -v chromium-headless-shell >/dev/null || needed+=(chromium-headless-shell fonts-liberation)
command -v openssl >/dev/null || needed+=(openssl)
command -v curl >/dev/null || needed+=(curl)
python3 -c 'import ensurepip, venv' 2>/dev/null || needed+=(python3-venv)
# what the tests on a cluster start; daemons lie where only root looks for commands
PATH=$PATH:/usr/sbin:/sbin
command -v slurmctld >/dev/null || needed+=(slurmctld)
command -v slurmd >/dev/null || needed+=(slurmd)
command -v sbatch >/dev/null || needed+=(slurm-client)
command -v munged >/dev/null || needed+=(munge)
command -v sudo >/dev/null || needed+=(sudo)
command -v sshd >/dev/null || needed+=(openssh-server)
command -v ssh >/dev/null || needed+=(openssh-client)
# what reads the files that the manual shows
command -v nginx >/dev/null || needed+=(nginx-light)
command -v systemd-analyze >/dev/null || needed+=(systemd)
if [ "${CLUSTER_ACCOUNTING:-${LONG:-}}" = 1 ]; then
  command -v slurmdbd >/dev/null || needed+=(slurmdbd)
  command -v mariadbd >/dev/null || needed+=(mariadb-server)
fi
if [ "${LONG:-}" = 1 ]; then command -v promtool >/dev/null || needed+=(prometheus); fi

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
# and so is everything else: no package starts anything by itself
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
log=$(mktemp)
if ! { apt-get update -q && apt-get install -y -q --no-install-recommends "${needed[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  exit 1
fi
rm -f "$log"

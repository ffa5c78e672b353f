# What the scripts of the test cluster share; it is sourced, not run.
# Everything the cluster keeps lies below BASE, and is thrown away at the end.
set -euo pipefail

BASE=/var/lib/service-test-cluster
RUN=$BASE/run
LOG=$BASE/log
ACCOUNTS=(svcuser alice bob)
# accounts that carry this in their description are ours to remove
MARK='account of the test cluster'
SUDOERS=/etc/sudoers.d/service-test-cluster
GROUP=clusterusers
SSH_PORT=22822
# slurmdbd too, so that sacct answers
ACCOUNTING=${CLUSTER_ACCOUNTING:-${LONG:-0}}
# Programs that a test may put something else in the place of. The cluster itself uses copies, which stay as they are.
PROGRAMS=(sbatch squeue scancel sacct)
REAL=$BASE/real
PATH=$REAL:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
  echo "$*" >&2
  exit 1
}

# The process that a pid file names, if it still lives and is the program that wrote the file: a number may have been given
# to another process since, and one that nobody has reaped yet is over.
pid_of() { # program, pid file
  local pid
  pid=$(cat "$2" 2>/dev/null) && [ -n "$pid" ] || return 1
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] || return 1
  ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$pid/status" 2>/dev/null || return 1
  echo "$pid"
}

is_over() { [ ! -d "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null; }

wait_for() { # what, seconds, command…
  local what=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || fail "Waited in vain for $what; see $LOG"
    sleep 0.05
  done
}

stop() { # program, pid file, signal
  local pid
  pid=$(pid_of "$1" "$2") || return 0
  kill "-${3:-TERM}" "$pid" 2>/dev/null || return 0
  for _ in $(seq 200); do
    is_over "$pid" && return 0
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null || true
}

# A mount namespace of its own: what a test hides there is hidden from these processes only. Mounts of the machine arrive.
apart() { unshare --mount --propagation slave -- "$@"; }

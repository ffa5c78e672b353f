#!/usr/bin/env bash
# The whole test cluster, also to try things by hand:
#   bash tests/cluster/support/cluster.sh up      people, Slurm, sshd; what an earlier run left behind goes first
#   sudo -u svcuser -- sudo -n -u alice sbatch …
#   bash tests/cluster/support/cluster.sh down    nothing stays, neither processes nor accounts nor files
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

HERE=$(dirname "${BASH_SOURCE[0]}")
# Outside of BASE, which is removed with all that is in it.
CHECKOUT=/run/service-test-checkout
# one run of the tests at a time has the cluster, and says so to this script by CLUSTER_TURN
LOCK=/run/service-test-cluster.lock

# Accounts of the cluster must read this checkout, which may lie in a folder that only its owner can enter.
show_checkout() {
  mkdir -p "$CHECKOUT"
  mount --bind "$(cd "$HERE/../../.." && pwd)" "$CHECKOUT"
  mount -o remount,bind,ro "$CHECKOUT"
  runuser -u alice -- test -r "$CHECKOUT/package.json" ||
    fail "Accounts of the test cluster cannot read the files of this checkout. Allow it: chmod -R o+rX <checkout>"
}

hide_checkout() {
  while umount -l "$CHECKOUT" 2>/dev/null; do :; done
  if [ -d "$CHECKOUT" ]; then rmdir "$CHECKOUT"; fi
}

restore_programs() {
  local program
  for program in "${PROGRAMS[@]}"; do
    while umount -l "/usr/bin/$program" 2>/dev/null; do :; done
  done
}

# What tests stop and put in the place of programs, as far as it can be seen from outside.
mend() {
  restore_programs
  bash "$HERE/slurm.sh" start-controller
  bash "$HERE/sshd.sh" start
}

# Waits for its turn, says when it has come, and keeps it until the input ends, however the other side ended.
take_turn() { exec flock "$LOCK" sh -c 'echo mine; exec cat >/dev/null'; }

up() {
  down
  install -d "$BASE"
  install -d -o slurm -g slurm "$RUN" "$LOG"
  install -D -t "$REAL" "${PROGRAMS[@]/#//usr/bin/}"
  bash "$HERE/users.sh" up
  show_checkout
  bash "$HERE/slurm.sh" up
  bash "$HERE/sshd.sh" up
}

down() {
  restore_programs
  bash "$HERE/sshd.sh" down
  bash "$HERE/slurm.sh" down
  bash "$HERE/users.sh" down
  hide_checkout
  rm -rf "$BASE"
}

[ "$(id -u)" = 0 ] || fail 'The test cluster needs root: it starts Slurm, sshd and accounts of its own.'
if [[ ${1:-} = up || ${1:-} = down ]] && [ -z "${CLUSTER_TURN:-}" ] && ! flock --nonblock "$LOCK" true; then
  fail 'Tests use the cluster right now. Wait for their end, or set CLUSTER_TURN=1 if the turn is yours.'
fi
case ${1:-} in
  up) up ;;
  down) down ;;
  mend) mend ;;
  take-turn) take_turn ;;
  *) fail 'cluster.sh up | down | mend | take-turn' ;;
esac

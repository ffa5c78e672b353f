#!/usr/bin/env bash
# A real Slurm of four nodes on this machine: munged, slurmctld and a slurmd for each node, with ports of their own.
#   slurm.sh up | down | start-controller | stop-controller | start-node n1 | stop-node n1
# Nodes declare more than the machine has, so that dozens of small jobs run side by side.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

NODES=(n1 n2 n3 n4)
CONFIG=/etc/slurm/slurm.conf
CGROUPS=/sys/fs/cgroup

# Only where cgroup v1 can be written a job over its memory ends as OUT_OF_MEMORY; elsewhere Slurm kills it when it notices.
has_memory_cgroup() {
  mkdir "$CGROUPS/memory/slurm_probe" 2>/dev/null && rmdir "$CGROUPS/memory/slurm_probe" &&
    mkdir "$CGROUPS/freezer/slurm_probe" 2>/dev/null && rmdir "$CGROUPS/freezer/slurm_probe"
}

write_config() {
  local task=task/none track=proctrack/linuxproc over='JobAcctGatherParams=OverMemoryKill' constrain=no
  if has_memory_cgroup; then task=task/cgroup track=proctrack/cgroup over='' constrain=yes; fi
  # named also where it is not used: looking for the right one fails where there is none
  cat >"$BASE/etc/cgroup.conf" <<END
CgroupPlugin=cgroup/v1
CgroupMountpoint=$CGROUPS
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace=$constrain
ConstrainSwapSpace=$constrain
END
  local accounting='AccountingStorageType=accounting_storage/none'
  if [ "$ACCOUNTING" = 1 ]; then
    accounting="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=26819
AccountingStoragePass=$BASE/munge/socket"
  fi
  local host
  host=$(hostname -s)
  # batch_sched_delay=0: otherwise every job waits three seconds
  cat >"$BASE/etc/slurm.conf" <<END
ClusterName=testcluster
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket=$BASE/munge/socket
CredType=cred/munge
MpiDefault=none
ReturnToService=2
SlurmctldPidFile=$RUN/slurmctld.pid
SlurmdPidFile=$RUN/slurmd.%n.pid
SlurmdSpoolDir=$BASE/spool/%n
StateSaveLocation=$BASE/state
SlurmctldLogFile=$LOG/slurmctld.log
SlurmdLogFile=$LOG/slurmd.%n.log
SwitchType=switch/none
TaskPlugin=$task
ProctrackType=$track
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=2,bf_interval=1,bf_continue,default_queue_depth=1000
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
$over
KillWait=2
MinJobAge=300
SlurmctldTimeout=10
SlurmdTimeout=10
SlurmdParameters=config_overrides
$accounting
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[27001-27004] CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE DefMemPerCPU=200 State=UP
PartitionName=small Nodes=n4 MaxTime=INFINITE DefMemPerCPU=200 State=UP
END
  # sudo hands on no SLURM_CONF, so that the file lies where every command looks
  mkdir -p /etc/slurm
  for file in slurm.conf cgroup.conf; do ln -sfn "$BASE/etc/$file" "/etc/slurm/$file"; done
}

start_munge() {
  install -d -m 755 -o munge -g munge "$BASE/munge"
  head -c 128 /dev/urandom >"$BASE/munge/key"
  chown munge:munge "$BASE/munge/key"
  chmod 400 "$BASE/munge/key"
  local at=$BASE/munge
  runuser -u munge -- /usr/sbin/munged --socket="$at/socket" --key-file="$at/key" --pid-file="$at/munged.pid" \
    --log-file="$at/log" --seed-file="$at/seed"
}

answers() { scontrol ping | grep -q 'is UP' && squeue -h; }

start_controller() {
  pid_of slurmctld "$RUN/slurmctld.pid" >/dev/null || slurmctld
  wait_for 'the controller of Slurm' 30 answers
  # it starts no job before it has heard of a node
  for node in "${NODES[@]}"; do
    ! pid_of slurmd "$RUN/slurmd.$node.pid" >/dev/null || wait_for "node $node" 30 is_heard "$node"
  done
}

start_node() {
  pid_of slurmd "$RUN/slurmd.$1.pid" >/dev/null || slurmd -N "$1"
  # one that a test took out of service comes back by this only
  scontrol update nodename="$1" state=resume 2>/dev/null || true
  wait_for "node $1" 30 is_up "$1"
}

is_heard() { ! sinfo -h -n "$1" -p main -o %T | grep -qE '\*|unknown'; }

is_up() { sinfo -h -n "$1" -p main -o %T | grep -qxE 'idle|mixed|allocated'; }

# As a machine that loses power: the daemon, and everything it runs.
stop_node() {
  stop slurmd "$RUN/slurmd.$1.pid" KILL
  local pid
  for pid in $(step_daemons "$1") $(job_processes "$1"); do kill -KILL "$pid" 2>/dev/null || true; done
}

# A step daemon goes on when its node's daemon is killed. It names the node by the log that it has open, and by its cgroup.
step_daemons() {
  local folder program
  for folder in /proc/[0-9]*; do
    # without a process for each of them
    { read -r program <"$folder/comm"; } 2>/dev/null || continue
    [ "$program" = slurmstepd ] || continue
    if readlink "$folder/cwd" "$folder"/fd/* 2>/dev/null | grep -qx "$LOG/slurmd.$1.log" ||
      grep -q "slurm_$1/" "$folder/cgroup" 2>/dev/null; then
      echo "${folder#/proc/}"
    fi
  done
}

job_processes() { grep -slz "^SLURMD_NODENAME=$1$" /proc/[0-9]*/environ | cut -d/ -f3; }

all_idle() { [ "$(sinfo -h -N -p main -o %T | grep -c '^idle$')" = ${#NODES[@]} ]; }

up() {
  [ ! -e "$CONFIG" ] || [ "$(readlink "$CONFIG")" = "$BASE/etc/slurm.conf" ] ||
    fail "$CONFIG belongs to another Slurm on this machine. The tests of the cluster need a machine without one."
  install -d "$BASE/etc" "$BASE/spool"
  install -d -o slurm -g slurm "$RUN" "$LOG" "$BASE/state"
  for node in "${NODES[@]}"; do install -d "$BASE/spool/$node"; done
  write_config
  start_munge
  if [ "$ACCOUNTING" = 1 ]; then bash "$(dirname "$0")/accounting.sh" up; fi
  slurmctld || fail "slurmctld does not start; see $LOG/slurmctld.log"
  for node in "${NODES[@]}"; do slurmd -N "$node" || fail "slurmd does not start; see $LOG/slurmd.$node.log"; done
  wait_for 'four idle nodes' 30 all_idle
}

down() {
  stop slurmctld "$RUN/slurmctld.pid"
  for node in "${NODES[@]}"; do stop_node "$node"; done
  bash "$(dirname "$0")/accounting.sh" down
  stop munged "$BASE/munge/munged.pid"
  for node in "${NODES[@]}"; do
    find "$CGROUPS"/*/"slurm_$node" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  for file in slurm.conf cgroup.conf; do
    if [ "$(readlink "/etc/slurm/$file")" = "$BASE/etc/$file" ]; then rm -f "/etc/slurm/$file"; fi
  done
}

case ${1:-} in
  up) up ;;
  down) down ;;
  start-controller) start_controller ;;
  stop-controller) stop slurmctld "$RUN/slurmctld.pid" "${2:-TERM}" ;;
  start-node) start_node "$2" ;;
  stop-node) stop_node "$2" ;;
  *) fail 'slurm.sh up | down | start-controller | stop-controller [signal] | start-node n1 | stop-node n1' ;;
esac

#!/usr/bin/env bash
# An sshd of the test cluster's own, on a high port of the loopback address: alice and bob log in, each with a key.
#   sshd.sh up | down | start | stop
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

AT=$BASE/ssh

start() {
  pid_of sshd "$RUN/sshd.pid" >/dev/null || apart /usr/sbin/sshd -f "$AT/sshd_config" -E "$LOG/sshd"
  wait_for sshd 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$SSH_PORT"
}

up() {
  # sshd refuses to start without this folder
  install -d -m 755 /run/sshd "$AT" "$AT/authorized"
  ssh-keygen -q -t ed25519 -N '' -f "$AT/hostkey"
  for name in alice bob; do
    ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$AT/$name"
    # the service logs in with them
    chown svcuser "$AT/$name"
    cp "$AT/$name.pub" "$AT/authorized/$name"
  done
  cat >"$AT/sshd_config" <<END
ListenAddress 127.0.0.1:$SSH_PORT
HostKey $AT/hostkey
PidFile $RUN/sshd.pid
AuthorizedKeysFile $AT/authorized/%u
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
AllowUsers alice bob
MaxSessions 10
MaxStartups 100:30:200
LogLevel VERBOSE
Subsystem sftp /usr/lib/openssh/sftp-server
END
  printf '[127.0.0.1]:%s %s\n' "$SSH_PORT" "$(cut -d' ' -f1,2 "$AT/hostkey.pub")" >"$AT/known_hosts"
  start
}

# Its connections are processes of their own, which outlive the one that listens.
connections() {
  local -a all=() next
  mapfile -t next < <(pgrep -P "$1" || true)
  while [ ${#next[@]} -gt 0 ]; do
    all+=("${next[@]}")
    mapfile -t next < <(pgrep -P "$(IFS=,; echo "${next[*]}")" -x sshd || true)
  done
  printf '%s\n' "${all[@]}"
}

signal_connections() {
  local pid
  pid=$(pid_of sshd "$RUN/sshd.pid") || return 0
  for one in $(connections "$pid"); do kill "-$1" "$one" 2>/dev/null || true; done
}

halt() {
  local pid all
  pid=$(pid_of sshd "$RUN/sshd.pid") || return 0
  all=$(connections "$pid")
  stop sshd "$RUN/sshd.pid"
  for one in $all; do kill -KILL "$one" 2>/dev/null || true; done
}

case ${1:-} in
  up) up ;;
  down | stop) halt ;;
  start) start ;;
  signal-connections) signal_connections "$2" ;;
  *) fail 'sshd.sh up | down | start | stop | signal-connections SIGNAL' ;;
esac

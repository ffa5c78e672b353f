#!/usr/bin/env bash
# The people of the test cluster: svcuser, whose account the service has, and alice and bob, for whom it acts.
#   users.sh up | down
# Through sudo svcuser may run as them what the service needs at least, and nothing else. Every such command is logged.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

description_of() { getent passwd "$1" | cut -d: -f5; }

# Their shell: Bash, with each command that came by ssh written down before it runs, as "<user> <command>\0".
write_login_shell() {
  install -d "$BASE/bin"
  install -m 622 /dev/null "$LOG/ssh-commands"
  cat >"$BASE/bin/login-shell" <<END
#!/bin/sh
export SHELL=/bin/bash
[ "\$1" = -c ] || exec /bin/bash -l
[ -z "\$SSH_CONNECTION" ] || printf '%s %s\\0' "\$USER" "\$2" >>$LOG/ssh-commands
exec /bin/bash "\$@"
END
  chmod 755 "$BASE/bin/login-shell"
}

add_account() {
  local shell=/bin/bash
  [ "$1" = svcuser ] || shell=$BASE/bin/login-shell
  install -d "$BASE/home"
  useradd --create-home --home-dir "$BASE/home/$1" --shell "$shell" --comment "$MARK" "$1"
  # no password, yet not locked: a locked account may not log in by key either
  usermod -p '*' "$1"
  chmod 700 "$BASE/home/$1"
}

up() {
  for name in "${ACCOUNTS[@]}"; do
    ! getent passwd "$name" >/dev/null || fail "There is an account '$name' on this machine already, which the tests need for themselves."
  done
  getent group "$GROUP" >/dev/null || groupadd "$GROUP"
  write_login_shell
  for name in "${ACCOUNTS[@]}"; do add_account "$name"; done
  for name in alice bob; do usermod -aG "$GROUP" "$name"; done
  local draft=$BASE/sudoers
  cat >"$draft" <<END
Defaults:svcuser !lecture, !syslog, logfile=$LOG/sudo, loglinelen=0
svcuser ALL=(%$GROUP) NOPASSWD: /usr/bin/mkdir, /usr/bin/sbatch, /usr/bin/scancel, /usr/bin/cat
END
  visudo -cqf "$draft"
  install -m 440 "$draft" "$SUDOERS"
}

down() {
  rm -f "$SUDOERS"
  for name in "${ACCOUNTS[@]}"; do
    [ "$(description_of "$name")" = "$MARK" ] || continue
    # what such an account still runs was left over by a test
    for pid in $(ps -o pid= -u "$name"); do kill -KILL "$pid" 2>/dev/null || true; done
    userdel --force "$name" 2>/dev/null
  done
  ! getent group "$GROUP" >/dev/null || groupdel "$GROUP"
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *) fail 'users.sh up | down' ;;
esac

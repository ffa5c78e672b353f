#!/usr/bin/env bash
# The accounting of the test cluster, so that sacct answers: MariaDB and slurmdbd, in folders and with ports of their own.
#   accounting.sh up | down
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

DATA=$BASE/mariadb
SOCKET=$DATA/socket
PASSWORD=slurm

sql() { mariadb --socket="$SOCKET" -e "$1"; }

up() {
  install -d -o mysql -g mysql "$DATA"
  mariadb-install-db --no-defaults --user=mysql --datadir="$DATA/data" --auth-root-authentication-method=socket \
    --skip-test-db >"$LOG/mariadb-install.log" 2>&1
  nohup mariadbd --no-defaults --user=mysql --datadir="$DATA/data" --socket="$SOCKET" --pid-file="$DATA/mariadbd.pid" \
    --bind-address=127.0.0.1 --port=23306 --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
    >"$LOG/mariadbd.log" 2>&1 </dev/null &
  wait_for MariaDB 60 sql 'select 1'
  sql "create database slurm_acct_db; create user 'slurm'@'%' identified by '$PASSWORD'; grant all on slurm_acct_db.* to 'slurm'@'%';"
  # slurmdbd refuses any other owner and mode
  install -m 600 -o slurm -g slurm /dev/null "$BASE/etc/slurmdbd.conf"
  cat >"$BASE/etc/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$BASE/munge/socket
DbdHost=localhost
DbdPort=26819
SlurmUser=slurm
LogFile=$LOG/slurmdbd.log
PidFile=$RUN/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=23306
StorageUser=slurm
StoragePass=$PASSWORD
StorageLoc=slurm_acct_db
END
  ln -sfn "$BASE/etc/slurmdbd.conf" /etc/slurm/slurmdbd.conf
  slurmdbd
  wait_for slurmdbd 60 sacctmgr -n show cluster
  sacctmgr -i add cluster testcluster >/dev/null
}

down() {
  stop slurmdbd "$RUN/slurmdbd.pid"
  stop mariadbd "$DATA/mariadbd.pid"
  if [ "$(readlink /etc/slurm/slurmdbd.conf)" = "$BASE/etc/slurmdbd.conf" ]; then rm -f /etc/slurm/slurmdbd.conf; fi
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *) fail 'accounting.sh up | down' ;;
esac

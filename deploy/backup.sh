#!/bin/sh
# backup.sh FOLDER: brings a copy of the data folder and of the database in FOLDER up to date, while the service runs.
#
# Files come before the database and again after it, and none is removed from the copy: whatever the database of the backup
# names is there, also when a job ended meanwhile and took its files along. What files know beyond the database, the service
# reads when it starts.
#
# Needs rsync and pg_dump, and the settings of the service: SERVICE_DATA_DIR, POSTGRES_DB, POSTGRES_HOST and so on.
set -eu
to=${1:?Give the folder of the backup: backup.sh FOLDER}
data=${SERVICE_DATA_DIR:?Set SERVICE_DATA_DIR, as the service has it.}
: "${POSTGRES_DB:?Set POSTGRES_DB, as the service has it. With the embedded database, stop the service and copy the data folder.}"
export PGHOST="${POSTGRES_HOST:-localhost}" PGPORT="${POSTGRES_PORT:-5432}" PGDATABASE="$POSTGRES_DB"
if [ -n "${POSTGRES_USER:-}" ]; then export PGUSER="$POSTGRES_USER"; fi
if [ -n "${POSTGRES_PASSWORD:-}" ]; then export PGPASSWORD="$POSTGRES_PASSWORD"; fi

copy_files() {
  # what is made again when it is missing stays out
  rsync --archive --exclude=/incoming --exclude=/warm --exclude=/pictures --exclude=/tables "$data/" "$to/data/" || {
    code=$?
    # 24: files vanished while they were copied, as those of a job that ends do
    [ "$code" -eq 24 ] || exit "$code"
  }
}

umask 077
mkdir -p "$to/data"
copy_files
pg_dump --format=custom --file="$to/database.dump.new"
copy_files
mv "$to/database.dump.new" "$to/database.dump"
echo "The backup in $to is complete."

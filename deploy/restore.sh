#!/bin/sh
# restore.sh FOLDER: fills an empty database and an empty data folder from a backup that backup.sh made. The service must not
# run meanwhile. Paths are part of the data, so SERVICE_DATA_DIR is the same as before.
#
# Needs rsync, psql and pg_restore, and the settings of the service, as backup.sh does.
set -eu
from=${1:?Give the folder of the backup: restore.sh FOLDER}
data=${SERVICE_DATA_DIR:?Set SERVICE_DATA_DIR, as the service had it.}
: "${POSTGRES_DB:?Set POSTGRES_DB: the empty database to fill.}"
export PGHOST="${POSTGRES_HOST:-localhost}" PGPORT="${POSTGRES_PORT:-5432}" PGDATABASE="$POSTGRES_DB"
if [ -n "${POSTGRES_USER:-}" ]; then export PGUSER="$POSTGRES_USER"; fi
if [ -n "${POSTGRES_PASSWORD:-}" ]; then export PGPASSWORD="$POSTGRES_PASSWORD"; fi

if [ ! -f "$from/database.dump" ]; then
  echo "There is no complete backup in $from: it has no database.dump." >&2
  exit 1
fi
if [ -n "$(ls -A "$data" 2>/dev/null)" ]; then
  echo "$data is not empty. Move it away, so that nothing is mixed up or lost." >&2
  exit 1
fi
tables=$(psql --no-psqlrc --tuples-only --no-align --command="select count(*) from pg_tables where schemaname = 'public'")
if [ "$tables" -ne 0 ]; then
  echo "The database $POSTGRES_DB is not empty. Create a new one and name it in POSTGRES_DB." >&2
  exit 1
fi
pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname="$POSTGRES_DB" "$from/database.dump"
mkdir -p "$data"
rsync --archive "$from/data/" "$data/"
echo "The backup in $from is restored. Start the service."

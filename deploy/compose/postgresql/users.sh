#!/bin/sh
# Run once by the image of PostgreSQL: deneb may make schemas in the database history, grafana may read what is in it.
set -eu
export SECRETS="${SECRETS:-/run/secrets}"
psql --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" --no-psqlrc --quiet --set ON_ERROR_STOP=1 <<'SQL'
\set deneb `cat "$SECRETS/deneb-password"`
\set grafana `cat "$SECRETS/grafana-reader-password"`
CREATE EXTENSION IF NOT EXISTS postgis;
CREATE ROLE deneb LOGIN PASSWORD :'deneb';
CREATE ROLE grafana LOGIN PASSWORD :'grafana';
GRANT CONNECT, CREATE ON DATABASE :"DBNAME" TO deneb;
GRANT pg_read_all_data TO grafana;
SQL

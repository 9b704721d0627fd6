#!/bin/sh
# Patroni calls this once, with the connection string of the new cluster: it makes the
# user and the database of nomen. NOMEN_PASSWORD is in the environment of Patroni.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$NOMEN_PASSWORD" "$1" <<SQL
create role nomen login password :'password';
create database names owner nomen;
SQL

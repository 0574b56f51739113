# Runs one server until standard input ends: when the starter ends, however it ends, the server ends too.
# usage: sh supervisor.sh BIN FOLDER PORT [setting …]
# Each line of standard input is a command: `stop` ends the server at once, as pg_ctl -m immediate does, and `start` starts
# it again on the same data. A line of standard output answers each.
# A file FOLDER/primary makes the server a standby of that address.
trap '' INT TERM HUP
bin=$1 folder=$2 port=$3
shift 3
if [ -e "$folder/primary" ]; then
    "$bin/pg_basebackup" -D "$folder/data" -d "$(cat "$folder/primary")" -R -X stream -c fast --no-sync \
        >"$folder/initdb.log" 2>&1 || exit 1
else
    "$bin/initdb" -D "$folder/data" -U florin -E UTF8 --locale=C --no-sync --auth=scram-sha-256 \
        --pwfile="$folder/password" >"$folder/initdb.log" 2>&1 || exit 1
fi
set -- "$@" -c "port=$port" -c "unix_socket_directories=$folder" -c listen_addresses=127.0.0.1
"$bin/postgres" -D "$folder/data" "$@" >"$folder/server.log" 2>&1 &
server=$!
while read -r command; do
    case $command in
    stop)
        "$bin/pg_ctl" -D "$folder/data" -m immediate -W stop >>"$folder/server.log" 2>&1
        wait "$server" 2>/dev/null
        ;;
    start)
        "$bin/postgres" -D "$folder/data" "$@" >>"$folder/server.log" 2>&1 &
        server=$!
        ;;
    esac
    echo "$command"
done
kill -QUIT "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf "$folder"

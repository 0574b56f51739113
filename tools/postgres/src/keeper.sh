# Runs one server until standard input ends: when the starter ends, however it ends, the server ends too.
# usage: sh keeper.sh BIN FOLDER PORT [setting …]
trap '' INT TERM HUP
bin=$1 folder=$2 port=$3
shift 3
"$bin/initdb" -D "$folder/data" -U florin -E UTF8 --locale=C --no-sync --auth=scram-sha-256 \
    --pwfile="$folder/password" >"$folder/initdb.log" 2>&1 || exit 1
set -- "$@" -c "port=$port" -c "unix_socket_directories=$folder" -c listen_addresses=127.0.0.1
"$bin/postgres" -D "$folder/data" "$@" >"$folder/server.log" 2>&1 &
server=$!
cat >"$folder/stopped"
kill -QUIT "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf "$folder"

# What is put before the README's five minutes where a script does them: another port, no keyring, and no hands
# that type the passphrase. ADDRESS is the server's, SERVER its program.
set -euo pipefail
cairn() {
    if [ "$1" = login ]; then
        shift
        set -- login --secrets file --passphrase-file "$HOME/passphrase" "$@"
    fi
    command cairn "$@"
}
cairn-server() {
    if [ "$1" = --data ]; then
        set -- --listen "$ADDRESS" "$@"
        exec "$SERVER" "$@"
    fi
    command cairn-server "$@"
}
sleep() {
    until (: < "/dev/tcp/${ADDRESS%:*}/${ADDRESS#*:}") 2> /dev/null; do
        kill -0 "$!" || return 1
        command sleep 0.05
    done
}
end() {
    CAIRN_HOME=$HOME/second-device command cairn stop || true
    env -u CAIRN_HOME cairn stop || true
    kill "$server" && wait "$server" || true
}

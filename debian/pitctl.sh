#!/bin/sh
# People's commands of the pit, of the version that this file belongs to. The ledger is the account table-pit's: root
# becomes that account first. Which ledger that is, and where its password lies, the service's own file says. The file
# `environment.people` beside it has the last word: in a database people have a role of their own.
here=$(dirname "$(readlink -f "$0")")
said() { # as systemd reads the line: with blanks around it, and in quotes of either kind
    sed -n "s/^[[:blank:]]*$1=[\"']\{0,1\}\([^\"'[:blank:]]*\)[\"']\{0,1\}[[:blank:]]*\$/\1/p" \
        /etc/table-pit/environment /etc/table-pit/environment.people 2>/dev/null | tail -n 1
}
for name in LEDGER PGPASSFILE; do
    value=$(said $name)
    [ -z "$value" ] || export "$name=$value"
done
if [ "$(id -u)" -eq 0 ]; then exec runuser -u table-pit -- "$here/python3" -I -m controller.pit.reference "$@"; fi
exec "$here/python3" -I -m controller.pit.reference "$@"

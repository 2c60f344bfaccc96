#!/bin/sh
# People's commands of the pit, of the version that this file belongs to. The ledger is the account table-pit's: root
# becomes that account first.
here=$(dirname "$(readlink -f "$0")")
if [ "$(id -u)" -eq 0 ]; then exec runuser -u table-pit -- "$here/python3" -I -m controller.pit "$@"; fi
exec "$here/python3" -I -m controller.pit "$@"

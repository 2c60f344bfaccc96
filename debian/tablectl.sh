#!/bin/sh
# The version that this file belongs to, whatever link it was called by.
here=$(dirname "$(readlink -f "$0")")
exec "$here/python3" -I -m controller.people.cli.main "$@"

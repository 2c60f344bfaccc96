#!/bin/bash
# tools/setup.sh demo|dev|docs makes .venv and installs exactly what requirements/*.lock names, checked by hash.
# What it needs from Debian it installs itself when run by root; otherwise it names the one command to run, and stops.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-}
[[ $profile =~ ^(demo|dev|docs)$ ]] || { echo "usage: tools/setup.sh demo|dev|docs" >&2; exit 2; }
PATH=$PATH:/usr/sbin  # Debian keeps Mosquitto there, where an ordinary user's PATH does not look

has() { command -v "$1" >/dev/null; }
python_can() { python3 -c "$1" 2>/dev/null; }
stop() { printf '%s\n' "$@" >&2; exit 1; }

# The Debian packages this profile needs and the machine lacks.
missing() {
    python_can 'import ensurepip, venv' || echo python3-venv
    case $profile in demo | dev) has mosquitto || echo mosquitto ;; esac
    case $profile in dev)  # RPi.GPIO comes as source, and the tests compile a stand-in for the chip under it
        has gcc || echo gcc libc6-dev
        python_can 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' || echo python3-dev ;;
    esac
    case $profile in dev)  # the tests look at the screen's pages, in each language
        has chromium || echo chromium fonts-liberation
        has chromedriver || echo chromium-driver ;;
    esac
    case $profile in dev)  # a pit's ledger can be kept there
        compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo postgresql ;;
    esac
    case $profile in dev) has node || echo nodejs ;; esac  # the tests run the page that judges evidence
    case $profile in dev) has zbarimg || echo zbar-tools ;; esac  # reads the checkpoint from the screen
    case $profile in dev) has spin || echo spin ;; esac  # explores the delivery's second statement
    case $profile in dev) has promtool || echo prometheus ;; esac  # the tests play the alert rules
    case $profile in dev)  # the tests hold the table to the filter that its unit sets
        has systemd-analyze || echo systemd
        python_can 'import ctypes; ctypes.CDLL("libseccomp.so.2")' || echo libseccomp2 ;;
    esac
}

packages=$(missing | xargs)
if [[ -n $packages ]]; then
    has apt-get || stop "This machine lacks what Debian calls: $packages" "Install it, then run the same command again."
    [[ $(id -u) == 0 ]] || stop "This machine lacks some of Debian's packages. Install them, then run the same command again:" \
        "  sudo apt-get update && sudo apt-get install -y $packages"
    echo "Installing from Debian: $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    apt-get install -y -qq --no-install-recommends $packages >/dev/null
    [[ $packages != *mosquitto* ]] || echo "Debian also starts a broker of its own on port 1883: nothing here uses it."
    [[ $packages != *prometheus* ]] || echo "Debian also starts a Prometheus of its own on port 9090: nothing here uses it."
    [[ -z $(missing) ]] || stop "Still missing after the installation: $(missing | xargs)"
fi
python_can 'import sys; assert sys.version_info >= (3, 11) and sys.maxsize > 2**32' ||
    stop "A 64-bit Python 3.11 or newer is needed; this is $(python3 --version)." "Debian 12 and the 64-bit Raspberry Pi OS have it."

echo "Setting up .venv ($profile), once: it takes 10 to 60 seconds."
# So that a demo never needs a compiler, everything in it must come as a wheel.
case $profile in
    demo | docs) wheels=(--only-binary :all:) ;;
    dev) wheels=() ;;
esac
python3 -m venv .venv
pip() { .venv/bin/python -m pip --disable-pip-version-check --no-input "$@"; }
# On a terminal one line tells how far pip has got; a log gets none of that.
progress() {
    local of=$1 count=0 word name
    while read -r word name _; do
        [[ $word == Collecting || $word == Requirement ]] && count=$((count + 1))
        [[ $word == Installing ]] && name="putting them in place"
        if [[ -t 1 && $word =~ ^(Collecting|Installing) ]]; then printf '\r\033[K  package %d of %d: %s' "$count" "$of" "${name%%[=;]*}"; fi
    done
    if [[ -t 1 ]]; then printf '\r\033[K'; fi
}
install() { pip install --require-hashes "$@" | progress "$(grep -c '^[a-z].*==' "${@: -1}")"; }
# Setuptools comes first, from its own lock: an isolated build would fetch one that nobody checked.
install --only-binary :all: -r requirements/build.lock
install "${wheels[@]}" --no-build-isolation --use-pep517 -r "requirements/$profile.lock"
# axe-core, which looks at the pages in the tests, comes in a package whose other parts nobody needs.
[[ $profile != dev ]] || install --no-deps --only-binary :all: -r requirements/axe.lock
pip --quiet install --no-deps --no-build-isolation --editable . # the project is run where it lies

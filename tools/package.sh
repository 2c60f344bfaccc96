#!/bin/bash
# tools/package.sh [RELEASE...] makes the Debian packages of this working copy in dist/ (or DIST): for each release of Debian
# (default: bookworm trixie) one for amd64 and one for arm64, with the list of what is inside (CycloneDX) beside each,
# and the digests of all in SHA256SUMS, signed where SIGN names a key of gpg's. ARCHITECTURES chooses others.
#
# Everything is fetched first, checked by hash against requirements/*.lock. Then each package is made in a clean Debian
# of its release, without network. The same commit makes the same bytes. Needs root (or a user who may map user ids).
set -euo pipefail
cd "$(dirname "$0")/.."
releases=(${@:-bookworm trixie})
architectures=(${ARCHITECTURES:-amd64 arm64})
declare -A python=([bookworm]=3.11 [trixie]=3.13) debian=([bookworm]=deb12 [trixie]=deb13)
declare -A platform=([amd64]=x86_64-unknown-linux-gnu [arm64]=aarch64-unknown-linux-gnu)
cross=gcc-aarch64-linux-gnu # this machine is amd64
bin=$PWD/.venv/bin
work=$PWD/build/package
roots=$PWD/build/roots
dist=${DIST:-$PWD/dist}

for each in "${releases[@]}"; do
    [[ -n ${debian[$each]-} ]] || { echo "No package is made for $each. There are: ${!debian[*]}" >&2; exit 2; }
done
for each in "${architectures[@]}"; do
    [[ -n ${platform[$each]-} ]] || { echo "No package is made for $each. There are: ${!platform[*]}" >&2; exit 2; }
done
missing=$(for each in mmdebstrap:mmdebstrap dpkg-deb:dpkg gpg:gnupg; do command -v "${each%:*}" >/dev/null || echo "${each#*:}"; done | xargs)
[[ -z $missing ]] || { echo "Install first: sudo apt-get install -y $missing" >&2; exit 1; }

version=$("$bin/python" -c 'import controller; print(controller.__version__)')
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

# What is done now, for a person at a terminal: the whole takes minutes.
step() { [[ ! -t 2 ]] || echo "[$SECONDS s] $*" >&2; }

# The lines of one locked package, its hashes included.
locked() { awk -v name="$2" '/^[^ #]/ { on = index($0, name "==") == 1 } on' "requirements/$1.lock"; }
uv() { "$work/tools/bin/uv" --quiet --no-config "$@"; }
pip() { "$bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

# What a package holds, as CycloneDX. The tool asks a Python for its folders; here it is told those of the package.
inside() {
    rm -rf "$work/inside"
    dpkg-deb -x "$1" "$work/inside"
    python3 -c 'import json, sys; print("#!/bin/sh\necho \x27" + json.dumps(sys.argv[1:]) + "\x27")' \
        "$work"/inside/usr/lib/table-controller/*/{lib/python3*/site-packages,pins/*} > "$work/folders"
    chmod +x "$work/folders"
    "$work/tools/bin/cyclonedx-py" environment --output-reproducible "$work/folders"
}

mkdir -p "$roots" "$dist"
exec {lock}>build/package.lock
flock --nonblock "$lock" || { echo "Waiting until another run has made its packages here"; flock "$lock"; }
rm -rf "$work"
mkdir -p "$work/wheel" "$work/sources"
step "Fetching the tools of requirements/package.lock"
python3 -m venv "$work/tools"
"$work/tools/bin/python" -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements/package.lock
step "Making the wheel"
pip wheel --no-deps --no-build-isolation --wheel-dir "$work/wheel" .
rm -rf build/lib build/bdist.*
step "Fetching the pin libraries"
for each in pi:rpi-gpio pi5:lgpio; do
    locked "${each%:*}" "${each#*:}" > "$work/sources/lock"
    # Their build tools are those of .venv, which the lock holds: without them pip would fetch others, unchecked.
    pip download --no-deps --no-build-isolation --no-binary :all: --require-hashes --dest "$work/sources" -r "$work/sources/lock"
done
locked pi5 rpi-lgpio > "$work/sources/lock"
pip download --no-deps --only-binary :all: --require-hashes --dest "$work/sources" -r "$work/sources/lock"

for release in "${releases[@]}"; do
    tree=$work/$release/table-controller
    mkdir -p "$tree/vendor/pins/rpi_gpio" "$tree/vendor/pins/rpi_lgpio"
    git ls-files -z debian systemd config docs README.md CHANGELOG.md LICENSE THIRD_PARTY.md | xargs -0 cp --parents -Lt "$tree"
    printf '%s\n' "$version" > "$tree/vendor/version"
    sed -i "s/@VERSION@/$version/" "$tree/debian/postinst"
    printf 'table-controller (%s~%s) %s; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- Table Controller <table-controller@example.org>  %s\n' \
        "$version" "${debian[$release]}" "$release" "$(date -R -d "@$SOURCE_DATE_EPOCH")" > "$tree/debian/changelog"
    tar xf "$work"/sources/RPi*.tar.gz -C "$tree/vendor/pins/rpi_gpio"
    tar xf "$work"/sources/lgpio*.tar.gz -C "$tree/vendor/pins/rpi_lgpio"
    cp "$work"/sources/rpi_lgpio*.whl "$tree/vendor/pins/rpi_lgpio"
    for program in tablectl pitctl; do
        "$bin/$program" manual > "$tree/vendor/$program.1"
        "$bin/$program" manual --completion bash > "$tree/vendor/$program.bash"
        "$bin/$program" manual --completion zsh > "$tree/vendor/_$program"
        "$bin/$program" manual --completion fish > "$tree/vendor/$program.fish"
    done
    for architecture in "${architectures[@]}"; do
        step "Fetching the libraries for $release on $architecture"
        into=$tree/vendor/$architecture
        uv pip install --target "$into/site-packages" --python-platform "${platform[$architecture]}" \
            --python-version "${python[$release]}" --only-binary :all: --require-hashes -r requirements/demo.lock -r requirements/postgresql.lock
        uv pip install --target "$into/site-packages" --no-deps "$work"/wheel/*.whl
        rm -rf "$into"/site-packages/{bin,share,.lock} "$into"/site-packages/*.dist-info/{direct_url.json,uv_cache.json,RECORD}
    done

    root=$roots/$release
    [[ -e $root ]] || {
        step "Making a clean Debian $release to build in: once, some minutes"
        libraries=libc6-dev:amd64,libc6-dev:arm64,libpython3-dev:amd64,libpython3-dev:arm64
        mmdebstrap --quiet --variant=apt --format=directory --architectures=amd64,arm64 \
            --include="debhelper,lintian,python3,python3-setuptools,python3-wheel,swig,gcc,$cross,$libraries" \
            "$release" "$root.new" ${MIRROR:+"$MIRROR"} # without one, mmdebstrap knows the release's own
        mv "$root.new" "$root"
    }
    for architecture in "${architectures[@]}"; do
        step "Making the package for $release on $architecture"
        clean=$work/$release/$architecture
        mkdir -p "$clean"/{root,over/build,work}
        cp -a "$tree" "$clean/over/build/"
        # Without network, as whoever builds it anew may have none; on top of the clean Debian, which stays clean.
        unshare --net --mount --pid --fork --kill-child sh -euc '
            mount -t overlay overlay -o "lowerdir=$0,upperdir=$1/over,workdir=$1/work" "$1/root"
            mount --bind /dev "$1/root/dev"; mount -t proc proc "$1/root/proc"
            exec chroot "$1/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C TZ=UTC \
                SOURCE_DATE_EPOCH="$2" DEB_BUILD_OPTIONS="nocheck noautodbgsym" sh -euc "
                cd /build/table-controller
                dpkg-buildpackage --build=binary --no-sign --host-arch $3 -d >/build/log 2>&1 || { tail -50 /build/log; exit 1; }
                lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file /build/*.changes"
            ' "$root" "$clean" "$SOURCE_DATE_EPOCH" "$architecture"
        step "Listing what is inside"
        inside "$clean"/over/build/*.deb > "$dist/table-controller_${version}~${debian[$release]}_$architecture.cdx.json"
        mv "$clean"/over/build/*.deb "$dist/"
    done
done

cd "$dist"
sha256sum -- *.deb *.cdx.json > SHA256SUMS
rm -f SHA256SUMS.asc
if [[ -n ${SIGN:-} ]]; then
    gpg --batch --yes --local-user "$SIGN" --armor --detach-sign --output SHA256SUMS.asc SHA256SUMS
else
    echo "The digests are not signed. To sign them: make package SIGN=KEY"
fi
ls -1

#!/bin/bash
# tools/repository.sh FOLDER KEY makes of a folder of packages an apt repository, signed with this key of gpg's. Run it
# again when a package was added or removed. The folder is then served by any web server.
set -euo pipefail
[[ $# == 2 && -d $1 ]] || { echo "usage: tools/repository.sh FOLDER KEY" >&2; exit 2; }
command -v apt-ftparchive >/dev/null || { echo "Install first: sudo apt-get install -y apt-utils" >&2; exit 1; }
cd "$1"
key=$2
declare -A release=([deb12]=bookworm [deb13]=trixie)

rm -rf dists
for suffix in "${!release[@]}"; do
    name=${release[$suffix]}
    for architecture in amd64 arm64; do
        index=dists/$name/main/binary-$architecture
        mkdir -p "$index" "pool/$name"
        find . -maxdepth 1 -name "*~${suffix}_*.deb" -exec mv -t "pool/$name" {} +
        apt-ftparchive --arch "$architecture" packages "pool/$name" > "$index/Packages"
        gzip --keep --no-name "$index/Packages"
    done
    apt-ftparchive -o APT::FTPArchive::Release::Suite="$name" -o APT::FTPArchive::Release::Codename="$name" \
        -o APT::FTPArchive::Release::Components=main -o APT::FTPArchive::Release::Architectures="amd64 arm64" \
        release "dists/$name" > Release.new
    mv Release.new "dists/$name/Release"
    gpg --batch --yes --local-user "$key" --clearsign --output "dists/$name/InRelease" "dists/$name/Release"
done
gpg --batch --yes --export "$key" > table-controller.gpg
echo "$PWD is a repository; table-controller.gpg in it is the key that tables trust."

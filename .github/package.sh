#!/usr/bin/env bash
# usage: package.sh PROGRAMS TARGET ARCHIVES : packs both programs, from a folder, for a target
#
# Makes ARCHIVES/NAME-vVERSION-TARGET.tar.gz and its .sha256, as `cargo binstall` (the manifests'
# metadata) and install.sh expect them. The version is that of the workspace; a tag must be its own.
set -euo pipefail
programs=$1 target=$2 archives=$3
root=$(cd "$(dirname "$0")/.." && pwd)

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
if [ "${GITHUB_REF_TYPE:-}" = tag ] && [ "$GITHUB_REF_NAME" != "v$version" ]; then
    echo "the tag is $GITHUB_REF_NAME, but the version in Cargo.toml is $version" >&2
    exit 1
fi
suffix=
case $target in *-windows-*) suffix=.exe ;; esac

# On Macs, sha256sum has another name.
sum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

mkdir -p "$archives"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in snapshot-test snapshot-verify; do
    folder=$name-v$version-$target
    mkdir "$work/$folder"
    cp "$programs/$name$suffix" "$root/README.md" "$root"/LICENSE-* "$work/$folder"
    tar -czf "$archives/$folder.tar.gz" -C "$work" "$folder"
    (cd "$archives" && sum "$folder.tar.gz" >"$folder.tar.gz.sha256")
    echo "$archives/$folder.tar.gz"
done

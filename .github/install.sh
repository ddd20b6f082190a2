#!/usr/bin/env bash
# usage: install.sh VERSION FOLDER : puts a released snapshot-test into a folder
#
# VERSION is 0.1.0 or v0.1.0. SNAPSHOT_RELEASES is where releases are, if not on GitHub.
set -euo pipefail
version=v${1#v} folder=$2
releases=${SNAPSHOT_RELEASES:-https://github.com/snapshot-linearizability/snapshot/releases/download}

suffix=
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64) target=aarch64-unknown-linux-musl ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc suffix=.exe ;;
*)
    echo "no binary for $(uname -s) on $(uname -m): cargo install snapshot-test compiles one" >&2
    exit 1
    ;;
esac

sum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

name=snapshot-test-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$name.tar.gz" "$name.tar.gz.sha256"; do
    curl --fail --silent --show-error --location --retry 3 \
        --output "$work/$file" "$releases/$version/$file"
done
(cd "$work" && sum --check --status "$name.tar.gz.sha256") || {
    echo "$name.tar.gz: the digest is wrong" >&2
    exit 1
}
tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$folder"
cp "$work/$name/snapshot-test$suffix" "$folder"

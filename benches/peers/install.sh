#!/bin/sh
# Installs the peers that are programs: Spin, and the C compiler that its verifiers
# need. For Debian and its relatives; needs to be root. The peers that are libraries
# come with `cargo build`.
set -eu
apt-get update
apt-get install --yes --no-install-recommends spin gcc libc6-dev
spin -V

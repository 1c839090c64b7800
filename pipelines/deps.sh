#!/bin/sh
# deps.sh - install what is missing, on Debian.  `deps.sh DIR` also makes DIR, a
# Python environment with OpenVINO, the oracle of the tests.  It says in a line what it installs; what apt-get and pip say is
# in install.log of the build directory.
set -eu
log=${B:-build}/install.log

packages="gcc make pkg-config libxml2-dev libjansson-dev libmsgpack-dev libopenblas-dev
	ocl-icd-opencl-dev opencl-headers pocl-opencl-icd libdnnl-dev libxxhash-dev libmetis-dev libscotch-dev
	coinor-libclp-dev liblzma-dev zlib1g-dev libzstd-dev xz-utils"
[ $# -eq 0 ] || packages="$packages bats python3-venv ca-certificates chromium zstd
	man-db parallel ${CI:+slurmctld slurmd slurm-client munge}"     # daemons are not for people's machines

{ command -v dpkg-query && command -v apt-get; } > /dev/null || {
	echo "deps.sh: error: this is no Debian; install what these packages of Debian hold, then make DEPS=: ..." >&2
	echo "$packages" | tr -s '\n\t ' '   ' >&2
	exit 1
}

# quietly WHAT COMMAND...: what it says is in the log, and its end on standard error when it fails
quietly() {
	what=$1
	shift
	mkdir -p "${log%/*}"
	if ! "$@" >>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "deps.sh: error: cannot install $what; see '$log'" >&2
		exit 1
	fi
}

missing=
for p in $packages; do
	dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed ||
		missing="$missing $p"
done
if [ -n "$missing" ]; then
	echo "installing$missing" | fold -s -w 100 >&2
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo > /dev/null || {
			echo "deps.sh: error: packages are missing, and here is neither root nor sudo to install them; ask for" \
				"'apt-get install --no-install-recommends$missing', or build with what is there: make DEPS=:" >&2
			exit 1
		}
		as_root=sudo
	fi
	quietly 'the list of packages' $as_root apt-get update -qq
	# shellcheck disable=SC2086
	quietly "$(echo $missing)" $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

[ $# -eq 1 ] || exit 0
if ! "$1/bin/python" -c 'import openvino, numpy, msgpack, xxhash' 2>/dev/null; then
	echo "installing OpenVINO, numpy, msgpack and xxhash for Python into $1" >&2
	quietly 'a Python environment' python3 -m venv "$1"
	quietly 'OpenVINO' "$1/bin/pip" -q install 'openvino==2026.4.*' numpy msgpack xxhash
fi

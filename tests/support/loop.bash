# loop.bash - a small training loop for the tests: loaded, behind common.bash, by loop.bats and
# the tests of its stages.

loop_setup_file() {
	common_setup_file
	export MODELS=$ROOT/tests/models
	ir2dag "$MODELS/alexnet.xml" | dagfeat --paper > feat.mp
	devsim --probe < feat.mp > in.mp
}

# Small networks keep a loop of a few episodes under a second.  The policy draws groups: with costs there
# would be moves instead (costs.bats).
GPN="--hidden 16 --threads 1 --no-costs"
LEARN="--episodes 4 --steps 5 --threads 2"

# loop IN OUT - gpnembed $GPN | placepolicy $POLICY | devsim $SIM | reinforce $LEARN, under a
# time limit; fails when a stage does.
loop() {
	rm -f loop.fifo && mkfifo loop.fifo
	# shellcheck disable=SC2086
	timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo '$1' | placepolicy $POLICY |
		devsim $SIM | reinforce $LEARN --params-to loop.fifo > '$2'"
}

# The bytes after hdr.
body() {
	"$HSDAG_PYTHON" - "$1" <<-'PY'
		import sys, msgpack
		data = open(sys.argv[1], "rb").read()
		u = msgpack.Unpacker(max_buffer_size=2**30)
		u.feed(data)
		next(u)
		sys.stdout.buffer.write(data[u.tell():])
	PY
}

same_body() {
	body "$1" > "$BATS_TEST_TMPDIR/body.1" && body "$2" > "$BATS_TEST_TMPDIR/body.2" &&
		cmp "$BATS_TEST_TMPDIR"/body.[12]
}

# edit IN OUT PYTHON - change a stream: PYTHON sees `records` (lists [kind, map], without
# hdr and end); count and digest are made anew.
edit() {
	"$HSDAG_PYTHON" - "$@" <<-'PY'
		import sys, msgpack, xxhash
		records = [r for r in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=2**30)]
		hdr, records = records[0], records[1:-1]
		exec(sys.argv[3])
		wire = [msgpack.packb(r) for r in records]
		body = b"".join(wire)
		end = ["end", {"records": len(wire), "digest": xxhash.xxh64(body).intdigest()}]
		open(sys.argv[2], "wb").write(msgpack.packb(hdr) + body + msgpack.packb(end))
	PY
}

# kinds FILE - the kinds of its records, one line, runs of equal ones counted
kinds() {
	recdump --tsv :kind "$1" | uniq -c | awk '{printf "%s%s", s, ($1 > 1 ? $1 "*" : "") $2; s = " "} END {print ""}'
}

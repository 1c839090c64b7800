#!/usr/bin/env bats
# placepolicy --hand-over: what a draw computed reaches reinforce beside the stream, and changes nothing but the time.
# programs: placepolicy reinforce
bats_require_minimum_version 1.5.0
load ../support/common.bash
load ../support/loop.bash

setup_file() {
	loop_setup_file
	export IN=$PWD/in.mp
}

# steps FILE - of which reinforce -vv said in FILE that they were handed over
steps() { grep -o '[0-9]* steps handed over' "$1" | awk '{n += $1} END {print n + 0}'; }

# through FILTER - the loop of loop.bash with FILTER behind placepolicy --hand-over, result in out.mp, messages in said
through() {
	rm -f loop.fifo && mkfifo loop.fifo
	# shellcheck disable=SC2086
	timeout 60 bash -o pipefail -c "gpnembed $GPN --params-from loop.fifo '$IN' | placepolicy --hand-over | $1 |
		devsim | reinforce $LEARN -vv --params-to loop.fifo > out.mp 2> said"
}

# Changes records on the way: PYTHON sees `m` of each handover record.
filter_file() {
	cat > filter.py <<-PY
		import os, sys, msgpack, xxhash
		unpacker, digest = msgpack.Unpacker(max_buffer_size=2**30), xxhash.xxh64()
		data, done = b"", 0
		while more := os.read(0, 1 << 20):
		    unpacker.feed(more)
		    data += more
		    for kind, m in unpacker:
		        wire, data = data[:unpacker.tell() - done], data[unpacker.tell() - done:]
		        done = unpacker.tell()
		        if kind == "handover":
		            $1
		        if kind == "end":
		            m["digest"] = digest.intdigest()
		        if kind in ("handover", "end"):
		            wire = msgpack.packb([kind, m])
		        if kind not in ("hdr", "end"):
		            digest.update(wire)
		        sys.stdout.buffer.write(wire)
		        sys.stdout.buffer.flush()
	PY
}

# with_and_without NET OPTION... - reinforce's options; the results and checkpoints are the same, drawn.mp and said those with it
with_and_without() {
	export GPN="--net $1 --recipe $1 --hidden 16 --threads 1 --no-costs" LEARN
	local learn="--recipe $*"
	LEARN="$learn --checkpoint $1.plain" loop "$IN" plain.mp
	LEARN="$learn --checkpoint $1.handed" through "tee drawn.mp"
	same_body plain.mp out.mp
	same_body "$1.plain" "$1.handed"
}

@test "the result and the checkpoint are the same with it and without; reinforce says what it did not compute again" {
	for net in rnn hierarchical; do
		with_and_without $net --episodes 4 --steps 5 --samples 2 --threads 2
		[ "$(steps said)" -eq 20 ]
		[ "$(recdump -k handover --tsv step,steps drawn.mp | sort -u)" = $'0\t5' ]
		[ "$(recdump -k handover --tsv episode drawn.mp | wc -l)" -eq 4 ]
	done
}

@test "more placements than a replay takes at once are drawn, and handed over, in its batches" {
	for net in rnn hierarchical; do
		with_and_without $net --episodes 2 --steps 5 --samples 5 --threads 1
		[ "$(steps said)" -eq 10 ]
		[ "$(recdump -k handover --tsv step,steps drawn.mp | sort -u)" = $'0\t2\n2\t2\n4\t1' ]
	done
}

@test "nothing is handed over where nobody asked, by other networks, or outside of a loop" {
	export GPN="--net rnn --recipe rnn --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 2 --steps 3 --samples 2 --threads 1"
	LEARN="$LEARN -vv" loop "$IN" plain.mp 2> said
	[ "$(steps said)" -eq 0 ]
	gpnembed $GPN "$IN" | placepolicy --hand-over > out.mp
	[ -z "$(recdump -k handover out.mp)" ]
	for net in gpn mlp placeto; do
		GPN="--net $net --hidden 16 --threads 1 --no-costs" through "tee drawn.mp"
		[ -z "$(recdump -k handover drawn.mp)" ]
		[ "$(steps said)" -eq 0 ]
	done
}

@test "a record of this never reaches the result" {
	export GPN="--net rnn --recipe rnn --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 2 --steps 3 --samples 2 --threads 1 --keep"
	loop "$IN" plain.mp
	through cat
	[ "$(steps said)" -gt 0 ]
	same_body plain.mp out.mp
}

@test "where the memory is not to be found the replay computes, with the same result" {
	export GPN="--net rnn --recipe rnn --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 2 --steps 3 --samples 2 --threads 1"
	loop "$IN" plain.mp
	filter_file 'pass'
	through "$HSDAG_PYTHON filter.py"
	same_body plain.mp out.mp
	[ "$(steps said)" -gt 0 ]
	for change in 'm["pid"] = 2**22 + 1' 'm["pid"] = os.getpid()' 'm["fd"] = 0' 'm["at"] += 64' 'm["at"] = 2**63' \
		'm["bytes"] = 2**63' 'm["bytes"] -= 4' 'm["key"] ^= 1'; do
		filter_file "$change"
		through "$HSDAG_PYTHON filter.py"
		same_body plain.mp out.mp
		[ "$(steps said)" -eq 0 ]
	done
}

@test "a malformed record is refused" {
	export GPN="--net rnn --recipe rnn --hidden 16 --threads 1 --no-costs" LEARN="--recipe rnn --episodes 2 --steps 3 --samples 2 --threads 1"
	for change in 'm["steps"] = 0' 'm["steps"] = 9' 'm["step"] = 99' 'm["episode"] = 7' 'm["graph"] ^= 1' 'del m["key"]' \
		'm["pid"] = -1' 'm["bytes"] = "many"'; do
		filter_file "$change"
		run through "$HSDAG_PYTHON filter.py"
		grep -q '^reinforce: error: .*handover: ' said
	done
}

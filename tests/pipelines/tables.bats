#!/usr/bin/env bats
# make table1 ... hierarchical: every table to its end on a small model, resumed, in parallel, behind a
# launcher; the figures are those of the files that they come from.
# seconds: 40
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	two_cores
	export HSDAG_OPENVINO=$BATS_FILE_TMPDIR
	cp "$ROOT/tests/models/small_summator.xml" nmt_small.xml
}

# tables DIR TARGET... - with tiny searches
tables() {
	local dir=$1
	shift
	setsid -w env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -C "$ROOT" B="$B" TABLE_PROGS= TABLE_DIR="$dir" \
		MODELS=tests/models/small_summator.xml METHODS="ov-gpu random heft hsdag" DEVICES=cpu:0,cpu:1 SEEDS="1 2" \
		BUDGET=9 EPISODES=2 RUNS=8 EVALS=8 GROUPS=2 PROFILE="devrun --probe --profile --max-seconds 0.05" "$@"
}

# alive GROUP - how many of its processes still run
alive() {
	cat /proc/[0-9]*/stat 2> /dev/null | awk -v group="$1" '$5 == group && $3 != "Z" { n++ } END { print n + 0 }'
}

# has_child PID NAME - does a child of PID run program NAME?
has_child() {
	local c
	for c in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$c/comm" 2> /dev/null)" != "$2" ] || return 0
	done
	return 1
}

@test "all tables, side by side; made once, behind the launcher" {
	cd "$BATS_FILE_TMPDIR" || return 1
	printf '#!/bin/sh\necho "$@" >> %s/launched\nexec "$@"\n' "$PWD" > launch
	chmod +x launch
	run -0 tables "$PWD/t" -j4 tables LAUNCH="$PWD/launch"
	for t in table1 table2 table4 table5 hierarchical-placers hierarchical-groups; do
		[ -s "t/$t.tsv" ]
		[ -s "t/$t.md" ]
		grep -q "^# command: make $t " "t/$t.tsv"
		grep -q '^# kernel: Linux' "t/$t.tsv"
		grep -q '^# hsdag: ' "t/$t.tsv"
	done
	# A launched job for each file and each file's account of it.
	[ "$(grep -c JOB <<< "$output")" -eq "$(wc -l < launched)" ]
	[ "$(find t/small_summator -name '*.job' | wc -l)" -eq "$(wc -l < launched)" ]
	run -1 grep -v '^pipelines/job ' launched
	[ -z "$(find t -name '*.tmp' -o -name '*.err' -o -name '*.time')" ]
	find t -type f -newer launch -name '*.mp' | sort | xargs sha256sum > first
	run -0 tables "$PWD/t" -j4 tables
	[[ "$output" != *JOB* ]]
	sha256sum --quiet -c first
}

@test "rows: methods, published figures, what could not run" {
	cd "$BATS_FILE_TMPDIR/t" || return 1
	[ "$(grep -v '^#' table2.tsv | cut -f 2 | paste -sd '|')" = \
		"method|CPU only (cpu:0)|GPU only (cpu:1)|OpenVINO, GPU|random placement|HEFT|HSDAG, default recipe" ]
	awk -F '\t' '$2 == "OpenVINO, GPU" && $3 == 0 && $NF ~ /OpenVINO/ { ok = 1 } END { exit !ok }' table2.tsv
	awk -F '\t' '$2 == "human expert" && $NF ~ /nobody has placed/ { ok = 1 } END { exit !ok }' hierarchical-placers.tsv
	grep -q "^# devices: cpu:0 in the role of the CPU, cpu:1 in that of the GPU (cores" table2.tsv
	awk -F '\t' '$1 == "small_summator" && $2 == 6 && $3 == 5 && $5 == 3 && $6 == 2 { ok = 1 } END { exit !ok }' table1.tsv
	grep -q '^small_summator.cpu-hsdag.0.1.000000000.0.' table4.tsv
	# The groups' rows stand in order, and the learned ones take no longer than themselves.
	[ "$(grep -c '^small_summator' hierarchical-groups.tsv)" -eq 6 ]
	grep -q '^| small_summator | HEFT | 1 |' table2.md
	# What is measured is what was found.
	for f in random.1 random.2 heft.1 hsdag-9s2.1; do
		placeout --format affinity --literal -o x.json small_summator/$f.mp
		placebase expert:x.json small_summator/input.mp | recdump -k place --tsv device > expert
		{ recdump -k place --tsv device small_summator/$f.mp; recdump -k best --tsv device small_summator/$f.mp; } |
			head -n 1 | cmp expert -
	done
	# The commands can be followed.
	grep -q '^# heft: `placebase heft --seed 1 small_summator/input.mp`' table2.tsv
}

@test "simulated: every learner and search with the same number of placements, beside each other" {
	cd "$BATS_FILE_TMPDIR" || return 1
	run -0 tables "$PWD/s" -j4 tables SPEC=paper DEVICES= EVALS=20 MODELS="$PWD/nmt_small.xml" \
		METHODS="ov-cpu random random-search heft climb rnn hierarchical hsdag-blind hsdag"
	[ ! -e s/table4.tsv ]
	[ "$(grep -v '^#' s/table2.tsv | cut -f 2 | paste -sd '|')" = "method|CPU only (cpu)|GPU only (gpu)|random placement|HEFT|\
random search|hill climbing|Hierarchical Planner|RNN-based|HSDAG, default recipe without costs|HSDAG, default recipe" ]
	grep -q "^# command: make table2 SPEC='paper' MODELS=.* EVALS='20'" s/table2.tsv
	run -1 grep "^# command: .*BUDGET" s/table2.tsv
	grep -q '^# note: simulated, 20 placements of each learner and search; *speedup' s/table2.tsv
	# Learners ran what they may; what is measured is what devsim says of what was found.
	[ "$(awk -F '\t' '$2 ~ /HSDAG|RNN|Hier/ { print $8 }' s/table5.tsv | sort -u)" = 20 ]
	for f in random-search-20.1 climb-20.2 hsdag-20.1; do
		placeout --format affinity --literal -o x.json s/nmt_small/$f.mp
		placebase expert:x.json s/nmt_small/input.mp | devsim | recdump -k run --tsv lat_s | tail -n 1 > want
		cut -f 1-3 s/nmt_small/${f%.*}.1+2-rsim.tsv | awk -F '\t' -v s="${f##*.}" '$1 == "answer" && $2 == s { print $3 }' |
			paste want - | awk '{ d = $1 / $2 - 1; exit !(NF == 2 && d * d < 1e-14) }'
	done
	# The best of so many random placements.
	placebase random --draw biased -n 20 --seed 1 s/nmt_small/input.mp | devsim | recdump -k run --tsv lat_s | sort -g | head -n 1 > want
	awk -F '\t' '$1 == "answer" && $2 == 1 { print $3 }' s/nmt_small/random-search-20.1+2-rsim.tsv | paste want - |
		awk '{ d = $1 / $2 - 1; exit !(NF == 2 && d * d < 1e-14) }'
	grep -v '^#' s/table2.tsv > first
	run -0 tables "$PWD/s" table2 SPEC=paper DEVICES= EVALS=20 MODELS="$PWD/nmt_small.xml" \
		METHODS="ov-cpu random random-search heft climb rnn hierarchical hsdag-blind hsdag"
	[[ "$output" != *JOB* ]]
	grep -v '^#' s/table2.tsv | cmp - first
}

@test "machines: accelerators, none of which holds an NMT; a person places on them alone" {
	cd "$BATS_FILE_TMPDIR" || return 1
	cp -r "$ROOT/pipelines" q
	printf '.\t1\n' > q/tables/expert-nmt_small.tsv
	run -0 tables "$PWD/h" hierarchical-placers MACHINE=4 EVALS=10 MODELS="$PWD/nmt_small.xml" METHODS="heft rnn" T="$PWD/q/tables" \
		DEVICES=
	awk -F '\t' '$2 == "GPU only (gpu:0)" && $3 == 0 && $NF ~ /needs .* bytes on gpu:0/ { ok = 1 } END { exit !ok }' \
		h/hierarchical-placers.tsv
	awk -F '\t' '$2 == "human expert" && $NF ~ /on gpu:1/ { ok = 1 } END { exit !ok }' h/hierarchical-placers.tsv
	[ "$(recdump -k devs --tsv 'names[]' h/nmt_small/input.mp | paste -sd ,)" = cpu,gpu:0,gpu:1,gpu:2,gpu:3 ]
	placebase single h/nmt_small/input.mp | devsim -o whole.mp
	py '
		m, = of("h/nmt_small/input.mp", "devs")
		cpu, *gpus = array(m["mem_bytes"])
		assert len(set(gpus)) == 1 and cpu == 256e9
		whole = max(array(r["mem_bytes"]).max() for r in of("whole.mp", "run") if r["ok"])
		assert gpus[0] == round(0.6 * float(whole)), (gpus[0], whole)
	'
	# Without a limit, and what is refused.
	"$ROOT/pipelines/tables/machine" 1 0 h/nmt_small/graph.mp > one.mp
	[ "$(recdump -k devs --tsv 'mem_bytes[]' one.mp | paste -sd ,)" = 256000000000,12000000000 ]
	run -2 "$ROOT/pipelines/tables/machine" 0 0 h/nmt_small/graph.mp
	run -2 "$ROOT/pipelines/tables/machine" 2 x h/nmt_small/graph.mp
	run -0 env -u MAKEFLAGS -u MAKELEVEL make -n -C "$ROOT" B="$B" TABLE_PROGS= machines SEEDS=1
	for n in 2 4 8; do [[ "$output" == *"tables/machine $n 0.6 "* ]]; done
	[[ "$output" == *"tables/machine 2 0 "*"/inception_v3/"* ]]
}

@test "names of devices with commas; a person's rules" {
	cd "$BATS_FILE_TMPDIR" || return 1
	tables=$ROOT/pipelines/tables
	echo '{"devices": [{"name": "gpu"}, {"name": "cpu:0-3,5"}, {"name": "cl:0.0"}], "links": [],
	       "nodes": [{"id": 1, "name": "a, \"b", "cost_s": 1}, {"id": 2, "name": "c", "cost_s": 1},
	                 {"id": 3, "name": "d", "cost_s": 1}], "edges": [{"src": 1, "dst": 3, "bytes": 0}]}' > n.json
	json2dag n.json -o n.mp
	run -0 "$tables/roles" n.mp
	[ "$output" = $'cpu:0-3,5\tgpu\tgpu,cpu:0-3,5,cl:0.0' ]
	cp -r "$ROOT/pipelines" p
	printf '# c on the second\n^c$\t1\n^d$\t2\n' > p/tables/expert-n.tsv
	p/tables/expert n n.mp > n.place
	# On two and more accelerators alone; with one of them on all devices.
	py 'assert json.load(open("n.place")) == {"a, \"b": "gpu", "c": "cl:0.0", "d": "gpu"}, open("n.place").read()'
	sed 's/{"name": "gpu"}/{"name": "cpu:7"}/' n.json | json2dag -o n.mp
	p/tables/expert n n.mp > n.place
	py 'assert json.load(open("n.place")) == {"a, \"b": "cl:0.0", "c": "cpu:0-3,5", "d": "cl:0.0"}, open("n.place").read()'
}

@test "figures are those of the rounds" {
	cd "$BATS_FILE_TMPDIR/t" || return 1
	# HEFT: the CPU's latency over all jobs, times the ratio to it in the same rounds.
	cpu=$(awk -F '\t' '$1 == "single" && $2 == "cpu:0" { sum += log(1e3 * $3); n++ } END { print exp(sum / n) }' \
		small_summator/{random,heft,hsdag}*-r8.tsv)
	ratio=$(awk -F '\t' '$1 == "answer" { print $6 }' small_summator/heft.1-r8.tsv)
	awk -F '\t' -v cpu="$cpu" -v ratio="$ratio" '
		function near(x, y, by) { return x - y < by && y - x < by }
		$2 ~ /^CPU only/ { ok = near($4, cpu, 6e-4) }
		$2 == "HEFT" { ok = ok && near($4, cpu * ratio, 6e-4) && near($7, 100 * (1 - ratio), 0.06) }
		END { exit !ok }' table2.tsv
	# What is all on one device is that device.
	awk -F '\t' '
		FNR == 1 { split("", ratio) }
		$1 == "single" { ratio[$2] = $3 " " $6 }
		$1 == "answer" && $13 != "" { n++; bad += ratio[$13] != $3 " " $6 }
		END { exit n == 0 || bad }' small_summator/*-r8.tsv
	# Two seeds: geometric mean and 12.706 standard errors.
	mkdir -p x/m
	{
		printf 'roles\tcpu:0\tcpu:1\tcpu:0,cpu:1\nsingle\tcpu:0\t1\t1\t1\t1\t1\t1\t8\t0\t0\t\t\n'
		printf 'answer\t%s\t%s\t0\t9\t%s\t0\t9\t8\t1\t1\t\t\n' 1 0.001 0.1 2 0.002 0.2
	} > x/m/random.1+2-r8.tsv
	printf 'answer\t%s\t0.003\t0.002\t0.004\t1.5\t1.2\t1.6\t8\t0\t0\t\tcpu:1\n' 1 2 > x/m/metis.1+2-r8.tsv
	tables="$ROOT/pipelines/tables"
	tabstat latency x/m/random.1+2-r8.tsv x/m/metis.1+2-r8.tsv |
		awk -f "$tables/files.awk" -f "$tables/latency.awk" "$tables/published.tsv" "$tables/labels.tsv" \
			published_s=hsdag_s published_speedup=hsdag_speedup - > x/rows
	# The CPU's second times exp((log 0.1 + log 0.2) / 2), times exp(-+ 12.706 * log(2) / 2)
	grep -q "^m.random placement.2.141.421.1.730.11560.019.85.9.-1056.0.99.8.7.071.2 seeds" x/rows || { cat x/rows; return 1; }
	# Two seeds that find one device are one measurement.
	grep -q "^m.METIS.2.1500.000.1200.000.1600.000.-50.0.-60.0.-20.0.0.667.rounds" x/rows || { cat x/rows; return 1; }
}

@test "names with colons; a model that has changed is measured again" {
	cd "$BATS_FILE_TMPDIR" || return 1
	cp "$ROOT/tests/models/small_summator.xml" a:b.xml
	run -0 tables "$PWD/c" table2 MODELS="$PWD/a:b.xml" METHODS="single:cpu:1" SEEDS=1
	awk -F '\t' '$1 == "a_b" && $2 == "single_cpu_1" && $NF == "finds cpu:1 alone" { ok = 1 } END { exit !ok }' c/table2.tsv
	grep -q '^# single_cpu_1: `placebase single:cpu:1 --seed 1 a_b/input.mp`' c/table2.tsv
	sed -i 's/"add_sum"/"the sum"/' a:b.xml
	run -0 tables "$PWD/c" table1 MODELS="$PWD/a:b.xml"
	[ "$(grep -c JOB <<< "$output")" -eq 2 ]
	recdump -k graph c/a_b/graph.mp | grep -q '"the sum"'
	run -0 tables "$PWD/c" table1 MODELS="$PWD/a:b.xml"
	[[ "$output" != *JOB* ]]
	# Another model of the same name, and older: its own figures; both at once: refused.
	mkdir -p other
	cp "$ROOT/tests/models/small_increment_1x3x4x5.xml" other/a:b.xml
	touch -d 2020-01-01 other/a:b.xml
	run -0 tables "$PWD/c" table1 MODELS="$PWD/other/a:b.xml"
	[ "$(grep -c JOB <<< "$output")" -eq 2 ]
	run ! tables "$PWD/c" table1 MODELS="$PWD/a:b.xml $PWD/other/a:b.xml"
	[[ "$output" == *"two models are called 'a_b'"* ]]
}

@test "a table of more jobs than a command line has room for counts them all, once" {
	local name
	name=$(printf 'd%.0s' {1..100})
	mkdir -p "$BATS_TEST_TMPDIR/$name" && cd "$BATS_TEST_TMPDIR" || return 1
	for ((i = 0; i < 1500; i++)); do
		: > "$name/m.$i.mp"
		printf 'command\tm %s\nstarted\t%s\nload_before\t1\n' $i $i > "$name/m.$i.mp.job"
	done
	run -0 "$ROOT/pipelines/tables/report" table title=t "$name"/*.mp <<< $'a\tb\n1\t2'
	[ "$(grep -c '^# jobs: ' table.tsv)" -eq 1 ]
	grep -q '^# jobs: 1500, ' table.tsv
	run -0 "$ROOT/pipelines/tables/report" none title=t <<< $'a\tb\n1\t2'
	run -1 grep '^# jobs' none.tsv
}

@test "killed in the middle, it goes on, and what was done stays" {
	cd "$BATS_FILE_TMPDIR" || return 1
	# Of its process group nothing is left, at a moment when a job is to begin.
	printf '#!/bin/sh\ncase "$*" in *heft.1.mp*) cut -d " " -f 5 /proc/self/stat > %s/at; exec sleep 60 ;; esac\nexec "$@"\n' \
		"$PWD" > stop
	chmod +x stop
	tables "$PWD/k" table2 METHODS="random heft" LAUNCH="$PWD/stop" > log 2>&1 3>&- &
	for ((i = 0; i < 600; i++)); do
		[ ! -s at ] || break
		sleep 0.1
	done
	kill -KILL -- "-$(cat at)"
	wait $! || true
	[ ! -e k/small_summator/heft.1.mp ]
	[ ! -e k/table2.tsv ]
	[ -s k/small_summator/random.1.mp ]
	sha256sum k/small_summator/random.1.mp k/small_summator/input.mp > before
	run -0 tables "$PWD/k" table2 METHODS="random heft"
	[[ "$output" == *heft.1.mp* && "$output" != *random.1.mp* && "$output" != *input.mp* ]]
	sha256sum --quiet -c before
}

@test "job: whole files or none, reasons, one clock at a time" {
	cd "$BATS_FILE_TMPDIR" || return 1
	job=$ROOT/pipelines/job
	run -1 "$job" j1 sh -c 'echo half; exit 1'
	[ ! -e j1 ]
	[ ! -e j1.job ]
	run -0 "$job" -r j2 sh -c 'echo half; echo "x: error: the reason" >&2; echo "y: error: truncated input" >&2; exit 3'
	[ "$(cat j2)" = $'failed\tx: error: the reason' ]
	run -139 "$job" -r j3 sh -c 'kill -SEGV $$'
	[ ! -e j3 ]
	# Jobs that read a clock exclude each other and all others.
	for i in 1 2 3; do
		"$job" -x c$i sh -c "echo >> order; sleep 0.2; wc -l < order; rm order" 3>&- &
	done
	"$job" c4 sh -c '[ ! -e order ]; echo $?' 3>&- &
	wait
	[ "$(cat c1 c2 c3 c4 | paste -sd ' ')" = "1 1 1 0" ]
	# A job that is ended takes all of its command with it.
	"$job" j4 bash -c 'echo $$ > pid; sleep 77 | cat' 3>&- &
	while [ ! -s pid ]; do sleep 0.05; done
	kill -TERM $!
	wait $! || true
	for ((i = 0; i < 50; i++)); do
		[ "$(alive "$(cat pid)")" -gt 0 ] || break
		sleep 0.1
	done
	[ "$(alive "$(cat pid)")" -eq 0 ]
	[ ! -e j4 ]
	# Of two that make one file the second waits for the lock, and then has nothing to do.
	made='echo made >> count; until [ -e go ]; do sleep 0.05; done'
	"$job" -x j5 sh -c "$made" 3>&- &
	until [ -s count ]; do sleep 0.05; done
	"$job" -x j5 sh -c "$made" 3>&- &
	until has_child $! flock; do sleep 0.05; done
	touch go
	wait
	[ "$(cat count)" = made ]
	# What a killed job has left goes, what a living one writes stays.
	touch "j6.$HOSTNAME-999999999".{tmp,err} "j6.$HOSTNAME-$$.tmp"
	run -0 "$job" j6 true
	[ "$(ls j6.*)" = "$(printf '%s\n' j6.job "j6.$HOSTNAME-$$.tmp" | sort)" ]
}

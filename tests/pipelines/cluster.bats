#!/usr/bin/env bats
# Sweeps beyond one machine: LAUNCH with srun and GNU parallel, arrays of jobs, one node for one comparison; killed in
# the middle and resumed.
# programs: job
# seconds: 40
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup() {
	common_setup_file
	cd "$BATS_TEST_TMPDIR" || return 1
	# Twelve files of a job each, and a table of them.  Every run of a command leaves a line in `ran`.
	cat > sweep.mak <<-'MK'
		include pipelines/common.mk
		FILES = $(foreach i,1 2 3 4 5 6 7 8 9 10 11 12,$(B)/x/f$i)
		table: $(FILES) ; cat $^ > $(B)/table
		$(FILES): $(B)/in
		$(B)/in: ; $(call of_all,$(call job,$(B)/x/.lock)) $@ echo in
		$(B)/x/%: ; $(call job,$(B)/x/.lock) $@ bash -c 'sleep $(NAP); echo $* >> $(B)/ran; echo $*'
		# These begin with files of other shares.
		behind: $(foreach i,1 2 3 4 5 6,$(B)/y/d$i)
		$(B)/y/d%: $(B)/x/f% ; $(call job,$(B)/y/.lock) $@ bash -c 'echo d$* >> $(B)/ran; echo d$*'
		timed: $(B)/t/a $(B)/t/b
		$(B)/t/%: ; $(call timed_job,$(B)/t/.lock) $@ echo $*
	MK
	mkdir -p r
	ln -sfn "$B/bin" r/bin
	export NAP=0.4     # what a job takes: enough to be killed in, and for others to take part
	sweep() { make -s -C "$ROOT" -f "$PWD/sweep.mak" "B=$PWD/r" "$@"; }
	export -f sweep
}

# Each file once, by one run, and the table of all.
all_once() {
	[ "$(sort -V r/ran | uniq | tr '\n' ' ')" = 'f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 ' ]
	[ "$(cat r/table | tr '\n' ' ')" = 'f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 ' ]
	[ "$(find r/x -name '*.tmp' | wc -l)" -eq 0 ]
}

needs_slurm() {
	command -v slurmctld slurmd munged srun > /dev/null || skip "no Slurm: apt-get install slurmctld slurmd slurm-client munge"
	[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
}

@test "srun: jobs go to two nodes; killed in the middle and resumed, nothing is lost or done twice" {
	needs_slurm
	cat > all <<-'SH'
		set -e
		launch='srun -Q -n 1 -c 1'
		setsid make -s -C "$ROOT" -f "$PWD/sweep.mak" "B=$PWD/r" -j4 "LAUNCH=$launch" table > first.log 2>&1 &
		made() { find r/x -name 'f*' ! -name '*.*' 2> /dev/null | sort; }   # FILE itself: its .job comes a moment earlier
		# Of six files two are surely whole: make takes back those of the four jobs that it is killed in.
		for _ in $(seq 600); do [ "$(made | wc -l)" -lt 6 ] || break; sleep 0.1; done
		kill -TERM -- -$! || true
		wait $! || true
		scancel -u root
		for _ in $(seq 50); do [ -n "$(timeout 5 squeue -h)" ] || break; sleep 0.2; done
		made > before
		cat r/x/*.job | sed -n 's/^node\t//p' | sort > nodes
		cp r/ran ran.before
		sweep -j4 "LAUNCH=$launch" table
		# Figures with a clock: one node for all; the other is refused.
		sweep "LAUNCH_TIMED=srun -Q -n 1 -w n1 --exclusive" "$PWD/r/t/a"
		if sweep "LAUNCH_TIMED=srun -Q -n 1 -w n0 --exclusive" "$PWD/r/t/b" 2> refused; then exit 1; fi
		# Without LAUNCH_TIMED: what LAUNCH says, and whole cores.
		sweep "LAUNCH=srun -Q -n 1 -w n1" timed
		sweep -n "LAUNCH=srun -Q -n 1 -w n1" "B=$PWD/q" timed > told
	SH
	run -0 timeout 240 "$ROOT/tests/cluster/slurm" "$PWD/cluster" bash all
	n=$(wc -l < before)
	[ "$n" -ge 2 ]
	[ "$n" -lt 12 ]
	all_once
	# What was there before the kill was not run again.
	sed 's/.*x.//' before > done.before
	for f in $(cat done.before); do [ "$(grep -cx "$f" r/ran)" -eq 1 ]; done
	[ "$(sed 's/,.*//' nodes | sort -u | tr '\n' ' ')" = 'n0 n1 ' ]
	grep -q "were measured on node 'n1', this is 'n0'" refused
	[ "$(grep -c "srun -Q -n 1 -w n1 --exclusive --cpu-bind=cores pipelines/job -x" told)" -eq 2 ]
	grep -q '^node.n1' r/t/b.job
	grep -q '^cores.[0-9]' r/t/b.job
}

@test "an array of jobs: every file is made by one task, the table by a last call" {
	needs_slurm
	cat > all <<-'SH'
		set -e
		export EXPERIMENT="make -s -C $ROOT -f $PWD/sweep.mak B=$PWD/r"
		sbatch --wait -Q --array=1-4 -o "$PWD/%a.log" "$ROOT/pipelines/sweep.sbatch" table
		cp r/ran by-tasks
		sweep table
	SH
	run -0 timeout 120 "$ROOT/tests/cluster/slurm" "$PWD/cluster" bash all
	all_once
	[ "$(sort r/ran | uniq -d | wc -l)" -eq 0 ]
	[ "$(wc -l < by-tasks)" -eq 12 ]
	[ ! -e 1.log ] || ! grep -q "error: SHARE" ./*.log
	[ "$(cat r/x/*.job | sed -n 's/^node\t.*Slurm job //p' | sort -u | wc -l)" -gt 1 ]
}

@test "GNU parallel as LAUNCH" {
	command -v sem > /dev/null || skip "no GNU parallel: apt-get install parallel"
	export HOME=$PWD
	mkdir -p .parallel
	touch .parallel/will-cite
	NAP=0.05
	sweep -j4 "LAUNCH=sem --fg -q -j 2 --id hsdag$$" table
	all_once
	[ "$(sort r/ran | uniq -d | wc -l)" -eq 0 ]
}

@test "SHARE: each makes its own files, and what these begin with; wrong ones are refused" {
	NAP=0.05
	for share in 1 2 3; do
		mkdir -p "share$share"
		ln -sfn "$B/bin" "share$share/bin"
		run -2 env SHARE=$share/3 make -s -k -C "$ROOT" -f "$PWD/sweep.mak" "B=$PWD/share$share" table
		[ -s "share$share/in" ]
	done
	cat > as-make <<-'SH'
		#!/bin/bash
		exec make -s -C "$ROOT" -f "$PWD/sweep.mak" "B=$PWD/r" "$@"
	SH
	chmod +x as-make
	task() {
		env SLURM_ARRAY_TASK_ID="$1" SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 EXPERIMENT="$PWD/as-make" \
			"$ROOT/pipelines/sweep.sbatch" "${2:-table}"
	}
	for share in 1 2 3; do
		run -0 task $share
		[[ $output == *"share $share/3 has ended"* ]]
	done
	all_once
	# Side by side, no last call: files that begin with those of other shares.
	rm -r r/x r/ran
	for share in 1 2 3; do task $share behind > out.$share 2>&1 3>&- & done
	wait
	cat out.?
	[ "$(cat out.? | grep -c 'has ended$')" -eq 3 ]
	[ "$(sort r/ran | tr '\n' ' ')" = 'd1 d2 d3 d4 d5 d6 f1 f2 f3 f4 f5 f6 ' ]
	[ "$(find r/y -name 'd?' | wc -l)" -eq 6 ]
	run -0 task 1
	# What fails in another way is a failure of one task: no other one tries it again.
	sed -i 's/echo [$][*] >> [$](B).ran; echo [$][*]/false/' sweep.mak
	rm r/x/f5 r/table
	failed=0
	for share in 1 2 3; do task $share > out.$share 2>&1 || failed=$((failed + 1)); done
	cat out.?
	[ "$failed" -eq 1 ]
	[ "$(cat out.? | grep -c '  JOB .*/f5')" -eq 1 ]
	# What another task has made since this one began is not made again, although make had not seen it.
	touch began
	"$ROOT/pipelines/job" r/x/late echo 1
	run -0 env SHARE=1/1 SHARE_BEGAN="$PWD/began" "$ROOT/pipelines/job" r/x/late echo 2
	[ "$output$(< r/x/late)" = 1 ]
	run -2 --separate-stderr env SHARE=8 "$ROOT/pipelines/job" r/x/f echo 1
	[[ $stderr == *"SHARE is '8', not as 3/8"* ]]
}

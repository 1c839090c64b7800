#!/usr/bin/env bats
# What every program does to the file that it writes: the old one is lost to nothing but a complete new one.
# programs: ir2dag json2dag irfill dagfeat daggroup dagsplit devrun gpnembed placepolicy placebase devsim reinforce pretrain topk placeout recdump tabstat dagpin
# seconds: 15
bats_require_minimum_version 1.5.0
load ../support/common.bash

setup_file() {
	common_setup_file
	local model=$ROOT/tests/models/small_increment_1x3x4x5
	cp "$model.xml" "$model.bin" .
	ir2dag small_increment_1x3x4x5.xml -o graph.mp
	ir2dag "$ROOT/tests/models/lstm_stateful.xml" -o dense.mp
	dagfeat graph.mp -o feat.mp
	devsim --probe -D cpu,gpu feat.mp -o devs.mp
	gpnembed --steps 2 devs.mp -o part.mp
	placepolicy -a part.mp -o place.mp
	devsim --schedule place.mp -o ran.mp
	reinforce ran.mp -o best.mp
	devrun probe -D cpu:0 graph.mp | placebase single:cpu:0 -o single.mp
	echo '{"devices": [{"name": "a"}], "nodes": [{"id": 1, "name": "x", "cost_s": 1}]}' > tasks.json
	echo old > old
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

# What each program reads, and the command with IN and OUT in it.
programs() {
	cat <<-'T'
	small_increment_1x3x4x5.xml  ir2dag IN --weights small_increment_1x3x4x5.bin -o OUT
	small_increment_1x3x4x5.xml  irfill IN --partial none -o OUT
	tasks.json                   json2dag IN -o OUT
	graph.mp                     dagfeat IN -o OUT
	feat.mp                      daggroup chunks IN -o OUT
	devs.mp                      dagpin --pin *=cpu IN -o OUT
	dense.mp                     dagsplit --no-auto IN -o OUT
	devs.mp                      gpnembed --steps 2 IN -o OUT
	part.mp                      placepolicy -a IN -o OUT
	devs.mp                      placebase heft IN -o OUT
	feat.mp                      devsim --probe -D cpu,gpu IN -o OUT
	place.mp                     devsim IN -o OUT
	place.mp                     topk -k 1 ran.mp -o OUT
	ran.mp                       topk -k 1 IN -o OUT
	graph.mp                     devrun probe -D cpu:0 IN -o OUT
	ran.mp                       reinforce IN -o OUT
	best.mp                      recdump IN -o OUT
	best.mp                      recdump -k graph --tsv node_name[] IN -o OUT
	best.mp                      placeout --format table IN -o OUT
	best.mp                      placeout --format affinity IN -o OUT
	best.mp                      placeout --format tsv IN -o OUT
	best.mp                      placeout --format report IN -o OUT
	best.mp                      placeout --format html IN -o OUT
	ran.mp                       placeout --format trace IN -o OUT
	ran.mp                       tabstat curve --to OUT IN
	T
}

# The command with IN and OUT named.
command_of() {   # COMMAND IN OUT
	local c=${1// IN/ $2}
	echo "${c// OUT/ $3}"
}

# What a file says, whatever its name, the times and the digests of what has them.
content() {
	if recdump --check "$1" 2> /dev/null; then
		recdump "$1" | sed -E '1d; /"kind": "end"/d; s/"(host|load|cores)[^"]*": [^,}]*//g; s/[0-9.e+-]+//g'
	else
		sed -E 's/[0-9.e+-]+//g' "$1"
	fi
}

each() {   # each FUNCTION - with the input and the command of every program; those with differences are told
	local in c failed=0
	while read -r in c; do
		rm -rf work
		mkdir work
		"$1" "$in" "$c" || { echo "$c"; failed=1; }
	done < <(programs)
	return "$failed"
}

over_itself() {
	cp "$1" work/in
	$(command_of "$2" work/in work/out) > work/said || return 1
	$(command_of "$2" work/in work/in) > work/said || return 1
	diff <(content work/out) <(content work/in) > work/diff || { head -5 work/diff; return 1; }
	[ "$(ls -A work | tr '\n' ' ')" = "diff in out said " ]
}

@test "a program may write the file that it reads" { each over_itself; }

to_device() {
	local rc=0
	$(command_of "$2" "$1" /dev/full) > work/said 2>&1 || rc=$?
	[ "$rc" -eq 1 ] && grep -q ': error: cannot write .*No space left' work/said
}

@test "a full device is noticed" { each to_device; }

without_room() {   # no file may grow
	local rc=0
	cp old work/out
	(trap '' XFSZ; ulimit -f 0; $(command_of "$2" "$1" work/out) > /dev/null 2>&1) || rc=$?
	[ "$rc" -eq 1 ] && cmp old work/out && [ "$(ls -A work)" = out ]
}

@test "where there is no room for the new file, the old one stays" { each without_room; }

damaged() {
	local rc=0
	cp old work/out
	head -c $(($(stat -c %s "$1") - 7)) "$1" > work/in
	$(command_of "$2" work/in work/out) > /dev/null 2>&1 || rc=$?
	rm work/in
	# tabstat curve's lines are of what has run, whatever comes after
	[[ $2 == "tabstat curve"* ]] || cmp old work/out
	[ "$(ls -A work)" = out ]
}

@test "where the input is cut off, the old file stays" { each damaged; }

by_link() {
	mkdir work/there
	cp old work/there/real
	chmod 640 work/there/real
	ln -s there/real work/out
	ln -s there/new work/dangling
	$(command_of "$2" "$1" work/out) > /dev/null || return 1
	$(command_of "$2" "$1" work/dangling) > /dev/null || return 1
	[ -L work/out ] && [ -L work/dangling ] || return 1
	[ "$(stat -c %a work/there/real)" = 640 ] || return 1
	diff <(content work/there/real) <(content work/there/new) > /dev/null
}

@test "a link stays, and what it leads to is replaced, with its permissions" { each by_link; }

by_pipe() {
	$(command_of "$2" "$1" work/out) > /dev/null || return 1
	mkfifo work/pipe
	timeout 20 cat work/pipe > work/piped &
	timeout 20 $(command_of "$2" "$1" work/pipe) > /dev/null || return 1
	wait $!
	diff <(content work/out) <(content work/piped) > /dev/null || return 1
	[[ $2 != "tabstat curve"* ]] || return 0     # its standard output is a stream
	$(command_of "$2" "$1" /dev/stdout) > work/stdout || return 1
	diff <(content work/out) <(content work/stdout) > /dev/null || return 1
	$(command_of "$2" "$1" /dev/stdout) | cat > work/stdout || return 1
	diff <(content work/out) <(content work/stdout) > /dev/null || return 1
	echo before > work/stdout
	$(command_of "$2" "$1" /dev/stdout) >> work/stdout || return 1
	[ "$(head -n 1 work/stdout)" = before ] || return 1
	tail -n +2 work/stdout > work/after
	diff <(content work/out) <(content work/after) > /dev/null
}

@test "a pipe, /dev/stdout and what is appended to are written as they are" { each by_pipe; }

killed() {
	case $2 in *.xml* | json2dag* | irfill* | *' ran.mp '*) return 0 ;; esac     # too soon
	cp old work/out
	mkfifo work/pipe
	# shellcheck disable=SC2046
	$(command_of "$2" work/pipe work/out) > /dev/null 2>&1 &
	"$HSDAG_PYTHON" - "$1" $! <<-'PY' || return 1
		import fcntl, os, signal, struct, sys, termios, time
		data, pid = open(sys.argv[1], "rb").read(), int(sys.argv[2])
		fd = os.open("work/pipe", os.O_WRONLY)
		os.write(fd, data[:min(len(data) - 20, 50000)])
		unread = lambda: struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
		while unread():
		    time.sleep(0.001)
		os.kill(pid, signal.SIGKILL)
	PY
	wait $! || true
	rm work/pipe
	[[ $2 == "tabstat curve"* ]] || cmp old work/out
	[ "$(ls -A work)" = out ]
}

@test "a kill in the middle leaves the old file, and nothing else" {
	"$HSDAG_PYTHON" -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' || skip "no files without a name here"
	each killed
}

refused() {   # WORDS COMMAND...
	run -1 "${@:2}"
	[[ $output == *"$1"* ]] || { echo "$output"; return 1; }
}

@test "what cannot be written says why" {
	mkdir -p dir
	refused "cannot write 'dir': it is a directory" recdump graph.mp -o dir
	refused "cannot write 'dir': it is a directory" dagfeat graph.mp -o dir
	refused "cannot create 'none/x': No such file" placeout best.mp -o none/x
	refused "cannot create 'none/x': No such file" devsim place.mp -o none/x
	ln -sf ring2 ring1 && ln -sf ring1 ring2
	refused "'ring1': Too many levels of symbolic links" recdump graph.mp -o ring1
}

@test "a directory and a file that may not be written" {
	local as=()
	if [ "$(id -u)" -eq 0 ]; then     # who may write everything
		as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
		chmod a+rx . && "${as[@]}" recdump --check graph.mp || skip "nobody else may run the programs here"
	fi
	mkdir -p closed
	echo old > closed/file
	chmod 666 closed/file
	chmod 555 closed
	refused "cannot make a new file beside 'closed/file', to replace it: Permission denied" "${as[@]}" recdump graph.mp -o closed/file
	[ "$(cat closed/file)" = old ]
	mkdir -p "open" && chmod 777 "open"
	cp old open/read-only
	chmod 444 open/read-only
	refused "cannot write 'open/read-only': Permission denied" "${as[@]}" recdump graph.mp -o open/read-only
	[ "$(cat open/read-only)" = old ]
}

@test "files without a name need not be: a signal takes the temporary one away" {
	no_sanitizer
	cat > named.c <<-'C'
		#include <errno.h>
		#include <fcntl.h>
		#include <stdarg.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int open(const char *path, int flags, ...)
		{
			va_list ap;
			va_start(ap, flags);
			int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0;
			va_end(ap);
			if ((flags & __O_TMPFILE) == __O_TMPFILE) {
				errno = EOPNOTSUPP;
				return -1;
			}
			return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
		}
	C
	"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o named.so named.c
	rm -rf work && mkdir work
	cp old work/out
	LD_PRELOAD=$PWD/named.so recdump graph.mp -o work/out
	cmp <(recdump graph.mp) work/out
	mkfifo work/pipe
	LD_PRELOAD=$PWD/named.so recdump work/pipe -o work/out &
	exec 9> work/pipe
	head -c 100 graph.mp >&9
	until compgen -G 'work/out.tmp*' > /dev/null; do sleep 0.01; done
	kill -TERM $!
	rc=0
	wait $! || rc=$?
	exec 9>&-
	[ "$rc" -eq 143 ]
	cmp <(recdump graph.mp) work/out
	[ "$(ls -A work | tr '\n' ' ')" = "out pipe " ]
}

# directory COMMAND... - what it writes into work/dir, whole or not at all
directory() {
	rm -rf work && mkdir -p work/dir
	"$@" || return 1
	cp -r work/dir work/first
	for f in work/dir/*; do cp old "$f"; done
	cp -r work/dir work/before
	run -1 bash -c 'trap "" XFSZ; ulimit -f 0; "$@"' - "$@"
	diff -r work/before work/dir || return 1
	"$@" && diff -r work/first work/dir
}

@test "inputs and outputs in a directory are replaced together" {
	directory devrun run -n 1 --warmup 0 --no-reference single.mp --outputs work/dir -o /dev/null
	directory devrun run -n 1 --warmup 0 --no-reference single.mp --save-inputs work/dir -o /dev/null
}

@test "segments that cannot be written leave no directory" {
	rm -rf segments && run -1 bash -c 'trap "" XFSZ; ulimit -f 0; placeout --format affinity single.mp --segments segments -o /dev/null'
	[ ! -e segments ]
	mkdir segments && run -1 bash -c 'trap "" XFSZ; ulimit -f 0; placeout --format affinity single.mp --segments segments -o /dev/null'
	[ -z "$(ls -A segments)" ]
	placeout --format affinity single.mp --segments segments -o /dev/null
	[ -f segments/index.json ]
}

@test "what pretrain learned is replaced when it is complete" {
	rm -rf work && mkdir work
	cp old work/file
	run -1 bash -c 'trap "" XFSZ; ulimit -f 0; pretrain --tasks 20 --moves 1 --policy 1 -o work/file'
	cmp old work/file
}

# shellcheck shell=bash
# phases.sh - for programs that run one pipeline after another, each of them a phase: signals reach it in
# order, its progress is shown, and of its failure the first cause is told once.  To be sourced.
#
#   phases_face FUNCTION ARGUMENT...
#                                  FUNCTION in a worker, a shell behind this one, and its status; this one faces the
#                                  terminal: it answers signals, shows progress, and starts no other program
#   phases_begin PROGRAM DIR N     in FUNCTION: there will be N phases; DIR/log gets what their programs say; DIR is
#                                  locked, by the worker and what it starts, so that no other one works there
#   run_phase [-g] NAME FUNCTION [SECONDS]
#                                  FUNCTION in the background, and its status; progress shows SECONDS as its limit, and the
#                                  phase's time tells them where it took more, or was cut short
#   cut_short WHAT                 in FUNCTION: it had no time for that
#   taken                          in FUNCTION: seconds since it began
#   stage COMMAND...               in FUNCTION: a program of its pipeline
#   phase_complaint                tell why the last phase failed, by its first cause; its status is that program's
#   phase_failed                   the same, and exit with that status
#   phases_budget SECONDS          so many are left from now on, of all that progress tells
#   phases_devices NAME...         devices by their numbers, for progress
#   phases_took                    "model 0.4 s, profile 20.1 s (given 5, without probes)", of the phases so far
#   phases_end                     before the program prints its results
#
# A signal (INT, TERM, HUP) ends the phase: a first one lets a phase of -g end in order (SIGINT for those programs that
# answer it, as reinforce does), any other one is SIGTERM.  It is sent once a second until the phase has ended.  $interrupted is then its name, and FUNCTION's status counts.
#
# Why two shells: a shell forgets a SIGINT that comes while it waits for a command, when the command ends in another way
# than by SIGINT.  The face runs no commands.  The worker ignores these signals, and hears of them by others, which bash
# keeps until it can run their traps.

# shellcheck source=pipelines/clock.sh
. "$(dirname "${BASH_SOURCE[0]}")/clock.sh"
# shellcheck source=pipelines/live.sh
. "$(dirname "${BASH_SOURCE[0]}")/live.sh"

interrupted=          # the signal that came last
insisted=             # there was more than one, in whatever phases
phase=start           # the one that runs, or ran last
phase_group=          # its process group; empty: none runs
phase_signals=0       # that it has had
phase_waked=0         # how often a signal has ended the wait for it
in_phase=             # this shell is a phase's
phase_log_start=0     # bytes of the log before it
phases_done=0
phases_times=

say() { echo "$phases_program: $1" >&2; }

# How the worker hears of a signal, and of one that was not the first, as two that come while it is busy are one to it; RTMIN+4:
# of the last one again.  Always by one signal alone: of two at once that interrupt a wait, bash can lose one.
declare -A phases_signals=([INT]=RTMIN+1 [TERM]=RTMIN+2 [HUP]=RTMIN+3)
declare -A phases_insisting=([INT]=RTMIN+5 [TERM]=RTMIN+6 [HUP]=RTMIN+7)

# ---- the face ----

face_heard=           # the signal that came last
face_before=          # the same, whether or not the phase that it came in has ended
face_insists=         # there was more than one
face_worker=          # the worker's process, from when it can answer

# What the worker runs sees the variables of this function.
phases_face() {
	set +e
	local face_pid face_from face_to face_out face_alive face_name
	trap '' PIPE
	for face_name in INT TERM HUP; do
		# shellcheck disable=SC2064
		trap "face_signal $face_name" "$face_name"
	done
	{ command exec {face_out}>&1; } 2> /dev/null || { echo "${0##*/}: error: standard output is closed; what is found is told there" >&2; exit 1; }
	coproc phases_worker { phases_work "$@"; }
	face_pid=$!
	# shellcheck disable=SC2154   # coproc sets them; it forgets them when the worker ends, which begins when it has an answer
	exec {face_from}<&"${phases_worker[0]}" {face_to}>&"${phases_worker[1]}" {face_out}>&-
	# Where the face is killed, the worker ends in order.
	exec {face_alive}> >(
		trap '' INT TERM HUP
		exec {face_from}<&- {face_to}>&-
		read -r _ || kill -s "${phases_signals[TERM]}" "$face_pid" 2> /dev/null
	)
	face_the_worker
	trap '' INT TERM HUP
	wait "$face_pid"
	local status=$?
	echo end >&"$face_alive"
	exit "$status"
}

face_signal() {
	# A terminal that goes may say so twice.
	[ -z "$face_before" ] || [ "$1$face_before" = HUPHUP ] || face_insists=yes
	face_heard=$1 face_before=$1
	[ -z "$face_worker" ] || face_pass "$1"
}

face_pass() {
	local signal=${phases_signals[$1]}
	[ -z "$face_insists" ] || signal=${phases_insisting[$1]}
	kill -s "$signal" "$face_worker" 2> /dev/null
}

# The worker's lines: "ready"; "log PHASES FILE", the file quoted; "budget SECONDS"; "devices NAME...", with tabs between;
# "NUMBER SECONDS NAME" begins a phase, "end" ends it.  Each is answered.
# Warnings are shown as they come, and what goes on (live.sh).
face_the_worker() {
	local now_us number=0 limit=0 name='' began=0 note='' next=10 rest='' total=0 log='' word line
	local live live_lines live_first live_end live_devices live_shares live_curve live_best live_told live_unit
	local live_bold live_green live_plain live_bars live_levels
	live_begin
	while :; do
		if read -r -t 1 word <&"$face_from"; then
			read_log
			live_clear
			case $word in
			ready)
				face_worker=$face_pid
				[ -z "$face_heard" ] || face_pass "$face_heard"
				;;
			'log '*)
				read -r total line <<< "${word#log }"
				eval "exec {log}< $line"
				;;
			'budget '*)
				read_clock
				live_first=$now_us live_end=$((now_us + ${word#budget } * 1000000))
				;;
			'devices '*) IFS=$'\t' read -r -a live_devices <<< "${word#devices }" ;;
			end) number=0 face_heard='' ;;
			*)
				IFS='|' read -r number limit name <<< "$word"
				read_clock
				began=$now_us note='' next=10
				[ -z "$live" ] || live_tick
				;;
			esac
			echo go >&"$face_to"
		elif [ $? -le 128 ]; then
			return
		else
			[ "$number" -eq 0 ] || [ -z "$face_heard" ] || kill -s RTMIN+4 "$face_worker" 2> /dev/null
			[ "$number" -eq 0 ] || { read_log; live_tick; }
		fi
	done
}

# ---- the worker ----

phases_work() {
	trap '' INT TERM HUP
	trap - PIPE
	for face_name in INT TERM HUP; do
		# shellcheck disable=SC2064
		trap "phase_signal $face_name" "${phases_signals[$face_name]}"
		# shellcheck disable=SC2064
		trap "insisted=yes; phase_signal $face_name" "${phases_insisting[$face_name]}"
	done
	trap send_phase_signal RTMIN+4
	exec {phases_heard}<&0 {phases_tell}>&1 < /dev/null >&"$face_out" {face_out}>&-
	tell_face ready
	set -e
	"$@"
}

phases_begin() {
	phases_program=$1 phases_dir=$2 phases_n=$3 phases_log=$2/log
	exec {phases_lock}>> "$2/.lock"
	if ! flock -n "$phases_lock"; then
		echo "$1: error: '$2' is in use by another $1 (process $(cat "$2/.lock")); -o another directory" >&2
		exit 1
	fi
	echo $$ > "$2/.lock"
	: > "$phases_log"
	trap 'phases_exit $? "$BASH_COMMAND"' EXIT
	tell_face "log $phases_n ${phases_log@Q}"
}

phases_end() {
	[ -z "$phase_group" ] || kill -TERM -- "-$phase_group" 2> /dev/null || true
	phase_group=
	rm -f "$phases_dir/.failed"
}

# phases_exit STATUS COMMAND: what has ended the worker, where nobody has: a command between two phases that failed, perhaps without a word.
phases_exit() {
	[ "$1" -eq 0 ] || [[ $2 = exit* ]] || say "error: '$2' failed with status $1 (in or behind: $phase)" || true
	phases_end
}

# ---- a phase ----

run_phase() {
	[ -z "$interrupted" ] || return 1    # a signal came between two phases
	local orderly='' status=0 now_us began took
	read_clock
	began=$now_us
	if [ "$1" = -g ]; then
		orderly=yes
		shift
	fi
	phase=$1 phase_orderly=$orderly phase_signals=0
	phase_log_start=$(stat -c %s "$phases_log")
	phases_done=$((phases_done + 1))
	rm -f "$phases_dir/.failed" "$phases_dir/.cut"
	local given=${3:-0}
	tell_face "$phases_done|${given%.*}|$phase"
	set -m    # a process group of its own, which send_phase_signal names
	(
		set +em
		# shellcheck disable=SC2030
		in_phase=yes phase_began=$began
		trap - EXIT
		exec {phases_heard}<&- {phases_tell}>&-
		trap : TERM HUP    # these end the programs; the shells stay until they have ended
		"$2"
	) < /dev/null >> "$phases_log" 2>&1 &
	phase_group=$!
	set +m
	[ -z "$interrupted" ] || [ "$phase_signals" -gt 0 ] || phase_signal "$interrupted"    # it came since the question above
	# A signal ends the wait, not the phase.  Where both end at once, bash can forget the phase's status, and would
	# wait for it for ever.
	local waked
	while :; do
		waked=$phase_waked
		wait "$phase_group" 2> /dev/null && status=0 || status=$?
		[ "$waked" -ne "$phase_waked" ] || break
		kill -0 "$phase_group" 2> /dev/null || break
	done
	phase_group=
	tell_face end
	read_clock
	took=$(((now_us - began) / 100000))
	phases_times+="${phases_times:+, }$phase $((took / 10)).$((took % 10)) s"
	note_cut "$given" $((100 * took))
	return "$status"
}

# note_cut GIVEN MILLISECONDS: what the phase had of its time, where it was cut short or took a fifth more, and a second more.
note_cut() {
	local left_out='' line
	[ ! -f "$phases_dir/.cut" ] || while IFS= read -r line; do left_out+="${left_out:+, }$line"; done < "$phases_dir/.cut"
	rm -f "$phases_dir/.cut"
	[ -n "$1" ] && [ "$1" != 0 ] || return 0
	[ -n "$left_out" ] || awk -v g="$1" -v t="$2" 'BEGIN { exit !(t / 1e3 > 1.2 * g && t / 1e3 > g + 1) }' || return 0
	phases_times+=" (given $(LC_ALL=C printf %.1f "$1")${left_out:+, without $left_out})"
}

cut_short() { echo "$1" >> "$phases_dir/.cut"; }

taken() {
	local now_us
	read_clock
	printf '%d.%02d\n' $(((now_us - phase_began) / 1000000)) $(((now_us - phase_began) / 10000 % 100))
}

stage() {
	local status=0
	# shellcheck disable=SC2031   # a phase's shell
	[ -z "$in_phase" ] || trap : TERM HUP
	"$@" || status=$?
	[ "$status" -eq 0 ] || echo "$status $1" >> "$phases_dir/.failed"
	return "$status"
}

phases_took() { echo "$phases_times"; }

phases_budget() { tell_face "budget $1"; }
phases_devices() { local IFS=$'\t'; tell_face "devices $*"; }

phase_signal() {
	interrupted=$1
	[ -n "$phase_group" ] || return 0
	phase_signals=$((phase_signals + 1))
	send_phase_signal
}

send_phase_signal() {
	phase_waked=$((phase_waked + 1))
	[ -n "$phase_group" ] && [ "$phase_signals" -gt 0 ] || return 0
	if [ -n "$phase_orderly" ] && [ "$phase_signals" -eq 1 ]; then
		interrupt_phase
	else
		kill -TERM -- "-$phase_group" 2> /dev/null || true
	fi
}

# SIGINT for those of the phase's programs that answer it, and have not had it; one that has just begun may do so later.
interrupt_phase() {
	local file line group caught
	for file in /proc/[0-9]*/stat; do
		read -r line < "$file" || continue
		read -r _ _ group _ <<< "${line##*) }"
		[ "$group" = "$phase_group" ] || continue
		while read -r line caught; do
			[ "$line" != SigCgt: ] || ! ((0x$caught & 2)) || kill -INT "$(basename "${file%/stat}")" || true
		done < "${file%stat}status" || continue     # it has ended meanwhile
	done 2> /dev/null
}

# 128 and the number of the signal that came.
signal_status() { echo $((128 + $(kill -l "$interrupted"))); }

# ---- its failure ----

# Of the complaints of the phase, the first one that no other program's failure has caused.
first_cause() {
	tail -c +$((phase_log_start + 1)) "$phases_log" | grep ': error: ' |
		grep -v -e "\(truncated\|empty\) input '\(-\|[^']*/\.loop\)'" \
			-e "input '[^']*' ends where the program that wrote it failed$" \
			-e ": error: nobody reads '" |
		head -n 1
}

# The status of a PROGRAM that failed; of the first one that did.
failed_status() {
	local status program first=
	while read -r status program; do
		first=${first:-$status}
		if [ "$program" = "$1" ]; then
			echo "$status"
			return
		fi
	done 2> /dev/null < "$phases_dir/.failed"
	echo "${first:-1}"
}

# Tell why the last phase failed; the status is what to exit with.
phase_complaint() {
	local cause program status
	cause=$(first_cause)
	program=${cause%%: error: *}
	status=$(failed_status "$program")
	if [ -n "$cause" ]; then
		echo "$phases_program: error: ${cause#*: error: } ($program)" >&2
	elif ! { head -c 65536 /dev/zero > "$phases_dir/.room"; } 2> /dev/null; then
		rm -f "$phases_dir/.room" 2> /dev/null
		echo "$phases_program: error: cannot write in '$phases_dir': no space is left, or it may not be written" >&2
		status=1
	else
		rm -f "$phases_dir/.room" 2> /dev/null
		# What was killed says nothing.
		read -r status program < <(grep -E '^(129|1[3-9][0-9]) ' "$phases_dir/.failed" 2> /dev/null ||
			grep . "$phases_dir/.failed" 2> /dev/null || echo "$status $phase")
		echo "$phases_program: error: $program ended with status $status$([ "$status" -le 128 ] ||
			echo ", signal $(kill -l "$status")"); it said last: $(tail -n 1 "$phases_log")" >&2
	fi
	[ "$status" -le 3 ] || status=1
	return "$status"
}

phase_failed() { phase_complaint || exit; }

# ---- its progress ----

# One line to the face, and its answer: what it has shown of progress is gone then.  It may have been killed.
tell_face() {
	if (trap - PIPE; echo "$1" >&"$phases_tell"); then
		read -r -t 10 _ <&"$phases_heard" || true
	fi
} 2> /dev/null

# What the programs have said since.
read_log() {
	[ -n "$log" ] || return 0
	while IFS= read -r line <&"$log" || { rest+=$line; false; }; do
		line=$rest$line rest=
		case $line in
		*': warning: '*) live_clear; echo "$line" >&2 ;;
		'devrun: race: '*) live_hear "${line#devrun: race: }" ;;
		'reinforce: episode '*': '*', mean '*) line=${line#*: *: } && live_hear "${line%%, mean *}" ;;
		esac
	done
}

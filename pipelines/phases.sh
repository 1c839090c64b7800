# shellcheck shell=bash
# phases.sh - for programs that run one pipeline after another, each of them a phase: signals reach it in
# order, its progress is shown, and of its failure the first cause is told once.  To be sourced.
#
#   phases_begin PROGRAM DIR N     there will be N phases; DIR/log gets what their programs say; DIR is locked, by
#                                  this shell and what it starts, so that no other one works there
#   run_phase [-g] NAME FUNCTION [SECONDS]
#                                  FUNCTION in the background, and its status; progress shows SECONDS as its limit
#   stage COMMAND...               in FUNCTION: a program of its pipeline
#   phase_complaint                tell why the last phase failed, by its first cause; its status is that program's
#   phase_failed                   the same, and exit with that status
#   phases_took                    "model 0.4 s, profile 20.1 s", of the phases so far
#   phases_end                     before the program prints its results
#
# A signal (INT, TERM, HUP) ends the phase: a first one lets a phase of -g end in order (SIGINT, which reinforce answers;
# the other programs ignore it), any other one is SIGTERM.  $interrupted is then its name, and FUNCTION's status counts.

interrupted=          # the signal that came last
phase=                # the one that runs, or ran last
phase_group=          # its process group; empty: none runs
phase_signals=0       # that it has had
phase_log_start=0     # bytes of the log before it
phases_done=0
phases_times=

say() { echo "$phases_program: $1" >&2; }

phases_begin() {
	phases_program=$1 phases_dir=$2 phases_n=$3 phases_log=$2/log
	exec {phases_lock}>> "$2/.lock"
	if ! flock -n "$phases_lock"; then
		echo "$1: error: '$2' is in use by another $1 (process $(cat "$2/.lock")); -o another directory" >&2
		exit 1
	fi
	echo $$ > "$2/.lock"
	: > "$phases_log"
	local name
	for name in INT TERM HUP; do
		# shellcheck disable=SC2064
		trap "phase_signal $name" "$name"
	done
	trap phases_end EXIT
	# The watcher ends with this shell, which alone answers signals.
	coproc phases_watcher { set +e; trap '' INT TERM HUP; exec {phases_lock}>&-; watch_phases; }
}

phases_end() {
	[ -z "$phase_group" ] || kill -TERM -- "-$phase_group" 2> /dev/null || true
	phase_group=
	rm -f "$phases_dir/.failed"
}

# ---- a phase ----

run_phase() {
	[ -z "$interrupted" ] || return 1    # a signal came between two phases
	local orderly='' status=0 began=${EPOCHREALTIME/[.,]/} took
	if [ "$1" = -g ]; then
		orderly=yes
		shift
	fi
	phase=$1 phase_orderly=$orderly phase_signals=0
	phase_log_start=$(trap '' INT; stat -c %s "$phases_log")
	phases_done=$((phases_done + 1))
	rm -f "$phases_dir/.failed"
	tell_watcher "$phases_done" "${3:-0}" "$phase"
	set -m    # a process group of its own: Ctrl-C reaches this shell alone
	(
		set +em
		trap '' INT
		trap - EXIT
		trap : TERM HUP    # these end the programs; the shells stay until they have ended
		"$2"
	) < /dev/null >> "$phases_log" 2>&1 &
	phase_group=$!
	set +m
	# A signal ends the wait, not the phase.  Where both end at once, bash can forget the phase's status, and would
	# wait for it for ever.
	local heard
	while :; do
		heard=$phase_signals
		wait "$phase_group" 2> /dev/null && status=0 || status=$?
		[ "$heard" -ne "$phase_signals" ] || break
		kill -0 "$phase_group" 2> /dev/null || break
	done
	phase_group=
	tell_watcher end
	took=$(((${EPOCHREALTIME/[.,]/} - began) / 100000))
	phases_times+="${phases_times:+, }$phase $((took / 10)).$((took % 10)) s"
	return "$status"
}

stage() {
	local status=0
	trap : TERM HUP
	"$@" || status=$?
	[ "$status" -eq 0 ] || echo "$status $1" >> "$phases_dir/.failed"
	return "$status"
}

phases_took() { echo "$phases_times"; }

phase_signal() {
	interrupted=$1
	[ -n "$phase_group" ] || return 0
	phase_signals=$((phase_signals + 1))
	if [ -n "$phase_orderly" ] && [ "$phase_signals" -eq 1 ]; then
		kill -INT -- "-$phase_group" 2> /dev/null || true
	else
		kill -TERM -- "-$phase_group" 2> /dev/null || true
	fi
}

# 128 and the number of the signal that came.
signal_status() { echo $((128 + $(kill -l "$interrupted"))); }

# ---- its failure ----

# Of the complaints of the phase, the first one that no other program's failure has caused.
first_cause() {
	tail -c +$((phase_log_start + 1)) "$phases_log" | grep ': error: ' |
		grep -v -e "\(truncated\|empty\) input '\(-\|[^']*/\.loop\)'" \
			-e 'the reader of the output has gone$' -e ": error: nobody reads '" |
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
	else
		# What was killed says nothing.
		read -r status program < <(grep -E '^(129|1[3-9][0-9]) ' "$phases_dir/.failed" 2> /dev/null ||
			cat "$phases_dir/.failed" 2> /dev/null || echo "$status $phase")
		echo "$phases_program: error: $program ended with status $status$([ "$status" -le 128 ] ||
			echo ", signal $(kill -l "$status")"); it said last: $(tail -n 1 "$phases_log")" >&2
	fi
	[ "$status" -le 3 ] || status=1
	return "$status"
}

phase_failed() { phase_complaint || exit; }

# ---- its progress ----

tell_watcher() {
	# shellcheck disable=SC2154   # coproc sets them
	if echo "$*" >&"${phases_watcher[1]}"; then
		read -r -t 10 _ <&"${phases_watcher[0]}" || true
	fi
} 2> /dev/null

# The watcher: "NUMBER SECONDS NAME" begins a phase, "end" ends it; each is answered.  Warnings are shown as they
# come, and what a phase of more than 2 seconds does: on a terminal a line that is rewritten, in a log now and then.
watch_phases() {
	local number=0 limit=0 name='' began=0 note='' next=10 shown='' rest='' word line log
	exec {log}< "$phases_log"
	while :; do
		if read -r -t 1 word; then
			read_log
			clear_line
			if [ "$word" = end ]; then
				number=0
			else
				read -r number limit name <<< "$word"
				began=$SECONDS note='' next=10
			fi
			echo 'it is'
		elif [ $? -le 128 ]; then
			break
		elif [ "$number" -gt 0 ]; then
			read_log
			show_progress
		fi
	done
}

# What the programs have said since.
read_log() {
	while IFS= read -r line <&"$log" || { rest+=$line; false; }; do
		line=$rest$line rest=
		case $line in
		*': warning: '*) clear_line; echo "$line" >&2 ;;
		'reinforce: episode '*': '*', mean '*) note=${line#*: *: } note=", ${note%%, mean *}" ;;
		esac
	done
}

clear_line() {
	[ -z "$shown" ] || printf '\r\033[K' >&2
	shown=
}

show_progress() {
	local now=$((SECONDS - began)) of='' text
	[ "$now" -ge 2 ] || return 0
	[ "$limit" = 0 ] || of=/$limit
	text="[$number/$phases_n] $name $now$of s$note"
	if [ -t 2 ]; then
		printf '\r\033[K%s' "${text:0:${COLUMNS:-80}-1}" >&2
		shown=yes
	elif [ "$now" -ge "$next" ]; then
		echo "$phases_program: $text" >&2
		next=$((next < 60 ? next * 2 : next + 60))
	fi
}

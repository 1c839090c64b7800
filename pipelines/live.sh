# shellcheck shell=bash disable=SC2154   # the face's variables: number, total, name, limit, began, note, next
# live.sh - what the face of phases.sh shows while a phase runs: on a terminal a view of a few lines that is redrawn in place
# (the phase, how much time is over, the best so far, which devices compute it), elsewhere a line now and then.  Builtins alone, as
# the face starts no programs.  To be sourced.
#
#   live_begin            once, before anything is shown
#   live_hear NOTE        what a program has told: "200 placements, best 2.04 ms (1.75x), shares 49 51"
#   live_tick             once a second, behind what was heard
#   live_clear            nothing of it is to be seen
# A terminal that is dumb gets lines, as does what is none.

live_begin() {
	local locale=${LC_ALL:-${LC_CTYPE:-${LANG:-}}}
	live='' live_lines=0 live_first=0 live_end=0 live_devices=() live_shares=() live_curve=() live_best='' live_told='' live_unit=''
	live_bold='' live_green='' live_plain='' live_bars=('#' '.') live_levels=(_ . - '=' '*' '#')
	[ -t 2 ] && [ "${TERM:-dumb}" != dumb ] || return 0
	live=yes
	[ -n "${NO_COLOR:-}" ] || { live_bold=$'\e[1m' live_green=$'\e[32m' live_plain=$'\e[0m'; }
	if [[ ${locale,,} =~ \.utf-?8 ]]; then
		live_bars=(█ ░) live_levels=(▁ ▂ ▃ ▄ ▅ ▆ ▇ █)
	fi
}

# Millionths of a number, as bash has no fractions.
live_millionths() {   # live_millionths VARIABLE NUMBER
	local LC_ALL=C mantissa=${2%e*} exponent=0
	[[ $2 != *e* ]] || exponent=${2#*e}
	exponent=${exponent#+}
	[[ $exponent == -* ]] && exponent=-$((10#${exponent#-})) || exponent=$((10#$exponent))
	printf -v "$1" %.0f "${mantissa}e$((exponent + 6))" 2> /dev/null
}

live_hear() {
	local heard=$1
	if [[ $heard == *', shares '* ]]; then
		read -r -a live_shares <<< "${heard##*, shares }"
		heard=${heard%%, shares *}
	fi
	note=", $heard"
	# How many times as fast as the best single device it is goes up and down less with the machine than its time.
	if [[ $heard =~ \(([0-9.]+)x\) ]]; then
		live_of x "${BASH_REMATCH[1]}"
	elif [[ $heard =~ best\ ([0-9.]+(e[+-]?[0-9]+)?)\ ms ]]; then
		live_of ' ms' "${BASH_REMATCH[1]}"
	fi
}

# live_of UNIT NUMBER: the curve is of one unit.
live_of() {
	[ "$live_unit" = "$1" ] || live_curve=()
	live_unit=$1 live_told=$2
}

# What was told last is the curve's next point; where there are too many, every other one goes.
live_add_point() {
	local point i thinner=()
	[ -n "$live_told" ] || return 0
	live_millionths point "$live_told"
	[ "${point:-0}" -gt 0 ] || return 0
	live_curve+=("$point")
	live_best=$live_told
	[ ${#live_curve[@]} -gt 80 ] || return 0
	for ((i = 0; i < ${#live_curve[@]}; i += 2)); do thinner+=("${live_curve[i]}"); done
	live_curve=("${thinner[@]}")
}

# live_bar VARIABLE CELLS FULL: of so many cells so many that are full.
live_bar() {
	local cells='' cell
	for ((cell = 0; cell < $2; cell++)); do cells+=${live_bars[cell >= $3]}; done
	printf -v "$1" %s "$cells"
}

# live_clock VARIABLE SECONDS: 1:05
live_clock() { printf -v "$1" '%d:%02d' $(($2 / 60)) $(($2 % 60)); }

live_time_line() {
	local over all left bar
	live_clock over $(((now_us - live_first) / 1000000))
	if [ "$live_end" -eq 0 ]; then
		lines+=("  time  $over")
		return
	fi
	left=$(((live_end - now_us + 999999) / 1000000))
	[ "$left" -ge 0 ] || left=0
	live_clock all $(((live_end - live_first + 500000) / 1000000))
	live_bar bar 30 $((30 * (now_us - live_first) / (live_end - live_first + 1)))
	lines+=("  time  $bar $over of $all, $left s left")
}

live_curve_line() {
	local n=${#live_curve[@]} point low high i j text='' top=$((${#live_levels[@]} - 1))
	[ "$n" -gt 0 ] || return 0
	low=${live_curve[0]} high=$low
	for point in "${live_curve[@]}"; do
		[ "$point" -ge "$low" ] || low=$point
		[ "$point" -le "$high" ] || high=$point
	done
	for ((i = 0; i < (n < 40 ? n : 40); i++)); do
		j=$((n < 40 ? i : i * n / 40))
		text+=${live_levels[high > low ? top * (live_curve[j] - low) / (high - low) : 0]}
	done
	printf -v point '%d.%02d' $((live_curve[0] / 1000000)) $((live_curve[0] / 10000 % 100))
	lines+=("  best  $point$live_unit $live_green$text$live_plain $live_best$live_unit")
}

live_devices_line() {
	local i bar text='' n=${#live_devices[@]}
	[ "$n" -gt 0 ] && [ ${#live_shares[@]} -eq "$n" ] || return 0
	for ((i = 0; i < n; i++)); do
		[[ ${live_shares[i]} =~ ^[0-9]+$ ]] || return 0
		[ "$n" -le 6 ] || [ "${live_shares[i]}" -gt 0 ] || continue
		live_bar bar $(((live_shares[i] + 4) / 5)) 100
		text+="${text:+   }${live_devices[i]} $live_green$bar$live_plain ${live_shares[i]} %"
	done
	lines+=("  on    $text")
}

# The lines are as long as they are: the terminal cuts them (no automatic margins).
live_draw() {
	local lines=("$live_bold$text$live_plain") i frame=''
	live_time_line
	live_curve_line
	live_devices_line
	[ "$live_lines" -le 1 ] || frame=$'\e['$((live_lines - 1))A
	frame+=$'\r\e[?7l'
	for ((i = 0; i < ${#lines[@]}; i++)); do
		[ "$i" -eq 0 ] || frame+=$'\n'
		frame+=${lines[i]}$'\e[K'
	done
	printf '%s\e[J\e[?7h' "$frame" >&2
	live_lines=${#lines[@]}
}

live_clear() {
	[ "$live_lines" -gt 0 ] || return 0
	[ "$live_lines" -le 1 ] || printf '\e[%dA' $((live_lines - 1)) >&2
	printf '\r\e[J' >&2
	live_lines=0
}

# of a phase, nothing in its first two seconds, and in a log a line after 10, 20, 40 seconds and then every minute.
live_tick() {
	local now_us now of='' text
	read_clock
	[ "$live_first" -gt 0 ] || live_first=$now_us
	live_add_point
	now=$(((now_us - began) / 1000000))
	[ "$limit" = 0 ] || of=/$limit
	text="[$number/$total] $name $now$of s$note"
	if [ -n "$live" ]; then
		[ $((now_us - live_first)) -lt 2000000 ] || live_draw
	elif [ "$now" -ge "$next" ] && [ "$now" -ge 2 ]; then
		echo "${0##*/}: $text" >&2
		next=$((next < 60 ? next * 2 : next + 60))
	fi
}

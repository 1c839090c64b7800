# shellcheck shell=bash disable=SC2034   # whoever sources it uses them
# clock.sh - how long things take, whoever sets the time of day meanwhile: $SECONDS and $EPOCHREALTIME follow that.  To be
# sourced.

# read_clock: now_us, microseconds of a clock that only goes forward, whoever sets the time of day; it ticks every hundredth of a
# second.  $SECONDS and $EPOCHREALTIME follow the time of day.
read_clock() {
	local up
	read -r up _ < /proc/uptime
	now_us=${up/./}0000
}

# time_command COMMAND...: its status; took_us, what it took.  By the time of day, which is finer, unless that was set meanwhile.
time_command() {
	local now_us began day status=0
	read_clock
	began=$now_us day=${EPOCHREALTIME/[.,]/}
	"$@" || status=$?
	took_us=$((${EPOCHREALTIME/[.,]/} - day))
	read_clock
	((took_us - (now_us - began) < 20000 && now_us - began - took_us < 20000)) || took_us=$((now_us - began))
	return "$status"
}

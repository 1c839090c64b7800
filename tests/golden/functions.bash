# functions.bash - what the commands of the corpus may call.
# shellcheck shell=bash

# loop IN OUT - a training loop: gpnembed $GPN | placepolicy $POLICY | $RUN (devsim) | reinforce $LEARN
loop() {
	rm -f fifo && mkfifo fifo
	# shellcheck disable=SC2086
	gpnembed $GPN --params-from fifo "$1" | placepolicy $POLICY | ${RUN:-devsim} |
		reinforce $LEARN --params-to fifo -o "$2"
	local rc=$?
	rm -f fifo
	return $rc
}

# loop_without_cost IN OUT - the same for a stream without devs and cost: the policy sees no costs
loop_without_cost() {
	POLICY="-D cpu,gpu $POLICY" RUN="devsim --spec paper" loop "$1" "$2"
}

# ran STREAM [OPTION]... - one inference of each placement, the results in out/; no clock is told
ran() {
	local stream=$1
	shift
	devrun -n 1 --warmup 0 --no-reference --outputs out "$@" -o run.mp "$stream" && rm run.mp
}

# prefixes FILE PROGRAM [ARG]... - the program on several beginnings of a file
prefixes() {
	local file=$1 size n
	shift
	size=$(stat -c %s "$file")
	for n in 0 1 7 40 $((size / 3)) $((size / 2)) $((size - 30)) $((size - 1)); do
		echo "-- $n"
		head -c "$n" "$file" | "$@" > /dev/null 2> err
		echo "status $?"
		cat err
	done
	rm err
}

# screen - of the placements that the simulator ran, the best three, simulated again
screen() {
	devsim | topk -k 3 | devsim
}

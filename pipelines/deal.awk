# deal.awk - the next pass of a calibration: which placements run together in which call, how many rounds.
#
#   awk -f deal.awk -v pass=3 -v seed=1 -v chunk=50 -v left=200 -v spent_all=90 -v spent_near=0 \
#       predicted.tsv [placements.tsv]
#   awk -f deal.awk -v pass=1 -v seed=1 -v chunk=50 -v rounds=4 predicted.tsv
#
# predicted.tsv is as runs.awk prints it; placements.tsv (calibrate's) has what is measured so far.  Placements
# are named by their place in the stream, from 1, as devrun --only takes them.
#
# A pass is over all, or over those near the best alone: to put a slow placement in its rank few runs are
# enough, the good ones are close to each other and take a small part of the time.  All get ALL_SHARE of it.
# Near is what is within REACH of the best by either statistic; what is good within that limit of 1.5 is
# so rarely missed, and predictions have no say.  In every call are the single devices and COMMON others.
# With `rounds` every pass is over all, and has as many.
#
# Prints "all|near ROUNDS SECONDS", SECONDS being about what the pass takes, and a list per call.
BEGIN {
	FS = "\t"
	COMMON = 4
	REACH = 1.7
	ALL_SHARE = 0.35
	NEAR_SHARE = 0.5     # of what is left: later passes know better what is near
	LEAST = 2
	MOST = 8
	ALL_S = 120          # a pass should not take much longer, so that there are several
	NEAR_S = 80
	SHORT_S = 0.06       # runs that take less are made twice (devrun --rounds)
	CALL_S = 0.5         # to begin with
}

FNR == 1 { file++ }
file == 1 {
	n++
	s[n] = $3 + 0
	singles += $2 == "single" && singles == n - 1
	next
}
FNR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}
{
	i = $1 + 1
	fastest[i] = $column["fastest_s"]
	mean[i] = $column["mean_s"]
	s[i] = $column["mean_raw_s"]
	least_fastest = measured && least_fastest < fastest[i] ? least_fastest : fastest[i] + 0
	least_mean = measured++ && least_mean < mean[i] ? least_mean : mean[i] + 0
}

function draw(k) {
	state = (state * 16807) % 2147483647
	return 1 + int(state / 2147483647 * k)
}

function seconds(i) { return 1.2 * s[i] * (s[i] < SHORT_S ? 2 : 1) }

# Which are in every call: of all parts of the list, which is in a random order.
function choose_common(    i, k) {
	k = int((n - singles) / 3)
	k = k < COMMON ? k : COMMON
	for (i = 1; i <= singles; i++)
		always[i]
	for (i = 1; i <= k; i++)
		always[singles + int((i - 0.5) / k * (n - singles)) + 1]
	for (i = 1; i <= n; i++)
		if (i in always) {
			head = head "," i
			head_s += seconds(i)
		}
	head = substr(head, 2)
}

function is_near(i) { return i in mean && (fastest[i] <= REACH * least_fastest || mean[i] <= REACH * least_mean) }

# The placements of a kind of pass but those in every call, in rest[]; how many calls, what a round takes.
function gather(kind,    i) {
	rest_n = 0
	round_s = 0
	for (i = 1; i <= n; i++)
		if (!(i in always) && (kind == "all" || is_near(i))) {
			rest[++rest_n] = i
			round_s += seconds(i)
		}
	calls = int((rest_n + chunk - 1) / chunk)
	calls = calls < 1 ? 1 : calls
	round_s += calls * head_s
}

function clamp(x, lo, hi) { return x < lo ? lo : x > hi ? hi : int(x) }

# Rounds of a pass of which a round takes round_s, and seconds for it; one more comes before them.
function how_many(share, most_s,    x) {
	if (rounds)
		return rounds
	x = share * left / round_s - 1
	return clamp(x < most_s / round_s ? x : most_s / round_s, LEAST, MOST)
}

function all_pass() {
	kind = "all"
	gather(kind)
	k = how_many(ALL_SHARE, ALL_S)
	pass_s = (k + 1) * round_s + calls * CALL_S
}

function near_pass() {
	kind = "near"
	gather(kind)
	k = how_many(NEAR_SHARE, NEAR_S)
	pass_s = (k + 1) * round_s + calls * CALL_S
}

END {
	choose_common()
	all_pass()
	most = rest_n
	if (measured && !rounds && spent_all + pass_s > ALL_SHARE * (spent_all + spent_near + pass_s)) {
		near_pass()
		if (rest_n > 0.9 * most)
			all_pass()
	}
	printf "%s %d %.0f\n", kind, k, pass_s
	state = seed % 1000000 * 1000 + pass
	draw(2); draw(2)
	for (i = rest_n; i > 1; i--) {
		j = draw(i)
		t = rest[i]
		rest[i] = rest[j]
		rest[j] = t
	}
	for (c = 1; c <= calls; c++) {
		line = head
		for (i = int((c - 1) * rest_n / calls) + 1; i <= int(c * rest_n / calls); i++)
			line = line "," rest[i]
		print line
	}
}

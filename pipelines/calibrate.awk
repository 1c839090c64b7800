# calibrate.awk - how well predictions rank and meet measurements.
#
#   awk -f calibrate.awk [-v format=text|tsv|md] [-v devices=A,B] [-v title=TEXT] [-v only=repeats] placements.tsv
#
# placements.tsv: a header line and a line per placement, columns by their names:
#   placement source predicted_s fastest_s mean_s copies copy_bytes predicted_busy_s measured_busy_s
# and, where there are, those of times.awk; busy times per device with commas between them.
#
# Two statistics of a placement's runs, fastest and mean, see times.awk.  Judged is the one that repeats
# better: Spearman's correlation of odd with even rounds, of the good placements; predictions have no say.
# The good ones are those within NEAR of the best measured.  Of r between halves the whole has the
# reliability R = 2 r / (1 + r) (Spearman 1910, Brown 1910), and what has no error itself correlates with
# it by sqrt(R).  Errors of means are those of ratios to the geometric mean of the common placements:
# how slow the machine is on the average is no property of a placement.
# Ranks of ties are averages; intervals are percentiles of BOOT bootstrap samples of placements (Efron
# 1979), drawn by a generator of our own (Park and Miller 1988) so that every awk gives the same.
# only=repeats: the judged statistic's repeatability and both ends of its interval, no more.
BEGIN {
	FS = OFS = "\t"
	NEAR = 1.5
	BOOT = 1000
	FEWER = 200
	WORST = 10
	state = 20131
	label["fastest"] = "fastest run"
	label["mean"] = "mean of faster runs"
	if (format == "")
		format = "text"
}

NR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	halves = "fastest_odd_rounds_s" in column
	passes = halves
	next
}
{
	n++
	id[n] = $1
	source[n] = get("source")
	p[n] = get("predicted_s") + 0
	for (c in column)
		if (c ~ /^(fastest|mean).*_s$/) {
			time[c, n] = $column[c] + 0
			if ($column[c] == "-" && c ~ /rounds/)
				halves = 0
			if ($column[c] == "-" && c ~ /passes/)
				one_pass[n]
		}
	explained = get("explained")
	is_common[n] = get("common") + 0
	commons += is_common[n]
	copies[n] = get("copies")
	bytes[n] = get("copy_bytes")
	p_busy[n] = get("predicted_busy_s")
	m_busy[n] = get("measured_busy_s")
	all[n] = n
}

# The field of the column with that name.
function get(name) { return name in column ? $column[name] : "-" }

# x[1 .. n]: the measured times in that column.
function take(name, x,    i) {
	for (i = 1; i <= n; i++)
		x[i] = time[name, i]
}

# list[]: the items of x within NEAR of the best; how many.
function near_best(x, list,    i, k) {
	best = x[1]
	for (i = 2; i <= n; i++)
		if (x[i] < best)
			best = x[i]
	for (i = 1; i <= n; i++)
		if (x[i] <= NEAR * best)
			list[++k] = i
	return k
}

# Uniform integer in 1 .. k.
function draw(k) {
	state = (state * 16807) % 2147483647
	return 1 + int(state / 2147483647 * k)
}

# Sort index[1 .. k] by key[index[]] (heap sort).
function sift(index_, key, i, k,    c, t) {
	t = index_[i]
	for (; (c = 2 * i) <= k; i = c) {
		if (c < k && key[index_[c + 1]] > key[index_[c]])
			c++
		if (key[index_[c]] <= key[t])
			break
		index_[i] = index_[c]
	}
	index_[i] = t
}
function sort(index_, key, k,    i, t) {
	for (i = int(k / 2); i >= 1; i--)
		sift(index_, key, i, k)
	for (i = k; i > 1; i--) {
		t = index_[1]
		index_[1] = index_[i]
		index_[i] = t
		sift(index_, key, 1, i - 1)
	}
}

# Average ranks of the items that order[1 .. k] has ascending by key, item i `times[i]` times over.
function ranks(order, key, times, k, rank,    i, j, below, same) {
	below = 0
	for (i = 1; i <= k; i = j) {
		same = 0
		for (j = i; j <= k && key[order[j]] == key[order[i]]; j++)
			same += times[order[j]]
		for (; i < j; i++)
			rank[order[i]] = below + (same + 1) / 2
		below += same
	}
}

# Spearman's rank correlation of x and y over items by_x[1 .. k], each times[] over.
function spearman(by_x, x, by_y, y, times, k,    i, v, w, mean, xy, xx, yy, rank_x, rank_y) {
	ranks(by_x, x, times, k, rank_x)
	ranks(by_y, y, times, k, rank_y)
	w = xy = xx = yy = 0
	for (i = 1; i <= k; i++)
		w += times[by_x[i]]
	mean = (w + 1) / 2
	for (i = 1; i <= k; i++) {
		v = by_x[i]
		xy += times[v] * (rank_x[v] - mean) * (rank_y[v] - mean)
		xx += times[v] * (rank_x[v] - mean) ^ 2
		yy += times[v] * (rank_y[v] - mean) ^ 2
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0
}

# Quantile q of x[1 .. k], ascending through order[]; linear between neighbours.
function quantile(order, x, k, q,    at, lo) {
	at = 1 + q * (k - 1)
	lo = int(at)
	return lo >= k ? x[order[k]] : x[order[lo]] + (at - lo) * (x[order[lo + 1]] - x[order[lo]])
}

# Of x and y over the items list[1 .. k]: Spearman's coefficient in rho, its interval in rho_lo .. rho_hi.
function correlation(x, y, list, k,    i, b, by_x, by_y, once, times, r, at) {
	for (i = 1; i <= k; i++) {
		by_x[i] = by_y[i] = list[i]
		once[list[i]] = 1
	}
	sort(by_x, x, k)
	sort(by_y, y, k)
	rho = spearman(by_x, x, by_y, y, once, k)
	for (b = 1; b <= BOOT; b++) {
		for (i = 1; i <= k; i++)
			times[list[i]] = 0
		for (i = 1; i <= k; i++)
			times[list[draw(k)]]++
		r[b] = spearman(by_x, x, by_y, y, times, k)
		at[b] = b
	}
	sort(at, r, BOOT)
	rho_lo = quantile(at, r, BOOT, 0.025)
	rho_hi = quantile(at, r, BOOT, 0.975)
	return rho
}

# The row of a correlation of x and y over list[1 .. k].
function correlate(name, x, y, list, k, wanted) {
	correlation(x, y, list, k)
	row(name, sprintf("%.3f", rho), sprintf("%.3f .. %.3f", rho_lo, rho_hi), wanted == "" ? "" : ">= " wanted, \
		wanted == "" ? "" : rho >= wanted ? "yes" : "no")
}

# How well `what` of odd rounds agrees with that of even ones, or of passes, over its good half; for passes of
# those that have both.
function repeats(what, of,    x, y, z, list, k, i, all_of) {
	take(what "_s", z)
	all_of = near_best(z, list)
	for (i = 1; i <= all_of; i++)
		if (of != "passes" || !(list[i] in one_pass))
			list[++k] = list[i]
	n_compared = k
	if (k < 2)
		return rho = 0
	take(what "_odd_" of "_s", x)
	take(what "_even_" of "_s", y)
	return correlation(x, y, list, k)
}

# err[]: of predictions by the times x, as ratios to the common placements where these are means.
function find_errors(x, relative, err,    i, k, sum) {
	for (i = 1; i <= n && relative; i++)
		if (is_common[i] || !commons) {
			sum += log(p[i] / x[i])
			k++
		}
	for (i = 1; i <= n; i++)
		err[i] = p[i] / x[i] / (k ? exp(sum / k) : 1) - 1
}

# The rows of one statistic; judged: with what is wanted.
function statistic(what, judged,    x, list, k, name) {
	take(what "_s", x)
	k = near_best(x, list)
	name = judged ? "" : label[what] ", "
	correlate(name "Spearman's rank correlation, all", p, x, all, n, judged ? 0.95 : "")
	correlate(name "Spearman's rank correlation, the good ones", p, x, list, k, judged ? 0.8 : "")
	find_errors(x, what == "mean", e)
	errors(name "error" (what == "mean" ? " of ratios" : ""), e, judged ? 0.08 : "", !judged)
}

# The rows of a statistic as it was measured, nothing put on one scale.
function as_measured(what,    x, list, k) {
	if (!((what "_raw_s") in column))
		return
	take(what "_raw_s", x)
	k = near_best(x, list)
	correlate("raw " label[what] ", rank correlation, all", p, x, all, n, "")
	correlate("raw " label[what] ", the good ones", p, x, list, k, "")
	find_errors(x, 0, e)
	errors("raw " label[what] ", error", e, "", 1)
}

function abs(x) { return x < 0 ? -x : x }
function percent(x) { return sprintf("%.1f %%", 100 * x) }
function signed(x) { return sprintf("%+.1f %%", 100 * x) }

# Rows of the errors err[]: of their sizes the median, of which fewer samples are drawn since each has to
# be sorted, and unless brief the 90th percentile and the signed median.
function errors(name, err, wanted, brief,    i, b, o, s, size, r, at, x, v) {
	for (i = 1; i <= n; i++) {
		size[i] = abs(err[i])
		o[i] = s[i] = i
	}
	sort(o, size, n)
	sort(s, err, n)
	v = quantile(o, size, n, 0.5)
	for (b = 1; b <= FEWER; b++) {
		for (i = 1; i <= n; i++) {
			x[i] = size[draw(n)]
			at[i] = i
		}
		sort(at, x, n)
		r[b] = quantile(at, x, n, 0.5)
	}
	for (i = 1; i <= FEWER; i++)
		at[i] = i
	sort(at, r, FEWER)
	row(name ", median", percent(v), sprintf("%.1f .. %.1f", 100 * quantile(at, r, FEWER, 0.025),
		100 * quantile(at, r, FEWER, 0.975)), wanted == "" ? "" : "<= " percent(wanted), \
		wanted == "" ? "" : v <= wanted ? "yes" : "no")
	if (brief)
		return
	row(name ", 90th percentile", percent(quantile(o, size, n, 0.9)), "", "", "")
	row(name ", signed median", signed(quantile(s, err, n, 0.5)), "", "", "")
}

function row(what, value, interval, wanted, met) {
	if (format == "md")
		printf "| %s | %s | %s | %s | %s |\n", what, value, interval, wanted, met
	else if (format == "tsv")
		print what, value, interval, wanted, met
	else
		printf "%-63s %9s  %16s  %9s  %s\n", what, value, interval, wanted, met
}

# Where the time goes: the device that is busy longest, and for how much of the latency.
function dominant(busy, s,    k, x, i, most) {
	k = split(busy, x, ",")
	most = 1
	for (i = 2; i <= k; i++)
		if (x[i] + 0 > x[most] + 0)
			most = i
	return s > 0 && k ? sprintf("%s %.0f %%", k_names >= most ? name[most] : "device " most - 1, 100 * x[most] / s) : "-"
}

function outliers(    i, o, size, v) {
	for (i = 1; i <= n; i++) {
		size[i] = -abs(err[i])
		o[i] = i
	}
	sort(o, size, n)
	if (format == "md")
		print "\n| worst | source | predicted ms | measured ms | error | copies | MB | busiest, predicted | busiest, measured |\n" \
			"|---|---|---|---|---|---|---|---|---|"
	else if (format == "tsv")
		print "worst", "source", "predicted_ms", "measured_ms", "error", "copies", "MB", "busiest_predicted", "busiest_measured"
	else
		printf "\n%-6s %-10s %9s %9s %8s %6s %7s  %-20s %s\n", "worst", "source", "pred. ms", "meas. ms", "error", "copies", "MB", "busiest, predicted", "busiest, measured"
	for (i = 1; i <= WORST && i <= n; i++) {
		v = o[i]
		printf format == "md" ? "| %s | %s | %.3f | %.3f | %s | %s | %.2f | %s | %s |\n" : format == "tsv" ? \
			"%s\t%s\t%.3f\t%.3f\t%s\t%s\t%.2f\t%s\t%s\n" : "%-6s %-10s %9.3f %9.3f %8s %6s %7.2f  %-20s %s\n", \
			id[v], source[v], p[v] * 1e3, m[v] * 1e3, signed(err[v]), copies[v], bytes[v] / 1e6, \
			dominant(p_busy[v], p[v]), dominant(m_busy[v], m[v])
	}
}

# Which statistic repeats better, in judged.  Its repeatability and interval: r_judged, lo_judged, hi_judged.
function choose(    what, k, i) {
	judged = "fastest"
	r_judged = -2
	k = split("fastest mean", stats, " ")
	for (i = 1; i <= k && halves; i++) {
		what = stats[i]
		r[what] = repeats(what, "rounds")
		lo[what] = rho_lo
		hi[what] = rho_hi
		if (r[what] > r_judged) {
			judged = what
			r_judged = r[what]
		}
	}
}

function repeatability(    i, what) {
	if (explained > 0)
		row("of the runs\047 variance, told by their pulses", percent(explained), "", "", "")
	for (i = 1; i <= 2; i++) {
		what = stats[i]
		row("repeatability, " label[what], sprintf("%.3f", r[what]), sprintf("%.3f .. %.3f", lo[what], hi[what]), "", "")
	}
	if (passes) {
		repeats(judged, "passes")
		if (n_compared >= 2)
			row("repeatability, odd against even passes", sprintf("%.3f", rho), \
				sprintf("%.3f .. %.3f", rho_lo, rho_hi), "", "")
	}
	row("a perfect prediction of the good ones, about", sprintf("%.3f", ceiling(r_judged)),
		sprintf("%.3f .. %.3f", ceiling(lo[judged]), ceiling(hi[judged])), "", "")
}

function ceiling(r) { return r > 0 ? sqrt(2 * r / (1 + r)) : 0 }

END {
	if (n < 2) {
		print "calibrate: error: fewer than two placements were both predicted and measured" > "/dev/stderr"
		exit 1
	}
	k_names = split(devices, name, ",")
	choose()
	if (only == "repeats") {
		printf "%.3f %.3f %.3f\n", r_judged, lo[judged], hi[judged]
		exit
	}
	take(judged "_s", m)
	n_good = near_best(m, good)
	find_errors(m, judged == "mean", err)
	if (format == "md")
		print "| " (title == "" ? "figure" : title) " | value | 95 % interval | wanted | met |\n|---|---|---|---|---|"
	else if (format == "tsv")
		print "figure", "value", "interval_95", "wanted", "met"
	else
		printf "%-63s %9s  %16s  %9s  %s\n", title, "value", "95 % interval", "wanted", "met"
	row("placements", n, "", "", "")
	row("of them within " NEAR "x of the best", n_good, "", "", "")
	row("fastest placement measured, ms", sprintf("%.3f", best * 1e3), "", "", "")
	row("judged", label[judged], "", "", "")
	if (halves)
		repeatability()
	statistic(judged, 1)
	statistic(judged == "mean" ? "fastest" : "mean", 0)
	as_measured("fastest")
	as_measured("mean")
	outliers()
}

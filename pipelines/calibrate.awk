# calibrate.awk - how well predictions rank and meet measurements.
#
#   awk -f calibrate.awk [-v format=text|tsv|md] [-v devices=A,B] [-v title=TEXT] placements.tsv
#
# placements.tsv: one header line, then per placement
#   placement source predicted_s measured_s median_s copies copy_bytes predicted_busy_s measured_busy_s
# busy times per device with commas between them.  The good ones are those within NEAR of the best
# measured.  Spearman's coefficient has average ranks for ties; intervals are percentiles of BOOT
# bootstrap samples of placements (Efron 1979), drawn by a generator of our own (Park and Miller 1988)
# so that every awk gives the same.
BEGIN {
	FS = OFS = "\t"
	NEAR = 1.5
	BOOT = 1000
	FEWER = 200
	WORST = 10
	state = 20131
	if (format == "")
		format = "text"
}

NR == 1 { next }
{
	n++
	id[n] = $1
	source[n] = $2
	p[n] = $3 + 0
	m[n] = $4 + 0
	med[n] = $5 + 0
	copies[n] = $6
	bytes[n] = $7
	p_busy[n] = $8
	m_busy[n] = $9
	if (best == "" || m[n] < best)
		best = m[n]
	if ($2 == "single" && (ref_m == "" || m[n] < ref_m)) {
		ref_m = m[n]
		ref_p = p[n]
	}
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

# Spearman's rank correlation of p and m over items by_p[1 .. k], each times[] over.
function spearman(by_p, by_m, times, k,    i, v, w, mean, xy, xx, yy) {
	ranks(by_p, p, times, k, rank_p)
	ranks(by_m, m, times, k, rank_m)
	w = xy = xx = yy = 0
	for (i = 1; i <= k; i++)
		w += times[by_p[i]]
	mean = (w + 1) / 2
	for (i = 1; i <= k; i++) {
		v = by_p[i]
		xy += times[v] * (rank_p[v] - mean) * (rank_m[v] - mean)
		xx += times[v] * (rank_p[v] - mean) ^ 2
		yy += times[v] * (rank_m[v] - mean) ^ 2
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0
}

# Quantile q of x[1 .. k], ascending through order[]; linear between neighbours.
function quantile(order, x, k, q,    at, lo) {
	at = 1 + q * (k - 1)
	lo = int(at)
	return lo >= k ? x[order[k]] : x[order[lo]] + (at - lo) * (x[order[lo + 1]] - x[order[lo]])
}

# The row of items list[1 .. k]: correlation with its interval.
function correlate(name, list, k, wanted,    i, b, by_p, by_m, once, times, r, rho, at) {
	for (i = 1; i <= k; i++) {
		by_p[i] = by_m[i] = list[i]
		once[list[i]] = 1
	}
	sort(by_p, p, k)
	sort(by_m, m, k)
	rho = spearman(by_p, by_m, once, k)
	for (b = 1; b <= BOOT; b++) {
		for (i = 1; i <= k; i++)
			times[list[i]] = 0
		for (i = 1; i <= k; i++)
			times[list[draw(k)]]++
		r[b] = spearman(by_p, by_m, times, k)
		at[b] = b
	}
	sort(at, r, BOOT)
	row(name, sprintf("%.3f", rho), sprintf("%.3f .. %.3f", quantile(at, r, BOOT, 0.025),
		quantile(at, r, BOOT, 0.975)), wanted == "" ? "" : ">= " wanted, wanted == "" ? "" : \
		rho >= wanted ? "yes" : "no")
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
		printf "%-52s %9s  %16s  %9s  %s\n", what, value, interval, wanted, met
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

END {
	if (n < 2) {
		print "calibrate: error: fewer than two placements were both predicted and measured" > "/dev/stderr"
		exit 1
	}
	k_names = split(devices, name, ",")
	for (i = 1; i <= n; i++) {
		all[i] = i
		err[i] = p[i] / m[i] - 1
		late[i] = p[i] / med[i] - 1
		if (m[i] <= NEAR * best)
			good[++n_good] = i
		if (ref_p > 0)
			relative[i] = (p[i] / ref_p) / (m[i] / ref_m) - 1
	}
	if (format == "md")
		print "| " (title == "" ? "figure" : title) " | value | 95 % interval | wanted | met |\n|---|---|---|---|---|"
	else if (format == "tsv")
		print "figure", "value", "interval_95", "wanted", "met"
	else
		printf "%-52s %9s  %16s  %9s  %s\n", title, "value", "95 % interval", "wanted", "met"
	row("placements", n, "", "", "")
	row("of them within " NEAR "x of the best", n_good, "", "", "")
	row("fastest placement measured, ms", sprintf("%.3f", best * 1e3), "", "", "")
	correlate("Spearman's rank correlation, all", all, n, 0.95)
	correlate("Spearman's rank correlation, the good ones", good, n_good, 0.8)
	errors("error", err, 0.08, 0)
	if (ref_p > 0)
		errors("error of the ratio to the best single device", relative, "", 1)
	errors("error against medians of runs", late, "", 1)
	outliers()
}

# times.awk - one time per placement from runs in many calls of devrun, in two ways.
#
#   awk -f times.awk -v common=1,2,5 CALL.tsv...
#
# CALL.tsv: what runs.awk prints of one call, named ...PASS.CALL.tsv; sample j of a row is of round j.
# Placements `common` (1, 2, ...) are in every call.  Prints, with a header line, per placement
#   fastest_s  its fastest run, each call's runs divided by how much slower the common placements' fastest
#              runs were there than anywhere (a geometric mean).  Of more runs the fastest would be faster:
#              it is the expected fastest of m of its runs, m the fewest that a placement has (in a call)
#   mean_s     exp u_i of log t = u_i + v_round + noise, fitted to the runs of all calls by turns: means over
#              a placement's runs, means over a round's (two-way layout; Tukey 1977, chapter 10, with means
#              without an eighth of the values at either end for medians); in the end u is
#              of the faster three quarters of a placement's runs, without the same eighth; rounds are of
#              one call each, and v is 0 in the mean
# Where runs have pulses (devrun --pulse), log t of the means is first freed of what they explain, see pulses();
# pulse=0 leaves them aside.  `explained` is the share of the runs' variance within placements, 0: not used.
# Prints both of all runs, of odd and even rounds, of odd and even passes alone, and raw: not divided, v = 0.
BEGIN {
	FS = OFS = "\t"
	TURNS = 60
	CUT = 1 / 8
	SLOWER = 1 / 4      # others only ever add time, now and then much of it
	OUTLIER = 4         # times the median size of what is left
	KINDS = 2           # of pulses
	SHAPE = 4           # numbers that describe a placement to a pulse
	LEAST_GAIN = 0.02   # by less pulses do not make what is left smaller for certain
	n_common = split(common, x, ",")
	for (i = 1; i <= n_common; i++)
		is_common[x[i] + 1 - 1] = 1
}

FNR == 1 {
	k = split(FILENAME, part, ".")
	pass = part[k - 2] + 0
	calls++
}
$3 != "-" {
	i = $1 + 1
	if (!(i in seen)) {
		seen[i] = 1
		item[++items] = i
	}
	k = split($14, x, ",")
	for (j = 1; j <= k; j++) {
		t[++n] = log(x[j])
		who[n] = i
		call[n] = calls
		in_pass[n] = pass
		in_round[n] = (pass - 1) * k + j
		block[n] = calls SUBSEP j
		runs[i]++
		if (pulse != "0")
			take_pulses(n, i, (j - 1) / k)
	}
	if (pulse != "0")
		take_shares(i)
}

# Of sample s of i the logs of the pulses, from this part of the row's on: at[s, device, kind].
function take_pulses(s, i, from,    x, k, c, samples) {
	k = split($15, x, ",")
	if (k < 2)
		return
	cells = k / split($14, samples, ",")
	for (c = 1; c <= cells; c++)
		at[s, c] = x[from * k + c] > 0 ? log(x[from * k + c]) : "-"
}

# For how much of its time i is busy on each device.
function take_shares(i,    x, d, k) {
	k = split($12, x, ",")
	shares[i]++
	for (d = 1; d <= k && $4 > 0; d++)
		share[i, d] += x[d] / $4 < 1 ? x[d] / $4 : 1
}

# A list of values with blanks between, ascending in x[1 ..]; how many.
function sorted(list, x,    k, i, j, v) {
	k = split(list, x, " ")
	for (i = 1; i <= k; i++)
		x[i] += 0
	for (i = 2; i <= k; i++) {
		v = x[i]
		for (j = i; j > 1 && x[j - 1] > v; j--)
			x[j] = x[j - 1]
		x[j] = v
	}
	return k
}

# The mean of the values of a list without CUT of them at the fast end and `slow` at the other.
function trimmed(list, slow,    x, k, i, first, last, sum) {
	k = sorted(list, x)
	first = 1 + int(k * CUT)
	last = k - int(k * slow)
	for (i = first; i <= last; i++)
		sum += x[i]
	return sum / (last - first + 1)
}

# ---- pulses ----

# Solves the normal equations m[1 .. k, 1 .. k] b = m[1 .. k, 0], m changed; a little is added to the diagonal, so
# that what tells nothing has no coefficient.
function solve(m, k, b,    c, e, f, r, scale) {
	for (c = 1; c <= k; c++)
		scale += m[c, c]
	if (!scale)
		return 0
	for (c = 1; c <= k; c++)
		m[c, c] += 1e-4 * scale / k
	for (c = 1; c <= k; c++)
		for (e = 1; e <= k; e++) {
			if (e == c)
				continue
			r = m[e, c] / m[c, c]
			for (f = 1; f <= k; f++)
				m[e, f] -= r * m[c, f]
			m[e, 0] -= r * m[c, 0]
		}
	for (c = 1; c <= k; c++)
		b[c] = m[c, 0] / m[c, c]
	return 1
}

# What a placement does to the pulses of device d itself, whose caches and clocks depend on what runs there: by the
# busy shares in v[1 .. SHAPE], own, own squared, the others', and 1.
function shape(i, d, v,    e) {
	v[1] = 1
	v[2] = share[i, d] / shares[i]
	v[3] = v[2] ^ 2
	v[4] = -v[2]
	for (e = 1; e <= cells / KINDS; e++)
		v[4] += share[i, e] / shares[i]
}

# The explaining variables of the runs in use, one for each kind of pulse: sums over devices of its log over what is
# usual of placements of that shape, times the square of the device's busy share, as who is busy all the time is
# slowed down in proportion, who waits half of it much less.
function explain(    s, c, d, e, f, v, m, b, usual, kind) {
	for (s = 1; s <= n; s++)
		for (c = 1; c <= KINDS; c++)
			ex[s, c] = 0
	for (c = 1; c <= cells; c++) {
		d = int((c - 1) / KINDS) + 1
		kind = (c - 1) % KINDS + 1
		split("", m)
		for (s = 1; s <= n; s++)
			if (use[s] && is_known(s, c)) {
				shape(who[s], d, v)
				for (e = 1; e <= SHAPE; e++) {
					m[e, 0] += v[e] * at[s, c]
					for (f = 1; f <= SHAPE; f++)
						m[e, f] += v[e] * v[f]
				}
			}
		solve(m, SHAPE, b)
		for (s = 1; s <= n; s++)
			if (use[s] && is_known(s, c)) {
				shape(who[s], d, v)
				usual = 0
				for (e = 1; e <= SHAPE; e++)
					usual += b[e] * v[e]
				ex[s, kind] += (at[s, c] - usual) * v[2] ^ 2
			}
	}
}

# What a placement's runs have of a variable in common is luck, by which calls of devrun differ, and what the placement
# does to its pulses itself beyond its shape: of it that part stays which is luck by the variances of calls' means and of
# placements' (empirical Bayes: Efron and Morris 1973).
function shrink(    c, s, i, g, p, sum, k, mean, calls_of, all, m, luck, free, own, keep) {
	for (c = 1; c <= KINDS; c++) {
		split("", sum)
		split("", k)
		split("", mean)
		split("", calls_of)
		for (s = 1; s <= n; s++)
			if (use[s]) {
				sum[who[s], call[s]] += ex[s, c]
				k[who[s], call[s]]++
			}
		for (g in sum) {
			split(g, p, SUBSEP)
			mean[p[1]] += sum[g] / k[g]
			calls_of[p[1]]++
		}
		all = m = luck = free = own = 0
		for (i in mean) {
			mean[i] /= calls_of[i]
			all += mean[i]
			m++
			free += calls_of[i] - 1
		}
		for (g in sum) {
			split(g, p, SUBSEP)
			luck += (sum[g] / k[g] - mean[p[1]]) ^ 2
		}
		if (free < 1 || m < 2)
			continue
		luck /= free
		for (i in mean)
			own += ((mean[i] - all / m) ^ 2 - luck / calls_of[i]) / (m - 1)
		for (s = 1; s <= n && own > 0; s++)
			if (use[s]) {
				i = who[s]
				keep = luck / (luck + own * calls_of[i])
				ex[s, c] -= (1 - keep) * (mean[i] - all / m)
			}
	}
}

function is_known(s, c) { return at[s, c] != "-" && at[s, c] != "" }

# Of the runs with fold[] == part (-1: all): times and variables without their means over placements, in ct[], cx[].
function centre(part,    s, c, sum, k) {
	for (s = 1; s <= n; s++)
		if (use[s] && (part < 0 || fold[s] == part)) {
			k[who[s]]++
			sum[who[s], 0] += t[s]
			for (c = 1; c <= KINDS; c++)
				sum[who[s], c] += ex[s, c]
		}
	for (s = 1; s <= n; s++)
		if (use[s] && (part < 0 || fold[s] == part)) {
			ct[s] = t[s] - sum[who[s], 0] / k[who[s]]
			for (c = 1; c <= KINDS; c++)
				cx[s, c] = ex[s, c] - sum[who[s], c] / k[who[s]]
		}
}

# Coefficients b[] of the least squares over the runs of a part whose b[] leaves no outlier (limit; 0: all).  Nobody
# becomes faster because his core is slow: where one comes out negative it is 0, and the other is alone.
function least_squares(part, b, limit,    s, c, e, m, again) {
	for (s = 1; s <= n; s++)
		if (use[s] && (part < 0 || fold[s] == part)) {
			if (limit > 0 && abs(left_of(s, b)) > limit)
				continue
			for (c = 1; c <= KINDS; c++) {
				m[c, 0] += cx[s, c] * ct[s]
				for (e = 1; e <= KINDS; e++)
					m[c, e] += cx[s, c] * cx[s, e]
			}
		}
	for (c = 1; c <= KINDS; c++)
		for (e = 0; e <= KINDS; e++)
			again[c, e] = m[c, e]
	if (!solve(m, KINDS, b))
		return 0
	for (c = 1; c <= KINDS; c++)
		if (b[c] < 0)
			for (e = 1; e <= KINDS; e++) {
				b[e] = e != c && again[e, 0] > 0 ? again[e, 0] / again[e, e] : 0
				if (e == KINDS)
					return 1
			}
	return 1
}

function left_of(s, b,    c, x) {
	x = ct[s]
	for (c = 1; c <= KINDS; c++)
		x -= b[c] * cx[s, c]
	return x
}

function abs(x) { return x < 0 ? -x : x }

# Coefficients of a part without its outliers.
function robust(part, b,    s, k, list) {
	centre(part)
	if (!least_squares(part, b, 0))
		return 0
	for (s = 1; s <= n; s++)
		if (use[s] && (part < 0 || fold[s] == part))
			list[++k] = abs(left_of(s, b))
	return least_squares(part, b, OUTLIER * middle(list, k))
}

# The median of x[1 .. k], which is changed (quickselect).
function middle(x, k,    lo, hi, i, j, v, w, at_) {
	lo = 1
	hi = k
	at_ = int((k + 1) / 2)
	while (lo < hi) {
		v = x[at_]
		i = lo
		j = hi
		while (i <= j) {
			while (x[i] < v)
				i++
			while (x[j] > v)
				j--
			if (i <= j) {
				w = x[i]
				x[i++] = x[j]
				x[j--] = w
			}
		}
		if (j < at_)
			lo = i
		if (i > at_)
			hi = j
	}
	return x[at_]
}

# y[]: log t of the runs in use without what pulses explain by linear regression within placements, where the
# coefficients of either half of the runs make what is left of the other half smaller.
function pulses(    s, c, half, b, before, after, square, rest, count) {
	explained = 0
	for (s = 1; s <= n; s++)
		if (use[s]) {
			y[s] = t[s]
			fold[s] = count[who[s]]++ % 2
		}
	if (!cells)
		return
	explain()
	shrink()
	for (half = 0; half < 2; half++) {
		if (!robust(1 - half, b))
			return
		centre(half)
		for (s = 1; s <= n; s++)
			if (use[s] && fold[s] == half) {
				before += abs(ct[s])
				after += abs(left_of(s, b))
				square += ct[s] ^ 2
				rest += left_of(s, b) ^ 2
			}
	}
	if (after > (1 - LEAST_GAIN) * before || rest >= square)
		return
	explained = 1 - rest / square
	robust(-1, b)
	for (s = 1; s <= n; s++)
		for (c = 1; use[s] && c <= KINDS; c++)
			y[s] -= b[c] * ex[s, c]
}

# ---- means and fastest runs ----

# out[]: trimmed means of y - less[] over the groups of[], of the runs in use.
function means(of, less, by, slow, out,    s, g, list) {
	for (s = 1; s <= n; s++)
		if (use[s])
			list[of[s]] = list[of[s]] " " sprintf("%.9f", y[s] - less[by[s]])
	for (g in list)
		out[g] = trimmed(list[g], slow)
}

# u[]: the placements' mean logs over the runs in use; raw: without rounds' effects.
function fit_means(u, raw,    turn, v, g, k, s, sum, zero, last, change) {
	split("", u)
	split("", v)
	if (raw)
		for (s = 1; s <= n; s++)
			y[s] = t[s]
	else
		pulses()
	means(who, zero, block, raw ? SLOWER : CUT, u)
	for (turn = 1; turn <= TURNS && !raw; turn++) {
		means(block, u, who, CUT, v)
		sum = k = change = 0
		for (g in v) {
			sum += v[g]
			k++
		}
		for (g in v)
			v[g] -= sum / k
		for (g in u)
			last[g] = u[g]
		means(who, v, block, CUT, u)
		for (g in u)
			if ((u[g] - last[g]) ^ 2 > change)
				change = (u[g] - last[g]) ^ 2
		if (change < 1e-10)
			break
	}
	if (!raw)
		means(who, v, block, SLOWER, u)
}

# The expected least of m values drawn from a list, which has m or more, without putting them back: the
# i-th of k in order is it with the probability C(k - i, m - 1) / C(k, m).
function least_of(list, m,    x, k, i, p, sum) {
	k = sorted(list, x)
	p = m / k
	for (i = 1; i <= k - m + 1; i++) {
		sum += p * x[i]
		p *= (k - i - m + 1) / (k - i)
	}
	return sum
}

# least[]: of the lists list[].
function least_each(list, least,    g, x, k, m) {
	for (g in list) {
		k = split(list[g], x, " ")
		m = m == "" || k < m ? k : m
	}
	for (g in list)
		least[g] = least_of(list[g], m)
}

# f[]: the logs of the placements' fastest runs of those in use; raw: not divided by the calls' effects.
function fit_fastest(f, raw,    s, c, i, g, part, list, here, least, sum, k) {
	split("", f)
	for (s = 1; s <= n; s++)
		if (use[s] && who[s] in is_common)
			list[call[s], who[s]] = list[call[s], who[s]] " " sprintf("%.9f", t[s])
	least_each(list, here)
	for (g in here) {
		split(g, part, SUBSEP)
		i = part[2]
		if (!(i in least) || here[g] < least[i])
			least[i] = here[g]
	}
	for (g in here) {
		split(g, part, SUBSEP)
		sum[part[1]] += here[g] - least[part[2]]
		k[part[1]]++
	}
	split("", list)
	for (s = 1; s <= n; s++)
		if (use[s]) {
			c = call[s]
			list[who[s]] = list[who[s]] " " sprintf("%.9f", t[s] - (raw || !k[c] ? 0 : sum[c] / k[c]))
		}
	least_each(list, f)
}

# Columns of both statistics over the runs whose number[] is `left` modulo 2, -1: over all.
function add(name, number, left, raw,    s, i, u, f) {
	for (s = 1; s <= n; s++)
		use[s] = left < 0 || number[s] % 2 == left
	fit_fastest(f, raw)
	fit_means(u, raw)
	head = head OFS "fastest" name OFS "mean" name
	for (i = 1; i <= items; i++)
		row[item[i]] = row[item[i]] OFS (item[i] in f ? sprintf("%.9g%s%.9g", exp(f[item[i]]), OFS, exp(u[item[i]])) : "-" OFS "-")
}

END {
	add("_s", who, -1, 0)
	by_pulses = explained
	add("_raw_s", who, -1, 1)
	add("_odd_rounds_s", in_round, 1, 0)
	add("_even_rounds_s", in_round, 0, 0)
	add("_odd_passes_s", in_pass, 1, 0)
	add("_even_passes_s", in_pass, 0, 0)
	print "placement", "common", "runs", "explained" head
	for (i = 1; i <= items; i++)
		print item[i] - 1, (item[i] in is_common) + 0, runs[item[i]], sprintf("%.3f", by_pulses) row[item[i]]
}

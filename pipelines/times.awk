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
#              without an eighth of the values at either end for medians); in the end u is of the faster
#              half of a placement's runs, without the same eighth; rounds are of one call each, and
#              v is 0 in the mean
# and both of odd and even rounds, of odd and even passes alone, and raw: not divided, v = 0.
BEGIN {
	FS = OFS = "\t"
	TURNS = 60
	CUT = 1 / 8
	SLOWER = 1 / 2      # others only ever add time, now and then much of it
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
	}
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

# out[]: trimmed means of t - less[] over the groups of[], of the runs in use.
function means(of, less, by, slow, out,    s, g, list) {
	for (s = 1; s <= n; s++)
		if (use[s])
			list[of[s]] = list[of[s]] " " sprintf("%.9f", t[s] - less[by[s]])
	for (g in list)
		out[g] = trimmed(list[g], slow)
}

# u[]: the placements' mean logs over the runs in use; raw: without rounds' effects.
function fit_means(u, raw,    turn, v, g, k, sum, zero, last, change) {
	split("", u)
	split("", v)
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
	add("_raw_s", who, -1, 1)
	add("_odd_rounds_s", in_round, 1, 0)
	add("_even_rounds_s", in_round, 0, 0)
	add("_odd_passes_s", in_pass, 1, 0)
	add("_even_passes_s", in_pass, 0, 0)
	print "placement", "common", "runs" head
	for (i = 1; i <= items; i++)
		print item[i] - 1, (item[i] in is_common) + 0, runs[item[i]] row[item[i]]
}

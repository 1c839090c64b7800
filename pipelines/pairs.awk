# pairs.awk - files DIR/MODEL/WAY.SEED.tsv (learning-run.awk; pipelines/ablate adds the groups) -> a
# row per model and way over its seeds, in the order of the files, beside the way `base` in pairs of
# the same model and seed; with several models a row of all pairs of a way, too.
#
#   awk -f stats.awk -f pairs.awk -v base=WAY [-v ways=NAME] FILE...    NAME: the column's (way)

BEGIN {
	FS = OFS = "\t"
	n_keys = n_models = n_ways = 0
}
FNR == 1 {
	k = split(FILENAME, dir, "/")
	split(dir[k], part, ".")
	model = dir[k - 1]
	way = part[1]
	key = model OFS way
	if (!(key in n))
		keys[n_keys++] = key
	if (!(model in models))
		models[model] = n_models++
	if (!(way in all_n))
		names[n_ways++] = way
	i = ++n[key]
	if ($1 < 5)
		few[key] = 1    # the answer of a search, not its way there
	best[key, i] = 1e3 * $2
	late[key, i] = 1e3 * $3
	single[key] = 1e3 * $4
	has_groups = has_groups || NF >= 5
	groups[key] += $5
	of[key, i] = model OFS part[2]
	found[model, part[2], way] = $2
	all_n[way] += 0
}

# "mean<TAB>lo<TAB>hi" of what[key, 1..n], geometric; percent: of what they are longer than 1.
function summary(what, key, n, format, percent,    x, i) {
	if (n == 0)
		return "-" OFS "-" OFS "-"
	for (i = 1; i <= n; i++)
		x[i] = what[key, i]
	geometric_interval(x, n)
	if (percent) {
		MID = 100 * (MID - 1)
		LO = LO == "" ? LO : 100 * (LO - 1)
		HI = HI == "" ? HI : 100 * (HI - 1)
	}
	return sprintf(format, MID) OFS \
		(LO == "" ? OFS : sprintf(format, LO) OFS sprintf(format, HI))
}

# ratio[key, 1..], and all_ratio[way, ...] over models; returns their number.
function pair(key,    i, part, at, way, m) {
	split(key, part, OFS)
	way = part[2]
	for (i = 1; i <= n[key]; i++) {
		split(of[key, i], at, OFS)
		if ((at[1], at[2], base) in found) {
			ratio[key, ++m] = found[at[1], at[2], way] / found[at[1], at[2], base]
			all_ratio[way, ++all_n[way]] = ratio[key, m]
		}
	}
	return m + 0
}

# name has the first two columns; that of groups is there where files have them.
function row(name, n_groups, seeds, best, late, longer, single) {
	print name (has_groups ? OFS n_groups : "") OFS seeds OFS best OFS late OFS longer OFS single
}

# The three columns of a mean and its interval.
function columns(what) {
	return what OFS what "_lo" OFS what "_hi"
}
END {
	row("model" OFS (ways == "" ? "way" : ways), "groups", "seeds", columns("best_ms"), \
		columns("last_fifth_ms"), columns("longer_than_" base "_%"), "best_single_ms")
	for (j = 0; j < n_keys; j++) {
		key = keys[j]
		row(key, sprintf("%.1f", groups[key] / n[key]), n[key], \
			summary(best, key, n[key], "%.4f", 0), \
			summary(late, key, key in few ? 0 : n[key], "%.4f", 0), \
			summary(ratio, key, pair(key), "%.2f", 1), sprintf("%.4f", single[key]))
	}
	none = "-" OFS "-" OFS "-"
	for (j = 0; j < n_ways && n_models > 1; j++) {
		way = names[j]
		row("all" OFS way, "-", all_n[way], none, none, \
			summary(all_ratio, way, all_n[way], "%.2f", 1), "-")
	}
}

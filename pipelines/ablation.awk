# ablation.awk - files DIR/MODEL/GROUPING.SEED.tsv (pipelines/ablate) -> one row per model and grouping over
# its seeds, in the order of the files; gpn comes first.   awk -f stats.awk -f ablation.awk FILE...

BEGIN {
	FS = OFS = "\t"
	n_keys = 0
}
FNR == 1 {
	k = split(FILENAME, dir, "/")
	split(dir[k], part, ".")
	model = dir[k - 1]
	key = model OFS part[1]
	if (!(key in n))
		keys[n_keys++] = key
	i = ++n[key]
	best[key, i] = 1e3 * $2
	late[key, i] = 1e3 * $3
	single[key] = 1e3 * $4
	groups[key] += $5
	seed_best[model, part[1], part[2]] = $2
	ratio[key, i] = $2 / seed_best[model, "gpn", part[2]]
}

# "mean<TAB>lo<TAB>hi" of what[key, 1..n], geometric; percent: of what they are longer than 1.
function summary(what, key, format, percent,    x, i) {
	for (i = 1; i <= n[key]; i++)
		x[i] = what[key, i]
	geometric_interval(x, n[key])
	if (percent) {
		MID = 100 * (MID - 1)
		LO = LO == "" ? LO : 100 * (LO - 1)
		HI = HI == "" ? HI : 100 * (HI - 1)
	}
	return sprintf(format, MID) OFS (LO == "" ? OFS : sprintf(format, LO) OFS sprintf(format, HI))
}
END {
	print "model", "grouping", "groups", "seeds", "best_ms", "best_ms_lo", "best_ms_hi", "last_fifth_ms", "last_fifth_ms_lo", \
		"last_fifth_ms_hi", "longer_than_gpn_%", "longer_than_gpn_%_lo", "longer_than_gpn_%_hi", "best_single_ms"
	for (j = 0; j < n_keys; j++) {
		key = keys[j]
		print key, sprintf("%.1f", groups[key] / n[key]), n[key], summary(best, key, "%.4f", 0), \
			summary(late, key, "%.4f", 0), summary(ratio, key, "%.2f", 1), sprintf("%.4f", single[key])
	}
}

# learning-table.awk - files DIR/MODEL.METHOD.SEED.tsv (learning-run.awk) -> one row per model and
# method over its seeds, in the order of the files.  Times in ms.

BEGIN { OFS = "\t" }
FNR == 1 {
	k = split(FILENAME, dir, "/")
	split(dir[k], part, ".")
	key = part[1] OFS part[2]
	if (!(key in n))
		keys[n_keys++] = key
	n[key]++
	sum[key] += $2
	square[key] += $2 * $2
	if (n[key] == 1 || $2 < best[key])
		best[key] = $2
	late[key] += $3
	single[key] = $4
}
END {
	print "model", "method", "seeds", "mean best", "sd", "best", "mean of last fifth", "best single", "gain"
	for (i = 0; i < n_keys; i++) {
		key = keys[i]
		m = sum[key] / n[key]
		var = n[key] > 1 ? (square[key] - n[key] * m * m) / (n[key] - 1) : 0
		printf "%s\t%d\t%.4f\t%.4f\t%.4f\t", key, n[key], 1e3 * m, 1e3 * sqrt(var > 0 ? var : 0), 1e3 * best[key]
		if (key ~ /climb$/)
			printf "-"
		else
			printf "%.4f", 1e3 * late[key] / n[key]
		printf "\t%.4f\t%.2f%%\n", 1e3 * single[key], 100 * (single[key] - m) / single[key]
	}
}

# search.awk - what finding a placement took.
#   awk -f stats.awk -f files.awk -f search.awk published.tsv labels.tsv FILE...
# FILE is .../MODEL/METHOD.SEED.mp.job (pipelines/job), or .../evaluated.tsv with lines MODEL METHOD
# SEED N, the placements that a learner ran.

method == "evaluated" {
	evaluated[$1, method_name($2)] += $4
	next
}
FNR == 1 { see_model(model) }
$1 == "status" { ok = $2 == 0 }
ok && $1 == "seconds" {
	see_method(method)
	wall[model, method, ++n[model, method]] = $2
}
ok && $1 == "cpu_seconds" { cpu[model, method] += $2 }

END {
	print "model", "method", "seeds", "search_s", "search_s_lo", "search_s_hi", "cpu_s",
		"placements_run", "published_s"
	for (a = 0; a < n_models; a++)
		for (b = 0; b < n_methods; b++) {
			model = models[a]
			method = methods[b]
			c = n[model, method]
			then = printed(model, method, "search_s")
			if (c) {
				for (i = 1; i <= c; i++)
					x[i] = wall[model, method, i]
				geometric_interval(x, c)
				interval = c > 1 ? sprintf("%.3f\t%.3f", LO, HI) : OFS
				ran = (model, method) in evaluated ? \
					sprintf("%.0f", evaluated[model, method] / c) : ""
				print model, label[method], c, sprintf("%.3f", MID), interval,
					sprintf("%.3f", cpu[model, method] / c), ran, then
			} else if (then != "")
				print model, label[method], 0, "", "", "", "", "", then
		}
}

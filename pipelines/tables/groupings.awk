# groupings.awk - measured files of grouping-learned and grouping-random -> best, median and worst
# over seeds of both, and how much longer than the learned parsing's the random groups' placements
# take.
#   awk -f files.awk -f groupings.awk labels.tsv FILE...      FILE: .../MODEL/METHOD.NAME.tsv
# Compared is latency over that of the CPU alone, of the same rounds.

$1 == "failed" || ($1 == "answer" && $6 == "") { failed[model, method]++ }
$1 == "answer" && $6 != "" {
	see_model(model)
	i = ++n[model, method]
	ratio[model, method, i] = $6
	lat[model, method, i] = 1e3 * $3
}

# Values of a method in the order of their ratios, in at[1..].
function order(method,    c, i, j, v) {
	c = n[model, method]
	for (i = 1; i <= c; i++)
		at[i] = i
	for (i = 2; i <= c; i++) {
		v = at[i]
		for (j = i - 1; j > 0 && ratio[model, method, at[j]] > ratio[model, method, v]; j--)
			at[j + 1] = at[j]
		at[j + 1] = v
	}
	return c
}
function middle(what, method, c) {
	return (what[model, method, at[int((c + 1) / 2)]] + \
		what[model, method, at[int((c + 2) / 2)]]) / 2
}
function rows(method,    c) {
	c = order(method)
	if (!c)
		return
	row(method, c, "best", ratio[model, method, at[1]], lat[model, method, at[1]])
	row(method, c, "median", middle(ratio, method, c), middle(lat, method, c))
	row(method, c, "worst", ratio[model, method, at[c]], lat[model, method, at[c]])
}
function row(method, c, which, r, ms) {
	if (method == "grouping-learned")
		learned[model, which] = r
	print model, label[method], which, c, sprintf("%.3f", ms), sprintf("%.3f", 1 / r), \
		((model, which) in learned ? sprintf("%.1f", 100 * (r / learned[model, which] - 1)) : ""),
		failed[model, method]
}
END {
	print "model", "groups", "over seeds", "seeds", "latency_ms", "times_as_fast_as_CPU",
		"longer_than_learned_%", "failed"
	for (a = 0; a < n_models; a++) {
		model = models[a]
		rows("grouping-learned")
		rows("grouping-random")
	}
}

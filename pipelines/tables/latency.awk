# latency.awk - lines of tabstat latency -> a row per model and method, with the methods' names and
# what a paper published for them.
#   tabstat latency FILE... | awk -f files.awk -f latency.awk published.tsv labels.tsv \
#     published_s=QUANTITY [published_speedup=QUANTITY] -

{
	see_model($1)
	see_method($2)
	player[$2] = $3
	at = length($1 OFS $2 OFS $3 OFS) + 1
	remark[$1, $2] = $NF
	row[$1, $2] = substr($0, at, length($0) - at - length($NF))
}
END {
	print "model", "method", "seeds", "latency_ms", "latency_ms_lo", "latency_ms_hi",
		"speedup_%", "speedup_%_lo", "speedup_%_hi", "times_as_fast", "interval_over",
		"published_ms", (published_speedup != "" ? "published_speedup_%" OFS : "") "remark"
	for (a = 0; a < n_models; a++)
		for (b = 0; b < n_methods; b++) {
			model = models[a]
			method = methods[b]
			then = printed(model, method, published_s)
			if (!((model, method) in row)) {
				if (then == "")
					continue
				row[model, method] = "0\t\t\t\t\t\t\t\t"
				remark[model, method] = "published only"
			}
			if (then ~ /^[0-9]/)
				then *= 1e3
			line = model OFS label[method] player[method] OFS row[model, method] OFS then
			if (published_speedup != "")
				line = line OFS printed(model, method, published_speedup)
			print line, remark[model, method]
		}
}

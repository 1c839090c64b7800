# search.awk - lines of tabstat searches -> what finding a placement took, with the methods' names and
# what a paper published for them.
#   tabstat searches FILE... | awk -f files.awk -f search.awk published.tsv labels.tsv -

{
	see_model($1)
	see_method($2)
	row[$1, $2] = substr($0, length($1 OFS $2 OFS) + 1)
}
END {
	print "model", "method", "seeds", "search_s", "search_s_lo", "search_s_hi", "cpu_s",
		"placements_run", "published_s"
	for (a = 0; a < n_models; a++)
		for (b = 0; b < n_methods; b++) {
			model = models[a]
			method = methods[b]
			then = printed(model, method, "search_s")
			if ((model, method) in row)
				print model, label[method], row[model, method], then
			else if (then != "")
				print model, label[method], 0, "", "", "", "", "", then
		}
}

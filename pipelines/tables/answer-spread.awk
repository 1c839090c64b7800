# answer-spread.awk - the table of tabstat spread -> its answer in a sentence: of each method the
# standard deviation over seeds with few evaluations and in the end.

BEGIN { FS = "\t" }
NR == 1 { next }
{
	if ($1 != "all" && !($1 in known)) {
		known[$1] = 1
		n_models++
	}
	line[NR] = $0
	n_lines = NR
}
END {
	for (r = 2; r <= n_lines; r++) {
		split(line[r], c)
		if ((n_models > 1 && c[1] != "all") || c[8] == "")
			continue
		m = c[2]
		if (!(m in first)) {
			methods[n++] = m
			first[m] = sprintf("%.1f %% after %d", c[8], c[3])
			first_at[m] = c[3]
		}
		last[m] = sprintf("%.1f (%.1f .. %.1f) %% after %d", c[8], c[9], c[10], c[3])
		last_at[m] = c[3]
		seeds = c[4] > seeds ? c[4] : seeds
	}
	if (!n)
		exit
	printf "over %d searches of %d model%s, the standard deviation over seeds of the best found is: ", \
		seeds, n_models, n_models == 1 ? "" : "s"
	for (i = 0; i < n; i++) {
		m = methods[i]
		printf "%s%s %s%s", i ? "; " : "", m, first_at[m] == last_at[m] ? "" : first[m] ", ", last[m]
	}
	print ""
}

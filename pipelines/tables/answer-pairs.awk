# answer-pairs.awk - the table of tabstat pairs -> its answer in a sentence, from the rows over all
# models, or those of the only one.

BEGIN { FS = "\t" }
NR == 1 {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^longer_than_.*_%$/)
			at = i
	base = substr($at, 13, length($at) - 14)
	for (i = 1; i <= NF; i++)
		if ($i == "seeds")
			pairs_at = i
	next
}
{
	if (!($1 in known) && $1 != "all") {
		known[$1] = 1
		n_models++
	}
	row[NR] = $0
	n_rows = NR
}
function add(list, text) {
	return list (list == "" ? "" : ", ") text
}
END {
	for (r = 2; r <= n_rows; r++) {
		split(row[r], c)
		if (c[2] == base || (n_models > 1 && c[1] != "all") || c[at] == "-")
			continue
		pairs = c[pairs_at] > pairs ? c[pairs_at] : pairs
		text = c[2] " " sprintf("%.1f", c[at]) (c[at + 1] == "" ? "" : \
			sprintf(" (%.1f .. %.1f)", c[at + 1], c[at + 2])) " %"
		n++
		if (c[at + 1] == "")
			unknown = add(unknown, text)
		else if (c[at + 1] > 0)
			longer = add(longer, text)
		else if (c[at + 2] < 0)
			shorter = add(shorter, text)
		else
			same = add(same, text)
	}
	if (!n)
		exit
	printf "beside %s, over %d pair%s of %d model%s: surely longer: %s; surely shorter: %s; no difference that shows: %s", \
		base, pairs, pairs == 1 ? "" : "s", n_models, n_models == 1 ? "" : "s", longer == "" ? "none" : longer, \
		shorter == "" ? "none" : shorter, same == "" ? "none" : same
	if (unknown != "")
		printf "; one pair only: %s", unknown
	if (n >= 10)
		printf " (of %d intervals of 95 %% about %.0f leave 0 out by chance)", n, n / 20
	print ""
}

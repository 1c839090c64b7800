# groupings.awk - lines of tabstat groupings -> a table, with the methods' names.
#   tabstat groupings FILE... | awk -f files.awk -f groupings.awk published.tsv labels.tsv -

BEGIN {
	print "model", "groups", "over seeds", "seeds", "latency_ms", "times_as_fast_as_CPU",
		"longer_than_learned_%", "failed"
}
{
	$2 = label[$2]
	print
}

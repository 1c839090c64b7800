# graphs.awk - ir2dag --stats of models -> a row each.
#   awk -f graphs.awk published.tsv FILE...      FILE: .../MODEL/stats.tsv
# The average degree is |E| / |V|, as in the paper's table.

BEGIN {
	FS = OFS = "\t"
	n = 0
}
FNR == 1 {
	file++
	k = split(FILENAME, dir, "/")
}
/^#/ { next }
file == 1 {
	published[$1, $3] = $4
	next
}
$1 == "graph" { v[dir[k - 1]] = $3; e[dir[k - 1]] = $5; models[n++] = dir[k - 1] }
$1 == "co-located" { cv[dir[k - 1]] = $3; ce[dir[k - 1]] = $5 }

function degree(nodes, edges) {
	return nodes > 0 ? sprintf("%.2f", edges / nodes) : ""
}
END {
	print "model", "nodes", "edges", "degree", "coarsened_nodes", "coarsened_edges", "coarsened_degree", \
		"published_nodes", "published_edges", "published_degree"
	for (i = 0; i < n; i++) {
		m = models[i]
		pv = published[m, "nodes"]
		pe = published[m, "edges"]
		print m, v[m], e[m], degree(v[m], e[m]), cv[m], ce[m], degree(cv[m], ce[m]), pv, pe, degree(pv, pe)
	}
}

# graphs.awk - ir2dag --stats of models -> a row each.
#   awk -f files.awk -f graphs.awk published.tsv FILE...      FILE: .../MODEL/stats.tsv
# The average degree is |E| / |V|, as in the paper's table.

FNR == 1 { see_model(model) }
$1 == "graph" { v[model] = $3; e[model] = $5 }
$1 == "co-located" { cv[model] = $3; ce[model] = $5 }

function degree(nodes, edges) {
	return nodes > 0 ? sprintf("%.2f", edges / nodes) : ""
}
END {
	print "model", "nodes", "edges", "degree", "coarsened_nodes", "coarsened_edges",
		"coarsened_degree", "published_nodes", "published_edges", "published_degree"
	for (i = 0; i < n_models; i++) {
		m = models[i]
		pv = printed(m, "-", "nodes")
		pe = printed(m, "-", "edges")
		print m, v[m], e[m], degree(v[m], e[m]), cv[m], ce[m], degree(cv[m], ce[m]),
			pv, pe, degree(pv, pe)
	}
}

# expert.awk - a person's rules -> the JSON that placebase expert:FILE reads.
#   awk -f expert.awk DEVICES RULES GRAPH
# DEVICES has a name a line, GRAPH columns that recdump prints: a node's name and set, and, of other
# lengths, the graph's in_ptr and in_node.
# RULES has a pattern and the number of a device a line (modulo the number of devices); the first
# that fits one of a set's names places the set.  What fits none goes where its first placed reader
# is, else where its first placed input is, else to device 0.

BEGIN {
	FS = "\t"
	n_dev = n_rules = n = n_ptr = n_in = 0
}
FNR == 1 { file++ }
file == 1 {
	dev[++n_dev] = $1
	next
}
file == 2 {
	if ($0 !~ /^#/ && NF == 2) {
		pattern[n_rules] = $1
		rule_dev[n_rules++] = $2 % n_dev
	}
	next
}

$2 != "" {
	name[++n] = $1
	set[n] = $2
}
$3 != "" { ptr[++n_ptr] = $3 }
$4 != "" { in_node[++n_in] = $4 }

# A cell of recdump's as JSON, which has the same escapes, and one more.
function json(text) {
	gsub(/"/, "\\\"", text)
	return "\"" text "\""
}
END {
	for (v = 1; v <= n; v++)
		for (r = 0; r < n_rules && !(set[v] in on); r++)
			if (name[v] ~ pattern[r])
				on[set[v]] = rule_dev[r]
	for (changed = 1; changed;) {
		changed = 0
		for (v = n; v >= 1; v--)
			for (i = ptr[v] + 1; i <= ptr[v + 1]; i++)
				changed += spread(set[v], set[in_node[i] + 1])
		for (v = 1; !changed && v <= n; v++)
			for (i = ptr[v] + 1; i <= ptr[v + 1]; i++)
				changed += spread(set[in_node[i] + 1], set[v])
	}
	printf "{"
	for (v = 1; v <= n; v++)
		printf "%s%s: %s", (v > 1 ? ",\n" : "\n"), json(name[v]), json(dev[on[set[v]] + 1])
	print "\n}"
}

# Place `to` where `from` is, if only `from` has a place.
function spread(from, to) {
	if (!(from in on) || (to in on))
		return 0
	on[to] = on[from]
	return 1
}

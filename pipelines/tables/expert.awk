# expert.awk - a person's rules -> the JSON that placebase expert:FILE reads.
#   recdump -f -k graph X.mp | awk -v devices="A B" -f json.awk -f expert.awk RULES -
# RULES has a pattern and the number of a device a line (modulo the number of devices); the first
# that fits one of a set's names places the set.  What fits none goes where its first placed reader
# is, else where its first placed input is, else to device 0.

BEGIN {
	FS = "\t"
	n_dev = split(devices, dev, " ")
	n_rules = 0
}
FILENAME != "-" {
	if ($0 !~ /^#/ && NF == 2) {
		pattern[n_rules] = $1
		rule_dev[n_rules++] = $2 % n_dev
	}
	next
}

{
	n = list("node_name", name)
	list("set", set)
	list("in_ptr", ptr)
	list("in_node", in_node)
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
		printf "%s\"%s\": \"%s\"", (v > 1 ? ",\n" : "\n"), name[v], dev[on[set[v]] + 1]
	print "\n}"
}

# Place `to` where `from` is, if only `from` has a place.
function spread(from, to) {
	if (!(from in on) || (to in on))
		return 0
	on[to] = on[from]
	return 1
}

# roles.awk - a devs record (recdump -f) -> the line of roles.  With json.awk in front.

!k {
	k = list("names", name)
	list("types", type)
}

function is_cpu(i) {
	return type[i] == "cpu" || name[i] ~ /^cpu/
}
END {
	if (!k)
		exit 1
	for (i = k; i >= 1; i--)
		if (is_cpu(i))
			cpu = i
	cpu = cpu ? cpu : 1
	for (i = k; i >= 1; i--)
		if (i != cpu && !is_cpu(i))
			gpu = i
	for (i = k; i >= 1; i--)
		if (i != cpu)
			other = i
	gpu = gpu ? gpu : other
	for (i = 1; i <= k; i++)
		all = all (i > 1 ? "," : "") name[i]
	print name[cpu] "\t" (gpu ? name[gpu] : "-") "\t" all
}

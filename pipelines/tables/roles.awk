# roles.awk - names and types of devices, a line each -> the line of roles.

BEGIN { FS = "\t" }
{
	name[++k] = $1
	type[k] = $2
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

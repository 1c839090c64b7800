# jobs.awk - names of files X.job (pipelines/job) on standard input -> lines "# key: value": when and on what the jobs ran, and
# one command of each method and one of the measurements, without the directory that all files are
# in.

BEGIN {
	FS = "\t"
	n_methods = n_names = 0
	# Not as arguments: of more than fit a command line xargs would make several lists.
	while ((getline file < "-") > 0)
		ARGV[ARGC++] = file
}
FNR == 1 {
	k = split(FILENAME, dir, "/")
	n_parts = split(dir[k], part, ".")
	method = part[1]
	if (part[n_parts - 1] == "tsv" && part[2] ~ /-r([0-9]+|sim)$/ && method !~ /^ov-/)
		method = "measurement"
	where = substr(FILENAME, 1, length(FILENAME) - length(dir[k]) - length(dir[k - 1]) - 1)
}
$1 == "command" {
	if (!(method in command)) {
		while (where != "" && (i = index($2, where)))
			$2 = substr($2, 1, i - 1) substr($2, i + length(where))
		gsub(/[\n\t ]+/, " ", $2)
		command[method] = $2
		methods[n_methods++] = method
	}
	next
}
$1 == "started" {
	first = first == "" || $2 < first ? $2 : first
	last = $2 > last ? $2 : last
	n++
	next
}
$1 == "load_before" {
	most = $2 + 0 > most + 0 ? $2 + 0 : most + 0
	next
}
$1 == "status" || $1 == "seconds" || $1 == "cpu_seconds" {
	next
}
!(($1, $2) in seen) && $2 != "-" {
	seen[$1, $2] = 1
	if (!($1 in value))
		names[n_names++] = $1
	value[$1] = value[$1] (value[$1] == "" ? "" : "; also ") $2
}
END {
	if (!n)
		exit
	printf "# jobs: %d, started %s to %s; load of the machine before them up to %s\n",
		n, first, last, most
	for (i = 0; i < n_names; i++)
		print "# " names[i] ": " value[names[i]]
	for (i = 0; i < n_methods; i++)
		print "# " methods[i] ": `" command[methods[i]] "`"
}

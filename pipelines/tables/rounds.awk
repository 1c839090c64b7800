# rounds.awk - what devrun --rounds wrote, as JSON lines (recdump -f) of devs and run records, -> lines,
# tab-separated:
#   single|answer  name  latency lo hi (s)  latency/cpu's lo hi  rounds  copies  bytes  reason  alone
# The first runs are the single devices, in the order of devs; then come answers, one for each word of
# -v answers="1 2 3", which are their names (seeds).  alone: the only device that had anything to do: such an
# answer is that device, with the same figures.
#   -v cpu=NAME     the device that ratios are to; they are of the same rounds, median and 95 % interval
#   -v beside=NAME  the answer is that single device
# With stats.awk in front.

function field(name,    at, x) {
	at = index($0, "\"" name "\": ")
	if (!at)
		return ""
	x = substr($0, at + length(name) + 4)
	sub(/^"/, "", x)
	sub(/"?[,}\]].*/, "", x)
	return x
}
# The list of numbers or names behind "name": in to[1..]; their number.
function list(name, to,    at, x) {
	at = index($0, "\"" name "\": ")
	if (!at)
		return 0
	x = substr($0, at)
	sub(/^[^[]*(\[[0-9]+\], "data": )?\[/, "", x)
	sub(/\].*/, "", x)
	gsub(/"/, "", x)
	return split(x, to, ", *")
}

/^{"kind": "devs"/ { k = list("names", name) }
/^{"kind": "run"/ {
	i = n_run++
	ok[i] = field("ok") == "true"
	# Commas belong to a reason; nothing but its end is a quote and a brace.
	reason[i] = $0
	sub(/.*"reason": "/, "", reason[i])
	sub(/"(, "|}).*/, "", reason[i])
	copies[i] = field("copies")
	bytes[i] = field("copy_bytes")
	rounds[i] = list("samples_s", x)
	for (j = 1; j <= rounds[i]; j++)
		sample[i, j] = x[j]
	alone[i] = ""
	n_busy = list("busy_s", x)
	for (j = 1; j <= n_busy; j++)
		if (x[j] > 0)
			alone[i] = alone[i] == "" ? name[j] : "-"
}

function line(what, who, i,    j, n, x) {
	if (!ok[i] || rounds[i] == 0) {
		print what, who, "", "", "", "", "", "", 0, "", "", reason[i], ""
		return
	}
	for (j = 1; j <= rounds[i]; j++)
		x[j] = sample[i, j]
	median_interval(x, rounds[i])
	printf "%s\t%s\t%.9g\t%.9g\t%.9g\t", what, who, MID, LO, HI
	n = base < 0 ? 0 : rounds[i] < rounds[base] ? rounds[i] : rounds[base]
	for (j = 1; j <= n; j++)
		x[j] = sample[i, j] / sample[base, j]
	MID = LO = HI = ""
	if (n > 0)
		median_interval(x, n)
	print MID, LO, HI, n, copies[i], bytes[i], "", (alone[i] == "-" ? "" : alone[i])
}
# The run of the device that did all of run i, if that ran, else i.
function single(i,    d) {
	for (d = 0; d < k; d++)
		if (alone[i] == name[d + 1] && ok[d])
			return d
	return i
}
END {
	OFS = "\t"
	if (!k || n_run < k) {
		print "rounds.awk: error: not every device has a run" > "/dev/stderr"
		exit 1
	}
	base = -1
	for (i = 0; i < k; i++)
		if (name[i + 1] == cpu && ok[i])
			base = i
	n_answers = split(answers, answer, " ")
	for (i = 0; i < k; i++)
		line(name[i + 1] == beside ? "answer" : "single", name[i + 1] == beside ? answer[1] : name[i + 1], i)
	for (i = k; i < n_run; i++)
		line("answer", answer[i - k + 1], single(i))
}

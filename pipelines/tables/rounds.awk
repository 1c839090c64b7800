# rounds.awk - what devrun --rounds wrote, as JSON lines (recdump -f) of devs and run records, ->
# lines, tab-separated:
#   single|answer  name  latency lo hi (s)  latency/cpu's lo hi  rounds  copies  bytes  reason
#   alone
# The first runs are the single devices, in the order of devs; then come answers, one for each word
# of -v answers="1 2 3", which are their names (seeds).  alone: the only device that had anything to
# do: such an answer is that device, with the same figures.
#   -v cpu=NAME     the device that ratios are to; they are of the same rounds, median and 95 %
#                   interval
#   -v beside=NAME  the answer is that single device
# With stats.awk and json.awk in front.

/^{"kind": "devs"/ { k = list("names", name) }
/^{"kind": "run"/ {
	i = n_run++
	ok[i] = value("ok") == "true"
	reason[i] = value("reason")
	copies[i] = value("copies")
	bytes[i] = value("copy_bytes")
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
		if (name[i + 1] == beside)
			line("answer", answer[1], i)
		else
			line("single", name[i + 1], i)
	for (i = k; i < n_run; i++)
		line("answer", answer[i - k + 1], single(i))
}

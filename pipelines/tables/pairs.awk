# pairs.awk - what devrun --paired wrote, as JSON lines (recdump -f), -> a line per single device and one
# of the answer, tab-separated:
#   single|answer  name  latency lo hi (s)  latency/cpu's lo hi  rounds  copies  bytes  reason
# -v cpu=NAME   the device that ratios are to; they are of the same rounds, median and 95 % interval
# -v verdict=1  the answer is the verdict's, a single device where no candidate is faster, else the
#               candidate's, whatever it is worth
# -v beside=NAME  the answer is that single device
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

/^{"kind": "run"/ {
	i = n_run++
	source[i] = field("source")
	where[i] = field("episode") " " field("step") " " field("sample")
	ok[i] = field("ok") == "true"
	reason[i] = field("reason")
	lat[i] = field("lat_s")
	lo[i] = field("lo_s")
	hi[i] = field("hi_s")
	copies[i] = field("copies")
	bytes[i] = field("copy_bytes")
	rounds[i] = list("samples_s", x)
	for (j = 1; j <= rounds[i]; j++)
		sample[i, j] = x[j]
}
/^{"kind": "best"/ && field("final") == "true" {
	k = list("devices", name)
	final_source = field("source")
	final_where = field("episode") " " field("step") " " field("sample")
	final_lat = field("lat_s")
}

function line(what, who, i,    j, n, x) {
	if (!ok[i]) {
		print what, who, "", "", "", "", "", "", 0, "", "", reason[i]
		return
	}
	n = base < 0 ? 0 : rounds[i] < rounds[base] ? rounds[i] : rounds[base]
	for (j = 1; j <= n; j++)
		x[j] = sample[i, j] / sample[base, j]
	MID = LO = HI = ""
	if (n > 0)
		median_interval(x, n)
	print what, who, lat[i], lo[i], hi[i], MID, LO, HI, n, copies[i], bytes[i], ""
}
END {
	OFS = "\t"
	if (!k) {
		print "pairs.awk: there is no verdict" > "/dev/stderr"
		exit 1
	}
	base = -1
	for (i = 0; i < k; i++)
		if (name[i + 1] == cpu && ok[i])
			base = i
	for (i = 0; i < k; i++)
		line(name[i + 1] == beside ? "answer" : "single", name[i + 1], i)
	if (n_run == k)
		exit
	answer = k
	for (i = 0; verdict && i < n_run; i++)
		if (source[i] == final_source && where[i] == final_where && lat[i] == final_lat) {
			answer = i
			break
		}
	line("answer", source[answer] == "single" ? name[answer + 1] : source[answer], answer)
}

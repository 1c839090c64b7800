# runs.awk - `run` records as recdump -f prints them, one line each, tab-separated:
#   sample source lat fastest median runs ref copies copy_bytes in_host steps busy,busy,... reason run,run,... \
#   pulse,pulse,...
# The runs as they were made; pulses by run, device and kind.  Seconds; "-" where a record has none.  Placements
# that did not run have their reason and no times.
BEGIN { OFS = "\t" }

# The value behind "key": in the line, without quotes; "-" when it is not there.
function value(key,    at, rest) {
	at = index($0, "\"" key "\": ")
	if (!at)
		return "-"
	rest = substr($0, at + length(key) + 4)
	if (substr(rest, 1, 1) == "\"") {
		rest = substr(rest, 2)
		match(rest, /[^\\]"/)
		return substr(rest, 1, RSTART)
	}
	match(rest, /^[^,}]*/)
	return substr(rest, 1, RLENGTH)
}

# The data of tensor `key`, with commas between them, no blanks and no inner brackets.
function tensor(key,    at, rest) {
	at = index($0, "\"" key "\": {")
	if (!at)
		return "-"
	rest = substr($0, at)
	rest = substr(rest, index(rest, "\"data\": [") + 9)
	rest = substr(rest, 1, index(rest, "]}") - 1)
	gsub(/[][ ]/, "", rest)
	return rest
}

# The samples in ascending order, in x[1 .. n].
function sorted(text, x,    n, i, j, t) {
	n = split(text, x, ",")
	for (i = 1; i <= n; i++)
		x[i] += 0
	for (i = 2; i <= n; i++) {
		t = x[i]
		for (j = i; j > 1 && x[j - 1] > t; j--)
			x[j] = x[j - 1]
		x[j] = t
	}
	return n
}

{
	if (value("ok") != "true") {
		print value("sample"), value("source"), "-", "-", "-", 0, "-", "-", "-", "-", "-", "-", value("reason"), "-", "-"
		next
	}
	n = sorted(tensor("samples_s"), x)
	median = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
	print value("sample"), value("source"), value("lat_s"), x[1], median, n, value("ref_s"), value("copies"), \
		value("copy_bytes"), value("in_host"), value("steps"), tensor("busy_s"), "-", tensor("samples_s"), \
		tensor("pulse_s")
}

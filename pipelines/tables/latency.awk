# latency.awk - measured files (measure) -> a row per model and method: latency, speedup over the
# CPU alone, geometric means over seeds with 95 % intervals, and what a paper published for them.
#   awk -f stats.awk -f files.awk -f latency.awk published.tsv labels.tsv \
#     published_s=QUANTITY [published_speedup=QUANTITY] FILE...
# FILE is .../MODEL/METHOD.NAME.tsv.  A single device is measured by every job: its interval
# is over jobs.  One seed: the interval is that of its rounds.  A latency is the CPU's over all jobs
# times the ratio to it in the same rounds: jobs run one after another, and the machine drifts.

FNR == 1 { see_model(model) }
$1 == "roles" {
	role[$2] = "cpu"
	role[$3] = "gpu"
	player["cpu"] = " (" $2 ")"
	player["gpu"] = " (" $3 ")"
	next
}
$1 == "failed" {
	fail(method, $NF)
	next
}
{ method_of = $1 == "answer" ? method : $2 in role ? role[$2] : $2 }
$3 == "" {
	fail(method_of, $12)
	next
}
{
	see_method(method_of)
	key = model SUBSEP method_of
	lat[key, ++n[key]] = 1e3 * $3
	lat_lo[key] = 1e3 * $4
	lat_hi[key] = 1e3 * $5
	if ($6 != "") {
		ratio[key, ++m[key]] = $6
		ratio_lo[key] = $7
		ratio_hi[key] = $8
	}
	if ($1 == "answer" && $13 != "" && method !~ /^ov-/) {
		alone[key]++
		device[key] = device[key] == "" || device[key] == $13 ? $13 : "one device"
	}
}

function fail(x, why) {
	see_method(x)
	failed[model, x]++
	sub(/^[a-z0-9]+: error: /, "", why)
	if (index(why, "libopenvino"))
		why = "OpenVINO is not installed: " why
	reason[model, x] = substr(why, 1, 100)
}

# Geometric mean of x[1..c] and its interval; of one value the interval lo .. hi.
function geometric(x, c, lo, hi) {
	geometric_interval(x, c)
	if (c == 1) {
		LO = lo
		HI = hi
	}
}
# Geometric mean of the CPU's latency over the jobs; what latencies are ratios to.
function cpu_ms(    i, c, x) {
	key = model SUBSEP "cpu"
	c = n[key]
	for (i = 1; i <= c; i++)
		x[i] = lat[key, i]
	if (c)
		geometric(x, c, "", "")
	return c ? MID : 0
}
function measured(    i, x, c, paired, is_device, scale, remark, row) {
	is_device = method == "cpu" || method == "gpu" || index(method, ":")
	paired = m[key] && method != "cpu"
	scale = paired ? base : 1
	c = paired ? m[key] : n[key]
	# All seeds on the same device: that is one measurement.
	if (alone[key] == c && device[key] != "one device")
		c = 1
	for (i = 1; i <= c; i++)
		x[i] = paired ? ratio[key, i] : lat[key, i]
	geometric(x, c, paired ? ratio_lo[key] : lat_lo[key], paired ? ratio_hi[key] : lat_hi[key])
	row = sprintf("%s\t%.3f\t%.3f\t%.3f", (is_device ? "" : n[key]),
		scale * MID, scale * LO, scale * HI)
	if (method == "cpu")
		row = row OFS "0.0\t\t\t1.000"
	else if (paired)
		row = row OFS sprintf("%.1f\t%.1f\t%.1f\t%.3f",
			100 * (1 - MID), 100 * (1 - HI), 100 * (1 - LO), 1 / MID)
	else
		row = row OFS "\t\t\t"
	remark = failed[key] ? failed[key] " more failed: " reason[key] : ""
	if (alone[key])
		remark = remark (remark == "" ? "" : "; ") "finds " device[key] " alone" \
			(alone[key] < n[key] ? " in " alone[key] " of " n[key] : "")
	return row OFS (c == 1 ? "rounds" : n[key] (is_device ? " jobs" : " seeds")) OFS remark
}

END {
	print "model", "method", "seeds", "latency_ms", "latency_ms_lo", "latency_ms_hi",
		"speedup_%", "speedup_%_lo", "speedup_%_hi", "times_as_fast", "interval_over",
		"published_ms", (published_speedup != "" ? "published_speedup_%" OFS : "") "remark"
	for (a = 0; a < n_models; a++) {
		model = models[a]
		base = cpu_ms()
		for (b = 0; b < n_methods; b++) {
			method = methods[b]
			key = model SUBSEP method
			then = printed(model, method, published_s)
			if (n[key])
				ours = measured()
			else if (failed[key])
				ours = "0\t\t\t\t\t\t\t\t\t" reason[key]
			else if (then != "")
				ours = "0\t\t\t\t\t\t\t\t\tpublished only"
			else
				continue
			remark = ours
			sub(/.*\t/, "", remark)
			sub(/\t[^\t]*$/, "", ours)
			if (then ~ /^[0-9]/)
				then *= 1e3
			line = model OFS label[method] player[method] OFS ours OFS then
			if (published_speedup != "")
				line = line OFS printed(model, method, published_speedup)
			print line, remark
		}
	}
}

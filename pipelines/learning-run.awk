# learning-run.awk - run records as JSON lines -> one line: evaluations, best latency found,
# mean latency of the last fifth of the evaluations, latency of the best single device.
# Seconds, separated by tabs.  Anchors (source "single") are not evaluations.
# awk -f json.awk -f learning-run.awk

value("ok") != "true" || value("source") == "single" { next }
{
	lat[n++] = value("lat_s") + 0
	ref = value("ref_s") + 0
	if (n == 1 || lat[n - 1] < best)
		best = lat[n - 1]
}
END {
	if (n == 0) {
		print "no run" > "/dev/stderr"
		exit 1
	}
	for (i = n - int((n + 4) / 5); i < n; i++) {
		sum += lat[i]
		m++
	}
	printf "%d\t%.9g\t%.9g\t%.9g\n", n, best, sum / m, ref
}

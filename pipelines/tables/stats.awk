# stats.awk - functions that the tables share: order statistics and means with 95 % intervals.
# Results go to MID, LO and HI.

# Sort x[1..n], numbers.
function sort(x, n,    i, j, v) {
	for (i = 2; i <= n; i++) {
		v = x[i]
		for (j = i - 1; j > 0 && x[j] > v; j--)
			x[j + 1] = x[j]
		x[j + 1] = v
	}
}

# 97.5 % quantile of Student's t with df degrees of freedom.
function t975(df,    t) {
	split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 " \
	      "2.201 2.179 2.160 2.145 2.131 2.120 2.110 2.101 2.093 2.086 " \
	      "2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042", t, " ")
	return df <= 30 ? t[df] : 1.96 + 2.5 / df
}

# Mean of x[1..n] and its interval; of a single value no interval (LO = HI = "").
function mean_interval(x, n,    i, sum, square, half) {
	for (i = 1; i <= n; i++)
		sum += x[i]
	MID = sum / n
	LO = HI = ""
	if (n < 2)
		return
	for (i = 1; i <= n; i++)
		square += (x[i] - MID) ^ 2
	half = t975(n - 1) * sqrt(square / (n - 1) / n)
	LO = MID - half
	HI = MID + half
}

# The same of the logarithms, as a geometric mean and an interval of ratios; x becomes its
# logarithms.
function geometric_interval(x, n,    i) {
	for (i = 1; i <= n; i++)
		x[i] = log(x[i])
	mean_interval(x, n)
	MID = exp(MID)
	if (n > 1) {
		LO = exp(LO)
		HI = exp(HI)
	}
}

# Median of x[1..n], which this sorts, and the order statistics between which it lies with 95 %
# (below six values, where none do: smallest and largest).
function median_interval(x, n,    l, p, tail) {
	sort(x, n)
	MID = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
	p = tail = 2 ^ -n
	for (l = 1; l < n / 2; l++) {
		p *= (n - l + 1) / l
		if (2 * (tail + p) > 0.05)
			break
		tail += p
	}
	LO = x[l]
	HI = x[n + 1 - l]
}

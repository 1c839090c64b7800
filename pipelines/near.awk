# near.awk - of the words on standard input, one a line, the one that may be meant by the name $name of the environment, as a part of
# a message: "; did you mean 'WORD'?", or nothing.  The rule is err_offer's (lib/base/err.c).
function least(a, b) { return a < b ? a : b }

# Letters put in, left out, changed, neighbours changed over.
function distance(a, b,    i, j, n, m, d) {
	n = length(a); m = length(b)
	for (i = 0; i <= n; i++)
		for (j = 0; j <= m; j++) {
			if (i == 0 || j == 0) { d[i, j] = i + j; continue }
			d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1)))
			if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
				d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
		}
	return d[n, m]
}

BEGIN { name = ENVIRON["name"]; n = length(name); least_far = 9 }
n > 0 && n < 60 && length($0) < 60 {
	far = 1 + distance(name, $0)
	if (tolower(name) == tolower($0)) far = 0
	else if (n < 3) next
	else if (far > (n < 8 ? 2 : 3)) {
		if (substr($0, 1, n) != name) next
		far = 4
	}
	if (far < least_far || (far == least_far && length($0) > length(best))) { least_far = far; best = $0 }
}
END { if (best != "") printf "; did you mean '%s'?", best }

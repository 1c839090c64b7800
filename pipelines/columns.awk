# columns.awk - a tab-separated table for people: columns padded, numbers to the right.
BEGIN { FS = "\t" }
{
	for (i = 1; i <= NF; i++) {
		cell[NR, i] = $i
		if (length($i) > width[i])
			width[i] = length($i)
	}
	if (NF > columns)
		columns = NF
}
END {
	for (r = 1; r <= NR; r++) {
		line = ""
		for (i = 1; i <= columns; i++) {
			left = i == 1 || cell[2, i] !~ /^[-+0-9.]+%?$/
			line = line sprintf("%" (left ? "-" : "") width[i] "s  ", cell[r, i])
		}
		sub(/ +$/, "", line)
		print line
	}
}

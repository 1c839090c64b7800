# markdown.awk - a tab-separated table -> Markdown.  Lines "# key: value" in front become the
# heading (key title) and a list below the table; columns X, X_lo, X_hi become one, "x (lo .. hi)";
# numbers stand to the right.

BEGIN {
	FS = "\t"
	n_notes = n_rows = 0
}
/^# title: / {
	title = substr($0, 10)
	next
}
/^# / {
	at = index($0, ": ")
	notes[n_notes++] = "- " substr($0, 3, at - 2) " " substr($0, at + 2)
	next
}
{
	for (i = 1; i <= NF; i++)
		cell[n_rows, i] = $i
	n_rows++
	if (NF > n_columns)
		n_columns = NF
}

function is_interval(i) {
	return cell[0, i + 1] == cell[0, i] "_lo" && cell[0, i + 2] == cell[0, i] "_hi"
}
function is_number(i,    r) {
	for (r = 1; r < n_rows; r++)
		if (cell[r, i] !~ /^([-+]?[0-9.]+(e[-+]?[0-9]+)?|inf|nan)?$/)
			return 0
	return 1
}
function row(r,    i, line, x) {
	line = "|"
	for (i = 1; i <= n_columns; i++) {
		x = cell[r, i] == "" ? "-" : cell[r, i]
		if (r == 0)
			gsub(/_/, " ", x)
		gsub(/\|/, "\\|", x)
		if (is_interval(i)) {
			if (r == 0)
				x = x " (95 %)"
			else if (cell[r, i + 1] != "")
				x = x " (" cell[r, i + 1] " .. " cell[r, i + 2] ")"
			i += 2
		}
		line = line " " x " |"
	}
	print line
}
END {
	print "## " title "\n"
	row(0)
	rule = "|"
	for (i = 1; i <= n_columns; i++) {
		rule = rule (is_number(i) ? "---:|" : "---|")
		i += is_interval(i) ? 2 : 0
	}
	print rule
	for (r = 1; r < n_rows; r++)
		row(r)
	print ""
	for (i = 0; i < n_notes; i++)
		print notes[i]
}

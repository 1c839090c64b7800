# screen.awk - of a script's whole help, one screen: what it is, how it is called, and the first clause of some options.
# -v names: the options, with blanks between, in the order that they are shown in; -v program.

/^Usage:/ { print "\n" $0 "\n"; next }
NR == 1 { print; next }
# "  -o, --output DIR    results go there ..."
match($0, /^ +/) && RLENGTH <= 6 && /^ +(-[a-zA-Z], +)?(--[a-z]|-[a-zA-Z] +[A-Z])/ {
	match($0, /--[a-z][a-z-]*/)
	name = RSTART ? substr($0, RSTART + 2, RLENGTH - 2) : $1
	n++
	match($0, /^ +(-[a-zA-Z], +)?(--[a-z][a-z-]*|-[a-zA-Z])( [A-Z][A-Z,=.a-z]*)?/)
	left[name] = substr($0, 1, RLENGTH)
	text[name] = substr($0, RLENGTH + 1)
	next
}
/^         / && name { text[name] = text[name] " " $0; next }
{ name = "" }
END {
	n_shown = split(names, shown, " ")
	for (i = 1; i <= n_shown; i++) {
		clause = text[shown[i]]
		gsub(/ +/, " ", clause)
		sub(/^ /, "", clause)
		if (match(clause, /( \(|; |: |\. [A-Z])/)) clause = substr(clause, 1, RSTART - 1)
		sub(/\.$/, "", clause)
		if (length(clause) > 59) {
			clause = substr(clause, 1, 56)
			sub(/[, ]+[^ ]*$/, " ...", clause)
		}
		printf "%-20s %s\n", left[shown[i]], clause
	}
	printf "\n%s --help-all has all %d options, and the rest.\n", program, n
}

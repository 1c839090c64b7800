# help2man.awk - a man page from the text that --help-all prints: its first line is "NAME - summary", options
# are indented, a word with a colon at the left ends a section.  -v name, version, day; verb: a part of a
# page, the verb's.

function escape(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	gsub(/'/, "\\(aq", s)
	gsub(/`/, "\\(ga", s)
	gsub(/\^/, "\\(ha", s)
	gsub(/~/, "\\(ti", s)
	return s ~ /^\./ ? "\\&" s : s
}
function plain() { if (verbatim) print ".fi"; verbatim = 0 }
function section(title) { plain(); print (verb ? ".SS " : ".SH ") escape(toupper(title)); gap = 0 }
# Text as it stands, for tables and paragraphs are laid out already.
function keep(s) {
	if (!verbatim) print ".nf"
	verbatim = 1
	if (gap) print ""
	gap = 0
	print escape(s)
}

NR == 1 {
	if (verb) {
		print ".SH " toupper(name " " verb)
	} else {
		printf ".TH %s 1 \"%s\" \"hsdag %s\" \"User Commands\"\n.SH NAME\n", toupper(name), day, version
		summary = $0
		sub(/^[^ ]+ (\([^)]*\) )?- /, "", summary)
		print escape(name) " \\- " escape(summary)
	}
	next
}
/^Usage:/ {
	section("Synopsis")
	sub(/^Usage: *[^ ]+/, name)
	keep($0)
	next
}
/^[A-Z][a-z ]+:$/ { section(substr($0, 1, length($0) - 1)); next }
/^Exit status: / { section("Exit status"); sub(/^Exit status: /, ""); keep($0); next }
/^[^ ]/ && last == "" && !told && NR > 3 { section("Description"); told = 1 }
/^$/ { gap = 1; last = ""; next }
{ keep($0); last = $0 }
END { plain() }

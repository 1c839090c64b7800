# json.awk - what a record has, on a line as recdump prints it; for scripts that have it in front.

# The number, bool or text behind "name": in the line, a text without its quotes; "" if there is
# none.
function value(name,    at, x) {
	at = index($0, "\"" name "\": ")
	if (!at)
		return ""
	x = substr($0, at + length(name) + 4)
	if (x ~ /^"/) {
		match(x, /^"([^"\\]|\\.)*"/)
		return substr(x, 2, RLENGTH - 2)
	}
	sub(/[],}].*/, "", x)
	return x
}

# The list or tensor behind "name" (recdump -f), in to[1..]; its length, 0 if there is none.
function list(name, to,    at, x) {
	at = index($0, "\"" name "\": ")
	if (!at)
		return 0
	x = substr($0, at + length(name) + 4)
	sub(/^{[^[]*\[[0-9, ]*\], "data": /, "", x)
	sub(/^\[/, "", x)
	if (x ~ /^"/) {
		match(x, /[^\\]"\]/)
		return split(substr(x, 2, RSTART - 1), to, "\", \"")
	}
	sub(/\].*/, "", x)
	return split(x, to, ", ")
}

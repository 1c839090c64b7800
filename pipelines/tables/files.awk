# files.awk - the files that the tables are made of, in front of what makes a table of them:
#   awk -f files.awk -f TABLE.awk published.tsv labels.tsv FILE...
# FILE is .../MODEL/METHOD.NAME.  Every line of it goes to TABLE.awk with
#   model, method   of the file; what is part of METHOD's name because results depend on it (a
#                   budget in seconds, placements, groups) is left out
# published.tsv and labels.tsv are known by their names and taken in here:
#   printed(model, method, quantity)      what a paper printed, "" where it does not say
#   label[method], methods[0 .. n_methods - 1]   names in the tables, in their order
# Lines that begin with # are passed over.

BEGIN {
	FS = OFS = "\t"
	n_models = n_methods = 0
}

# A model that has rows, in the order of the files: models[0 .. n_models - 1].
function see_model(x) {
	if (!(x in known)) {
		known[x] = 1
		models[n_models++] = x
	}
}
# A method that labels.tsv does not have comes last.
function see_method(x) {
	if (!(x in label)) {
		label[x] = x
		methods[n_methods++] = x
	}
}
function printed(m, x, quantity) {
	return (m, x, quantity) in published ? published[m, x, quantity] : ""
}
function method_name(x) {
	sub(/-[0-9]+(s[0-9]*|x[0-9]+)?$/, "", x)
	return x
}

FNR == 1 {
	n_dirs = split(FILENAME, dir, "/")
	split(dir[n_dirs], part, ".")
	model = dir[n_dirs - 1]
	method = method_name(part[1])
}
/^#/ { next }
dir[n_dirs] == "published.tsv" {
	published[$1, $2, $3] = $4
	next
}
dir[n_dirs] == "labels.tsv" {
	label[$1] = $2
	methods[n_methods++] = $1
	next
}

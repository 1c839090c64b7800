# outputs.awk - files of `outputs` -> a row for each two placements of a model.
#   awk -f outputs.awk published.tsv FILE...      FILE: .../MODEL/outputs.SEED.tsv

BEGIN {
	FS = OFS = "\t"
	print "model", "outputs of", "mse", "cosine", "largest_difference", "published_mse", "published_cosine"
}
FNR == 1 {
	file++
	k = split(FILENAME, dir, "/")
	model = dir[k - 1]
}
/^#/ { next }
file == 1 {
	published[$1, $2, $3] = $4
	next
}
{ print model, $1, $2, $3, $4, published[model, $1, "mse"], published[model, $1, "cosine"] }

# outputs.awk - files of `outputs` -> a row for each two placements of a model.
#   awk -f files.awk -f outputs.awk published.tsv FILE...      FILE: .../MODEL/outputs.SEED.tsv

BEGIN {
	print "model", "outputs of", "mse", "cosine", "largest_difference", "published_mse",
		"published_cosine", "hsdag_is_on"
}
$1 == "failed" {
	print model, "cpu-hsdag", "", "", "", "", "", "failed: " $2
	next
}
{
	print model, $1, $2, $3, $4, printed(model, $1, "mse"), printed(model, $1, "cosine"), $5
}

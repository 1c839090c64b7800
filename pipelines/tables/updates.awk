# updates.awk - tables of tabstat spread and tabstat pairs, an empty line between them -> one: learner and placements in
# front (variables), then the pairs, then the spread of the same model and rule.
BEGIN { FS = OFS = "\t" }
$0 == "" { pairs = 1; next }
!pairs { spread[$1, $2] = $8 OFS $9 OFS $10; next }
!head++ { print "learner", "placements", $0, "spread_%", "spread_low", "spread_high"; next }
{ print learner, placements, $0, ($1, $2) in spread ? spread[$1, $2] : OFS OFS }

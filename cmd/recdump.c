/* recdump - a stream as JSON lines, for people and jq, or as tab-separated ones, for scripts. */
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/newfile.h"
#include "base/opt.h"
#include "stream/json.h"
#include "stream/rec.h"
#include "stream/tsv.h"

struct options {
	bool check, full;
	const char *kind, *paths;
	struct tsv *tsv; /* NULL: JSON */
};

static int json_line(FILE *out, const struct rec *r, bool full, struct err *e)
{
	int rc = json_record(out, r, full, e);
	fputc('\n', out);
	return rc;
}

/* What records have, of any stream (docs/reference/stream.md): a column of what none has here is empty. */
static const char known_keys[] =
	"action adapted after again anchors at attr_key attr_ptr attr_strings attr_value "
	"before began_s beside between best_ratio best_s block bodies bound_parts_of bound_parts_s "
	"bound_parts_wait_s bound_rule_s bound_rule_value bound_s "
	"bound_value "
	"burst_block burst_s bursts busy_s bytes bytes_per_s case_s cases chain clean clock_s cols "
	"columns "
	"const_bytes const_node const_offset contention copies copy_bytes copy_holds "
	"costs cut data device devices digest dim dim_ptr elems encoding energy_j entropy "
	"episode error error_of failed fd final flops_per_s fuses given grad_norm graph group "
	"groups headroom held hi_s "
	"hyper "
	"id idle_watts in_flight in_host in_node in_port in_ptr incumbent inner ir_version joules "
	"keeps "
	"key "
	"label lat_s leaves link_busy_s link_bytes link_copies link_dst link_src "
	"links lo_s load logp loss mask max_error mean_s media mem_bytes method missing_bytes "
	"model_error move "
	"move_s moves n_between n_groups n_pairs n_sets name names net node_name not_compared "
	"ok opset opsets order out out_cos out_elem out_max out_mse out_names out_of out_ptr "
	"out_rank over overhead_s overlap pair_dst pair_src part part_of peaks period_s pid "
	"pool_bytes pools ports precision "
	"predicted_s "
	"predicted_value price "
	"profiles pulse_s race rank ratio ratio_hi ratio_lo reason recipe records "
	"ref_s ref_value reference replicas reward rounds rows sample samples samples_s "
	"saved_hi saved_lo saved_s schedule seed set set_hi set_lo set_mem set_s "
	"shared shared_ptr shared_set shares slowdown source splits start stay step "
	"steps tail tail_at times together took_s tried turns type types unlimited_s "
	"usd_per_million "
	"value verdict "
	"version "
	"visits watts weights weights_bytes whole work workspace x xml z";

/* A kind that the stream does not have, and that is none of ours, or much like one that it has. */
static int unknown_kind(const char *kind, const char *seen, struct err *e)
{
	static const char *const kinds[] = {
		"hdr",         "graph",    "feat",    "devs",      "cost",        "group",
		"part",        "params",   "episode", "place",     "run",         "update",
		"best",        "handover", "moments", "candidate", "end",         "checkpoint",
		"pretraining", "teachers", "critic",  "fail",      "episode_end", "fit"};
	struct err_near near = {.name = kind};
	char known[340];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return 0;
		err_offer(&near, kinds[i]);
	}
	snprintf(known, sizeof known, "the stream has %s", seen);
	return err_unknown(e, ST_USAGE, &near, known, "--kind: no record is a '%s'", kind);
}

/* Adds the record's kind to a list of those that came. */
static void note_kind(char *seen, size_t cap, const char *kind)
{
	size_t n = strlen(seen);
	const char *at = strstr(seen, kind);
	if (!at && n + strlen(kind) + 3 < cap)
		snprintf(seen + n, cap - n, "%s%s", n ? ", " : "", kind);
}

static int dump(struct rec_reader *in, FILE *out, const struct options *o, struct err *e)
{
	char seen[300] = "";
	bool found = false;
	struct rec r;
	int k;
	while ((k = rec_next(in, &r, e)) > 0) {
		note_kind(seen, sizeof seen, r.kind);
		found |= o->kind && rec_is(&r, o->kind);
		if (o->check || (o->kind && !rec_is(&r, o->kind)))
			continue;
		if ((o->tsv ? tsv_record(o->tsv, &r, out, e) : json_line(out, &r, o->full, e)) < 0)
			return -1;
		if (fflush(out) != 0)
			return err_sys(e, ST_RUNTIME, "cannot write the output");
	}
	if (k == 0 && o->kind && !found)
		k = unknown_kind(o->kind, seen, e);
	if (k == 0 && o->tsv)
		k = tsv_check(o->tsv, known_keys, e);
	return k;
}

static const char details[] =
	"Each record becomes one line: {\"kind\": KIND, \"map\": {...}}. The stream is checked "
	"(structure, limits, count, digest) whether it is printed or not.\n"
	"\n"
	"--tsv is the form for scripts. A column is a path into the record:\n"
	"  lat_s               a value; all elements of an array or tensor, with commas\n"
	"                      between\n"
	"  samples_s[3]        element 3, from 0; of a matrix its row 3, and [3][0] one\n"
	"                      value\n"
	"  links[0].latency_s  an entry of a map\n"
	"  :kind               the record's kind\n"
	"  names[]             a line for each element instead of one for the record;\n"
	"                      several such columns side by side, where one has ended\n"
	"                      its cells are empty\n"
	"Numbers and bools are as in JSON. Texts have no quotes; tabs, line ends, other control "
	"characters and backslashes in them are \\t, \\n, \\r, \\xHH and \\\\, and a comma inside "
	"an "
	"element of an array is \\,. What a record does not have is an empty cell; a map or bytes "
	"have no text form and are refused.";

int main(int argc, char **argv)
{
	struct options o = {0};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"check", 'c', OPT_FLAG, &o.check, NULL, "validate only: print nothing", 0, 0, NULL,
		 NULL},
		{"full", 'f', OPT_FLAG, &o.full, NULL,
		 "print tensors and lists whole instead of their shape and range", 0, 0, NULL,
		 NULL},
		{"kind", 'k', OPT_TEXT, &o.kind, "KIND", "only records of this kind", 0, 0, NULL,
		 NULL},
		{"tsv", 0, OPT_TEXT, &o.paths, "KEY,...",
		 "instead of JSON a line for each record: these values, with tabs between them", 0,
		 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "recdump",
		.summary = "print a stream as JSON lines",
		.args = "[FILE]",
		.max_args = 1,
		.opts = opts,
		.details = details,
		.example = "ir2dag model.xml | dagfeat | recdump --kind feat\n"
			   "  placebase random | devsim | recdump -k run --tsv "
			   "sample,ok,lat_s,busy_s\n"
			   "  ir2dag model.xml | recdump -k graph --tsv 'node_name[],op[]'"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	if (o.paths && o.full)
		rc = err_set(&e, ST_USAGE, "--full is for JSON; --tsv prints values whole");
	else if (o.paths && !(o.tsv = tsv_new(o.paths, &e)))
		rc = -1;
	if (rc < 0)
		return opt_finish(rc, &e);
	struct newfile out;
	struct rec_reader *in = rec_reader_open(first < argc ? argv[first] : "-", -1, &e);
	rc = in ? newfile_open(&out, common.output, &e) : -1;
	if (rc == 0) {
		rc = dump(in, newfile_text(&out), &o, &e);
		if (rc < 0)
			newfile_abandon(&out);
		else
			rc = newfile_commit(&out, &e);
	}
	rec_reader_close(in);
	tsv_free(o.tsv);
	return opt_finish(rc, &e);
}

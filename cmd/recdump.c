/* recdump - a stream as JSON lines, for people, jq and tests. */
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "stream/json.h"
#include "stream/rec.h"

struct options {
	bool check, full;
	const char *kind;
};

static int dump(struct rec_reader *in, FILE *out, const struct options *o, struct err *e)
{
	struct rec r;
	int k;
	while ((k = rec_next(in, &r, e)) > 0) {
		if (o->check || (o->kind && !rec_is(&r, o->kind)))
			continue;
		if (json_record(out, &r, o->full, e) < 0)
			return -1;
		fputc('\n', out);
		if (fflush(out) != 0)
			return err_sys(e, ST_RUNTIME, "cannot write the output");
	}
	return k;
}

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
		{0},
	};
	const struct opt_program program = {
		.name = "recdump",
		.summary = "print a stream as JSON lines",
		.args = "[FILE]",
		.max_args = 1,
		.opts = opts,
		.details = "Each record becomes one line: {\"kind\": KIND, \"map\": {...}}. The "
			   "stream is checked "
			   "(structure, limits, count, digest) whether it is printed or not.",
		.example = "ir2dag model.xml | dagfeat | recdump --kind feat"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	FILE *out = stdout;
	struct rec_reader *in = rec_reader_open(first < argc ? argv[first] : "-", -1, &e);
	rc = in ? 0 : -1;
	if (rc == 0 && strcmp(common.output, "-") != 0 && !(out = fopen(common.output, "w")))
		rc = err_sys(&e, ST_RUNTIME, "cannot create '%s'", common.output);
	if (rc == 0)
		rc = dump(in, out, &o, &e);
	if (out && out != stdout && fclose(out) != 0 && rc == 0)
		rc = err_sys(&e, ST_RUNTIME, "cannot write '%s'", common.output);
	rec_reader_close(in);
	return opt_finish(rc, &e);
}

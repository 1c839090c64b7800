/* irfill - a .bin of seeded weights for an IR whose weights are absent. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/newfile.h"
#include "base/opt.h"
#include "record/graphrec.h"
#include "ir/fill.h"
#include "ir/ir.h"
#include "ir/weights.h"

struct options {
	struct opt_common common;
	const char *partial;
	bool any_operator;
};

/* What is being made: mapped memory, of a new file or, for a stream, of none. */
struct output {
	const char *path;
	bool is_open;
	struct newfile file;
	uint8_t *data;
	uint64_t bytes;
};

static int output_open(struct output *o, const char *path, uint64_t bytes, struct err *e)
{
	*o = (struct output){.path = path, .bytes = bytes};
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return err_set(e, ST_USAGE, "weights are not written to a terminal; use -o FILE");
	if (newfile_open(&o->file, path, e) < 0)
		return -1;
	o->is_open = o->file.lazy = true;
	bool direct = o->file.direct; /* written at the end */
	/* Room first: a full disk is found here, not by a signal later. */
	if (!direct && bytes && (errno = posix_fallocate(o->file.fd, 0, (off_t)bytes)) != 0)
		return err_sys(e, ST_RUNTIME, "cannot make '%s' of %" PRIu64 " bytes", path, bytes);
	if (bytes == 0)
		return 0;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       direct ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, direct ? -1 : o->file.fd,
		       0);
	if (p == MAP_FAILED)
		return err_sys(e, ST_RUNTIME, "cannot map %" PRIu64 " bytes of weights", bytes);
	o->data = p;
	return 0;
}

static int output_commit(struct output *o, struct err *e)
{
	if (o->data &&
	    (o->file.direct ? fwrite(o->data, 1, o->bytes, newfile_text(&o->file)) != o->bytes
			    : msync(o->data, o->bytes, MS_ASYNC) < 0))
		return err_sys(e, ST_RUNTIME, "cannot write '%s'", o->path);
	o->is_open = false;
	return newfile_commit(&o->file, e);
}

static void output_release(struct output *o)
{
	if (o->data)
		munmap(o->data, o->bytes);
	if (o->is_open)
		newfile_abandon(&o->file);
}

/* --partial, or what there is of the weights beside the XML, compressed or not. */
static int open_partial(const struct options *o, const char *xml, const struct graph *g,
			struct weights *w, struct err *e)
{
	struct arena *a = arena_new();
	const char *path = o->partial ? o->partial : ir_beside(xml, ".bin", a);
	if (!path)
		path = ir_beside(xml, ".partial", a);
	int rc = 0;
	*w = (struct weights){0};
	if (path && strcmp(path, "none") != 0)
		rc = weights_open(w, path, g, e);
	arena_free(a);
	return rc;
}

static int write_weights(const struct options *o, const struct graph *g,
			 const struct weights *partial, struct err *e)
{
	struct output out;
	struct fill_report rep;
	uint64_t need = weights_size(g), bytes = need > partial->bytes ? need : partial->bytes;
	int rc = output_open(&out, o->common.output, bytes, e);
	if (rc == 0) {
		if (partial->bytes)
			memcpy(out.data, partial->data, partial->bytes);
		rc = fill_weights(g, (uint64_t)o->common.seed, partial->bytes, out.data, &rep, e);
		if (rc < 0)
			err_prefix(e, "'%s'", g->xml);
	}
	if (rc == 0)
		rc = output_commit(&out, e);
	output_release(&out);
	if (rc == 0)
		msg_note(1, "%u of %u constants filled, %" PRIu64 " of %" PRIu64 " bytes",
			 rep.n_filled, rep.n_constants, rep.filled_bytes, bytes);
	return rc;
}

static int run(const struct options *o, const char *path, struct err *e)
{
	struct weights partial;
	const struct ir_options ir = {.no_weights = true, .any_operator = o->any_operator};
	struct graph *g = ir_read(path, &ir, NULL, e);
	if (!g)
		return -1;
	int rc = open_partial(o, path, g, &partial, e);
	if (rc == 0) {
		rc = write_weights(o, g, &partial, e);
		weights_close(&partial);
	}
	graph_free(g);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.common = OPT_COMMON_INIT};
	const struct opt opts[] = {
		{"partial", 0, OPT_TEXT, &o.partial, "FILE",
		 "What there is of the .bin, which may be shorter (default: MODEL.bin\n"
		 "or MODEL.partial beside MODEL.xml, if it is there, or such a file with .xz,\n"
		 ".gz or .zst behind its name; 'none' ignores them).",
		 0, 0, NULL, NULL},
		{"any-operator", 0, OPT_FLAG, &o.any_operator, NULL,
		 "Accept operators and opsets that are not OpenVINO's.", 0, 0, NULL, NULL},
		{0}};
	const struct opt_program p = {
		.name = "irfill",
		.summary = "write a .bin of seeded weights for an IR whose weights are absent",
		.args = "MODEL.xml",
		.min_args = 1,
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.details = "A constant is absent when the partial .bin ends before it, or when it "
			   "is a\n"
			   "float constant of at least 256 elements that are all zero.  Everything "
			   "else is\n"
			   "kept byte for byte.  Weights of products are uniform with variance "
			   "2/fan-in\n"
			   "(convolutions) or 1/fan-in (matrix products, recurrent cells), factors "
			   "1 +- 0.1,\n"
			   "addends +- 0.1, embedding tables +- 1; quantised weights use their "
			   "whole range\n"
			   "and get scales to match.  Shapes, axes and counts are inferred from "
			   "the recorded\n"
			   "output dims; one that does not follow from them is an error that names "
			   "its\n"
			   "layer.  The same seed gives the same bytes.",
		.example = "irfill model.xml -o model.bin",
	};
	struct err e = ERR_INIT;
	int first, rc = opt_parse(&p, &o.common, argc, argv, &first, &e);
	if (rc > 0)
		rc = run(&o, argv[first], &e);
	return opt_finish(rc, &e);
}

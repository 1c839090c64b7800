/* new_bin.c - writing a .bin, constant by constant. */
#include "ir/new_bin.h"

#include <inttypes.h>

enum { ALIGN = 64 };

/* Write bytes to the end; where they are. */
static uint64_t append(void *arg, const void *data, uint64_t bytes)
{
	static const char zeros[ALIGN];
	struct new_bin *b = arg;
	uint64_t pad = -b->bytes % ALIGN, at = b->bytes + pad;
	b->failed |=
		fwrite(zeros, 1, pad, b->text) != pad || fwrite(data, 1, bytes, b->text) != bytes;
	b->bytes = at + bytes;
	return at;
}

static uint64_t copy_constant(void *arg, uint64_t offset, uint64_t bytes)
{
	struct new_bin *b = arg;
	if (bytes == 0)
		return 0;
	if (bytes > b->from->bytes || offset > b->from->bytes - bytes) {
		b->outside = true;
		return 0;
	}
	const uint64_t *known = pairmap_get(&b->at, offset, bytes);
	if (known)
		return *known;
	uint64_t at = append(b, b->from->data + offset, bytes);
	pairmap_put(&b->at, offset, bytes, at);
	return at;
}

int new_bin_open(struct new_bin *b, const char *path, const struct weights *from, struct err *e)
{
	*b = (struct new_bin){.from = from};
	if (newfile_open(&b->file, path, e) < 0)
		return -1;
	b->file.lazy = true;
	b->text = newfile_text(&b->file);
	b->to = (struct ir_bin){copy_constant, append, b};
	return 0;
}

void new_bin_from(struct new_bin *b, const struct weights *from)
{
	b->from = from;
	pairmap_release(&b->at);
}

void new_bin_abandon(struct new_bin *b)
{
	newfile_abandon(&b->file);
	pairmap_release(&b->at);
}

int new_bin_commit(struct new_bin *b, const char *path, const struct graph *g, struct err *e)
{
	int rc = 0;
	if (b->failed)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	else if (b->outside)
		rc = err_set(e, ST_INPUT,
			     "'%s' holds %" PRIu64 " bytes, too few for the constants of '%s'",
			     g->weights, b->from->bytes, g->name);
	if (rc < 0) {
		new_bin_abandon(b);
		return -1;
	}
	pairmap_release(&b->at);
	return newfile_commit(&b->file, e);
}

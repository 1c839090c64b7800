/* onednn_conv_parts.c - see onednn_conv_parts.h. */
#include "kernel/onednn/onednn_conv_parts.h"

#include <string.h>

enum {
	PART_PRODUCTS = 1 << 17, /* multiplications of a part, at least */
	PART_CHANNELS = 64,      /* output channels of a part, at least */
	BLOCK_CHANNELS = 16      /* a part has whole blocks of them */
};

struct onednn_parts {
	size_t bytes; /* of a part's channels of a pixel of the output */
	int n;
	struct onednn_conv **part; /* (n) */
};

/* A weight that comes from the third cache takes as long as so many multiplications, of whatever type: 60 GB/s beside 110, 230, 460
 * billion a second in f32, bf16, int8 on a Zen 5.  A core's second cache keeps so many bytes. */
static const double WEIGHT_PRODUCTS = 7.5;
enum { KEPT_BYTES = 1 << 20 };

static int choose_parts(const struct onednn_conv_spec *s, int slices, double uneven, int threads)
{
	const struct window *g = &s->g;
	int64_t bytes = g->cin * g->cout * g->taps * (int64_t)cpu_elem_size(s->src);
	int64_t most = g->cin * g->cout * g->taps * g->out_plane / slices / PART_PRODUCTS;
	if (most > g->cout / PART_CHANNELS)
		most = g->cout / PART_CHANNELS;
	if (g->groups > 1 || g->cout % BLOCK_CHANNELS)
		most = 1;
	const struct channel_parts c = {
		.slices = g->batch * slices,
		.threads = threads,
		.most = most < threads ? (int)most : threads,
		.blocks = g->cout / BLOCK_CHANNELS,
		/* what it costs to bring a part's outputs where they belong */
		.ready = 30.0 / (double)(g->cin * g->taps),
		.uneven = uneven,
		.reading = bytes > KEPT_BYTES ? WEIGHT_PRODUCTS * slices / (double)g->out_plane : 0,
		.kept = bytes / threads <= KEPT_BYTES,
		.worth = 0.97,
	};
	return channel_parts_choose(&c);
}

int onednn_parts_new(const struct onednn_conv_spec *s, int slices, double uneven, struct cpu_ctx *c,
		     struct onednn_parts **out, struct err *e)
{
	int n = choose_parts(s, slices, uneven, c->n_threads), rc = 1;
	if (n == 1)
		return 0;
	struct onednn_conv_spec part = *s;
	int64_t channels = s->g.cout / n, bytes = tensor_bytes(&s->weights) / n;
	part.parts = false;
	part.whole = true;
	part.g.cout = channels;
	part.weights.dim[0] = channels;
	struct onednn_parts *p = MEM_NEW(struct onednn_parts);
	p->bytes = (size_t)channels * cpu_elem_size(s->dst);
	p->part = MEM_NEWN(struct onednn_conv *, (size_t)n);
	for (; p->n < n && rc > 0; p->n += rc > 0) {
		int64_t at = p->n;
		part.weights.data = (char *)s->weights.data + at * bytes;
		part.key = (const char *)s->key + at * bytes;
		part.scale = s->scale ? s->scale + at * channels : NULL;
		part.bias = s->bias ? s->bias + at * channels : NULL;
		rc = onednn_conv_new(&part, c, &p->part[at], e);
	}
	for (int i = 1; rc > 0 && i < n; i++)
		rc = onednn_conv_slices(p->part[i]) == onednn_conv_slices(p->part[0]);
	if (rc > 0)
		*out = p;
	else
		onednn_parts_free(p);
	return rc;
}

void onednn_parts_free(struct onednn_parts *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->n; i++)
		onednn_conv_free(p->part[i]);
	mem_free(p->part);
	mem_free(p);
}

uint64_t onednn_parts_bytes(const struct onednn_parts *p)
{
	uint64_t bytes = 0;
	for (int i = 0; i < p->n; i++)
		bytes += onednn_conv_bytes(p->part[i]);
	return bytes;
}

int onednn_parts_slices(const struct onednn_parts *p)
{
	return onednn_conv_slices(p->part[0]);
}

int onednn_parts_count(const struct onednn_parts *p)
{
	return p->n;
}

/* Bytes of a part's outputs in a slice. */
static size_t part_bytes(const struct onednn_parts *p, int64_t pixels)
{
	return ((size_t)pixels * p->bytes + 63) / 64 * 64;
}

struct window_slice onednn_parts_slice(const struct onednn_parts *p, int i)
{
	struct window_slice first = onednn_conv_slice(p->part[0], i);
	first.scratch += part_bytes(p, first.n);
	return first;
}

static int run_part(const struct onednn_parts *p, int i, int at, const void *x, void *y,
		    char *scratch, struct err *e)
{
	const struct channel_part all = {0, 1};
	int64_t n = onednn_conv_slice(p->part[at], i).n;
	char *sums = scratch, *to = (char *)y + (size_t)at * p->bytes;
	if (onednn_conv_run(p->part[at], i, all, x, sums, scratch + part_bytes(p, n), e) < 0)
		return -1;
	for (int64_t j = 0; j < n; j++)
		memcpy(to + (size_t)(j * p->n) * p->bytes, sums + (size_t)j * p->bytes, p->bytes);
	return 0;
}

int onednn_parts_run(const struct onednn_parts *p, int i, struct channel_part part, const void *x,
		     void *y, void *scratch, struct err *e)
{
	bool one = part.of > 1;
	for (int at = one ? part.at : 0; at < (one ? part.at + 1 : p->n); at++)
		if (run_part(p, i, at, x, y, scratch, e) < 0)
			return -1;
	return 0;
}
